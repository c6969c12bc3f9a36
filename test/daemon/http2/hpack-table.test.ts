import { expect, it } from 'vitest';
import { HpackTable } from '../../../daemon/http2/hpack-table.ts';

const entry = (name: string, size: number) => ({ name, size });

it('a table holds the newest entries that fit, and names those that leave', () => {
  const left: string[] = [];
  const table = new HpackTable<{ name: string; size: number }>(100, ({ name }) => left.push(name));
  table.insert(entry('a', 40));
  table.insert(entry('b', 60));
  expect([table.size, table.at(0)?.name, table.at(1)?.name, table.at(2)]).toEqual([100, 'b', 'a', undefined]);
  table.insert(entry('c', 41));
  expect([table.size, table.at(0)?.name, table.at(1), left]).toEqual([41, 'c', undefined, ['a', 'b']]);
});

it('a table is emptied by an entry larger than itself', () => {
  const table = new HpackTable<{ name: string; size: number }>(100);
  table.insert(entry('a', 40));
  table.insert(entry('b', 101));
  expect([table.size, table.at(0)]).toEqual([0, undefined]);
  table.insert(entry('c', 100));
  expect([table.size, table.at(0)?.name]).toEqual([100, 'c']);
});

it('a table keeps its order while it grows, is made smaller and larger', () => {
  const table = new HpackTable<{ name: string; size: number }>(100_000);
  for (let i = 0; i < 500; i++) table.insert(entry(String(i), 40));
  table.resize(40 * 30);
  table.resize(100_000);
  for (let i = 500; i < 1000; i++) table.insert(entry(String(i), 40));
  for (let i = 0; i < 530; i++) expect(table.at(i)?.name).toBe(String(999 - i));
  expect([table.at(530), table.size]).toEqual([undefined, 530 * 40]);
  table.resize(0);
  expect([table.at(0), table.size]).toEqual([undefined, 0]);
});
