import { expect, it } from 'vitest';
import type { ProgramStatus } from '../../../daemon/link.ts';
import { mergeLists } from '../../../daemon/worker/worker-threads.ts';

const is = (name: string, refs = 0, of: Partial<ProgramStatus> = {}): ProgramStatus => ({
  name,
  label: false,
  discarded: false,
  temperature: 'warm',
  refs,
  ...of,
});
const GONE = { discarded: true, temperature: 'busy' } as const;
const merged = (...lists: ProgramStatus[][]) =>
  mergeLists(lists).map((p) => `${p.discarded ? '-' : ''}${p.name} ${p.temperature} ${p.refs}`);

it('programs of several threads are one list, run by the transactions of all', () => {
  expect(merged([is('boot', 1), is('a')], [is('boot', 2), is('a', 3)])).toEqual(['boot warm 3', 'a warm 3']);
  expect(merged([is('a', 0, { temperature: 'cold' })], [is('a', 1, { temperature: 'busy' })])).toEqual([
    'a busy 1',
  ]);
});

it('one that was discarded stands where it stands on the thread that still runs it', () => {
  const first = [is('boot'), is('old')];
  const other = [is('boot'), is('old', 2, GONE), is('old')];
  const list = ['boot warm 0', '-old busy 2', 'old warm 0'];
  expect(merged(first, other)).toEqual(list);
  expect(merged(other, first)).toEqual(list);
  expect(merged(first, other, first, other)).toEqual(['boot warm 0', '-old busy 4', 'old warm 0']);
  expect(merged([is('b')], [is('a', 1, GONE), is('b')], [is('b'), is('c', 1, GONE)])).toEqual([
    '-a busy 1',
    'b warm 0',
    '-c busy 1',
  ]);
});

it('a name that was discarded twice keeps both', () => {
  const other = [is('x', 1, GONE), is('x', 2, GONE), is('x')];
  expect(merged([is('x')], other)).toEqual(['-x busy 1', '-x busy 2', 'x warm 0']);
  expect(merged(other, other)).toEqual(['-x busy 2', '-x busy 4', 'x warm 0']);
});
