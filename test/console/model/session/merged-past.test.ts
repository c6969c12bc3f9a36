// Two instances as one have a past: that of both, from where both are known.
import { expect, it } from 'vitest';
import type { PastPoint, Source, SourceEvents } from '../../../../console/client/source.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { MergedSource } from '../../../../console/model/session/merged-source.ts';
import type { CounterInfo, HistoryRequest } from '../../../../protocol/messages.ts';

const NAMES = ['MAIN.uptime', 'MAIN.client_req', 'MAIN.cache_hit', 'MAIN.cache_miss', 'VBE.boot.a.req'];
const INFO = NAMES.map(
  (name): CounterInfo => ({
    name,
    flag: name === 'MAIN.uptime' ? 'g' : 'c',
    format: name === 'MAIN.uptime' ? 'd' : 'i',
    level: 'info',
    description: '',
  }),
);

type Reading = [at: number, ...values: number[]];

/** A daemon with this past. */
class Kept implements Source {
  readonly label = 'kept';
  events: SourceEvents | null = null;
  private readonly readings: readonly Reading[];

  constructor(readings: readonly Reading[]) {
    this.readings = readings;
  }

  start(events: SourceEvents): void {
    this.events = events;
  }

  /** Connected: its past, then what is now. */
  tell(): void {
    this.events?.connection({ state: 'up', identity: 'x', version: '1' });
    this.events?.counters(INFO);
    for (const [at, ...values] of this.readings.slice(0, -1)) this.events?.past(at, values.map(BigInt));
    const [at, ...values] = this.readings.at(-1) as Reading;
    this.events?.values(at, values.map(BigInt));
  }

  history({ step }: HistoryRequest): Promise<readonly PastPoint[]> {
    const kept = this.readings.filter((_, i) => i % step === 0);
    return Promise.resolve(
      kept.map(([at, ...values]) => ({ at, names: NAMES, values: Float64Array.from(values) })),
    );
  }

  command = () => Promise.resolve({ status: 101, body: '' });
  log = () => ({ close: () => undefined });
  setInterval(): void {}
  sampleNow(): void {}
  close(): void {}
}

/** One sample per second, of this many requests each; the worker restarted at `born`. */
function readings(from: number, to: number, rate: number, born = -1000): Reading[] {
  const out: Reading[] = [];
  for (let at = from; at <= to; at++) {
    const up = at < born ? at + 5000 : at - born;
    const n = rate * (at < born ? at + 5000 : at - born);
    out.push([at, up, n, n, 0, n]);
  }
  return out;
}

async function shown(a: Kept, b: Kept): Promise<DaemonSession> {
  const session = new DaemonSession({
    source: new MergedSource({ name: 'a', source: a }, { name: 'b', source: b }),
    now: () => 1100,
    later: (fn) => fn(),
  });
  session.start();
  b.tell();
  a.tell();
  for (let i = 0; i < 10; i++) await Promise.resolve();
  return session;
}

function rates(session: DaemonSession): number[] {
  const { requests } = session;
  return Array.from({ length: requests.length }, (_, i) => requests.get(i) as number);
}

it('is the sum of both, from where both are known, over the end of a worker', async () => {
  const offset = readings(1040, 1100, 40).map(([at, ...values]): Reading => [at + 0.4, ...values]);
  const session = await shown(new Kept(readings(1000, 1100, 10, 1070)), new Kept(offset));
  const seen = rates(session);
  expect(seen.length).toBeGreaterThan(55);
  // The second in which a worker began again knows less of it.
  expect(seen.filter((rate) => Math.abs(rate - 50) > 0.01).length).toBeLessThanOrEqual(1);
  expect(Math.max(...seen)).toBeLessThan(51);
  expect(session.counters.rate('VBE.b:boot.a.req')).toBeCloseTo(40, 1);
  expect(session.hitRate.window(100).rate).toBe(1);
  // Changed counters as well.
  const { moved, seconds, secondsBefore } = session.trail.movement(20);
  const requests = moved.find(({ name }) => name === 'MAIN.client_req');
  expect((requests?.now ?? 0) / seconds).toBeCloseTo(50, -1);
  // Counts of a worker after its last point are lost.
  expect((requests?.before ?? 0) / secondsBefore).toBeCloseTo(45, 0);
  session.close();
});

it('continues with the one that is there where the other has a hole', async () => {
  const whole = readings(1000, 1100, 40);
  const holed = readings(1000, 1100, 10).filter(([at]) => at < 1030 || at > 1060);
  const session = await shown(new Kept(whole), new Kept(holed));
  const seen = rates(session);
  expect(seen).toHaveLength(100);
  expect(seen.slice(35, 55).every((rate) => rate === 40)).toBe(true);
  expect(Math.min(...seen)).toBe(40);
  session.close();
});
