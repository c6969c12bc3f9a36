// Names resolved by std.ip in the background: one answer for all threads, few stored, few resolved at once.
import { afterEach, expect, it, vi } from 'vitest';
import { OwnState } from '../../../../daemon/contract/own-state.ts';
import { NameLookup, type Resolve } from '../../../../daemon/extensions/std/name-lookup.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('asks once a minute, and what one thread has found another one finds', () => {
  vi.useFakeTimers();
  const state = new OwnState();
  const asked: string[] = [];
  let address: string | null = '192.0.2.1';
  const resolve: Resolve = (name, answer) => {
    asked.push(name);
    answer(address);
  };
  const [a, b] = [new NameLookup(state, resolve), new NameLookup(state, resolve)];
  expect([a.host('One.test'), a.host('one.test'), b.host('one.test')]).toEqual([
    null,
    '192.0.2.1',
    '192.0.2.1',
  ]);
  vi.advanceTimersByTime(61_000);
  address = null;
  // The old answer is there until the new one is.
  expect([b.host('one.test'), a.host('one.test'), b.host('one.test')]).toEqual(['192.0.2.1', null, null]);
  expect([asked, a.host('no name')]).toEqual([['one.test', 'one.test'], null]);
});

it('asks for few at once', () => {
  const answers: ((address: string | null) => void)[] = [];
  const names = new NameLookup(new OwnState(), (_name, answer) => void answers.push(answer));
  for (let i = 0; i < 20; i++) expect(names.host(`n${i}.test`)).toBe(null);
  expect(answers.length).toBe(16);
  answers[0]?.('192.0.2.7');
  expect([names.host('n0.test'), names.host('n19.test'), answers.length]).toEqual(['192.0.2.7', null, 17]);
});
