// When the bell rings.

import { expect, it } from 'vitest';
import type { SessionEvent } from '../../../../console/model/session/event-log.ts';
import { Bell } from '../../../../console/views/events/bell.ts';
import { isRecovery } from '../../../../console/views/events/event-tones.ts';

it('rings once for new trouble, for no recovery, no routine and no past', () => {
  let rings = 0;
  const bell = new Bell(() => rings++, 100);
  const events: SessionEvent[] = [{ at: 50, kind: 'panic', text: 'an old one' }];
  const after = (...more: SessionEvent[]): number => {
    events.push(...more);
    bell.check(events, true);
    return rings;
  };
  expect(after()).toBe(0);
  expect(
    after({ at: 101, kind: 'ban', text: 'a' }, { at: 102, kind: 'health', text: 'b went healthy' }),
  ).toBe(0);
  expect(after({ at: 103, kind: 'panic', text: 'x' }, { at: 104, kind: 'slow', text: 'b became slow' })).toBe(
    1,
  );
  expect(after()).toBe(1);
  expect(after({ at: 105, kind: 'slow', text: 'b answers as before' })).toBe(1);
  // Reported late, it stands before others.
  events.splice(2, 0, { at: 101.5, kind: 'trouble', text: 'late' });
  expect(after()).toBe(2);
  events.push({ at: 110, kind: 'panic', text: 'y' });
  bell.check(events, false);
  expect(after()).toBe(2);
});

it.each([
  ['worker', 'started', true],
  ['worker', 'child (12) started', true],
  ['worker', 'died: by a signal', false],
  ['program', 'vcl.load next', true],
  ['program', 'vcl.use next', false],
  ['program', 'using next', false],
  ['health', 'boot.a went healthy (up)', true],
  ['health', 'boot.a went sick: 503', false],
] as const)('%s "%s" is no trouble: %s', (kind, text, is) => {
  expect(isRecovery({ at: 1, kind, text })).toBe(is);
});
