// The panel of "why?" while the daemon's log is still being read: what it says so far, and what it says at the end.
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import type { LogHandlers } from '../../../console/client/source.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { fakeGroup, fakeRecording, record } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

beforeAll(() => {
  process.env.TZ = 'UTC';
});

afterEach(() => {
  vi.restoreAllMocks();
  stage?.close();
  stage = null;
});

const SLICE_MS = 1500;

const MISSED = {
  method: 'GET',
  url: '/slow-ring',
  status: 200,
  handling: 'MISS' as const,
  seconds: 0.01,
  body: 10,
};

/** A miss whose response was stored for ten seconds. */
function storedFor10(vxid: number, at: number): LogTransaction[] {
  const [client, fetch] = fakeGroup({ ...MISSED, vxid, at }) as [LogTransaction, LogTransaction];
  const more = [
    record('b', fetch.vxid, 'Timestamp', `Start: ${at} 0 0`),
    record('b', fetch.vxid, 'TTL', `RFC 10 0 0 ${at} ${at} ${at} 0 10 cacheable`),
  ];
  return [
    { ...client, first: true },
    { ...fetch, records: Buffer.concat([fetch.records, ...more]) },
  ];
}

it('says that the log is not read to its end yet, corrects itself, and reads no more once it is closed', async () => {
  stage = new Stage({ recording: fakeRecording(90), columns: 120, rows: 30 });
  const s = stage;
  await s.settle();
  await s.play(2);
  const own = globalThis.setInterval;
  let slice = (): void => undefined;
  vi.spyOn(globalThis, 'setInterval').mockImplementation(((fn: () => void, ms?: number) => {
    if (ms === SLICE_MS) slice = fn;
    return own(fn, ms);
  }) as typeof setInterval);
  let handlers: LogHandlers | null = null;
  let closed = 0;
  const log = s.source.log.bind(s.source);
  s.source.log = (sub, given) => {
    if (sub.once !== true) return log(sub, given);
    handlers = given;
    return { close: () => closed++ };
  };
  const now = s.session.now();
  s.session.log.kept.add(fakeGroup({ ...MISSED, vxid: 900_000, at: now }));
  await s.keys('2', 'G', 'w');
  await s.settle();
  slice();
  await s.settle();
  expect(await s.screen()).toContain('no earlier fetch of it is known so far');
  expect(await s.screen()).toContain('not fully searched yet');

  // Scrolling is no reason to drop the answer.
  await s.keys('down');
  const given = handlers as LogHandlers | null;
  given?.batch(storedFor10(500_000, now - 2000));
  given?.ended?.();
  await s.settle();
  expect(await s.screen()).toContain('from the daemon’s log');
  expect(await s.screen()).not.toContain('no earlier fetch');
  expect(closed).toBe(1);

  await s.keys('escape', 'w');
  await s.settle();
  await s.keys('escape');
  slice();
  expect(closed).toBe(2);
});
