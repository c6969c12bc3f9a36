// Shared state as an extension from a file has it: its names are apart from the proxy's own, and nothing goes in or out
// that is not of the right kind.
import { describe, expect, it } from 'vitest';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import { OutsideShared } from '../../../daemon/extensions/load/outside-shared.ts';

function start() {
  const state = new OwnState();
  return { state, shared: new OutsideShared(state) };
}

describe('shared state of extensions from files', () => {
  it('is apart from that of the built-in ones', () => {
    const { state, shared } = start();
    state.table('var').update('k', () => undefined);
    expect(shared.table('var').read('k')).toBeNull();
    const own = state.memory('m', () => new SharedArrayBuffer(8));
    expect(shared.memory('m', () => new SharedArrayBuffer(8))).not.toBe(own);
  });

  it.each<[string, (row: { numbers: number[]; text: unknown }) => void, string]>([
    ['a text for a number', (row) => row.numbers.fill('1' as never), 'takes 2 numbers'],
    ['fewer numbers', (row) => row.numbers.pop(), 'takes 2 numbers'],
    [
      'more numbers',
      (row) => {
        row.numbers[2] = 1;
      },
      'takes 2 numbers',
    ],
    [
      'a number for the text',
      (row) => {
        row.text = 5;
      },
      'takes a text or null, not number',
    ],
  ])('refuses %s in a row', (_name, change, error) => {
    const table = start().shared.table('t', { numbers: 2 });
    expect(() => table.update('k', change as never)).toThrow(`A row of the shared table 't' ${error}`);
    expect(table.size).toBe(0);
  });

  it('refuses a key that is no text', () => {
    const table = start().shared.table('t');
    expect(() => table.update(null as never, () => undefined)).toThrow('is a string, not null');
    expect(() => table.read(5 as never)).toThrow('is a string, not number');
  });

  it('gives copies: what the extension keeps is no part of the table', () => {
    const table = start().shared.table('t', { numbers: 1 });
    const kept = table.update('k', (row) => row);
    kept.numbers[0] = 5;
    (table.read('k')?.numbers as number[])[0] = 6;
    table.removeOldest(1, (row) => {
      (row.numbers as number[])[0] = 7;
      return false;
    });
    table.remove('k', (row) => {
      (row.numbers as number[])[0] = 8;
      return false;
    });
    expect(table.read('k')).toEqual({ numbers: [0], text: null });
    expect([table.remove('k'), table.size]).toEqual([true, 0]);
  });
});
