// The log read backwards: windows before a mark and what follows it are together the whole log, each group once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogMask } from '../../../../../daemon/log/log-mask.ts';
import { createRing } from '../../../../../daemon/log/ring-file.ts';
import { RingPlace } from '../../../../../daemon/log/ring-place.ts';
import { RingWriter } from '../../../../../daemon/log/ring-writer.ts';
import { LogShared, TxLog } from '../../../../../daemon/log/tx-log.ts';
import { LogStreams } from '../../../../../daemon/manager/endpoints/streams/log-stream.ts';
import type { Stream, StreamError } from '../../../../../daemon/manager/endpoints/streams/stream.ts';
import { decodeLogFrame } from '../../../../../protocol/log-frame.ts';
import type { Grouping, LogSubscription, ServerMessage } from '../../../../../protocol/messages.ts';
import { Tag } from '../../../../../protocol/tables/tags.ts';

let dir: string;
let writer: RingWriter;
let streams: LogStreams;
let shared: LogShared;
let seed: number;

/** The same numbers in every run. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
  return (seed >>> 8) % below;
}

function newWriter(): void {
  const counters = { shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0, shm_bytes: 0 };
  writer = new RingWriter(RingPlace.begin(join(dir, 'log.ring'), 1 << 20), counters);
  shared = new LogShared(writer, new LogMask());
}

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'before-'));
  newWriter();
  streams = new LogStreams(dir);
});
afterEach(() => {
  streams.close();
  writer.close();
  rmSync(dir, { recursive: true });
});

class Reading {
  /** Ids of the transactions of each group, and those that came after the window was reached. */
  readonly groups: number[][] = [];
  readonly late: number[][] = [];
  readonly messages: ServerMessage[] = [];
  readonly mark: string | undefined;
  readonly stream: Stream;

  constructor(sub: Partial<LogSubscription>) {
    const stream: Stream | StreamError = streams.open(
      5,
      { grouping: 'request', from: 'tail', ...sub },
      {
        send: (frame) => {
          for (const tx of decodeLogFrame(frame)?.transactions ?? []) {
            const to = this.reached ? this.late : this.groups;
            if (tx.first === true) to.push([]);
            to.at(-1)?.push(tx.vxid);
          }
        },
        json: (message) => this.messages.push(message),
        buffered: () => 0,
        run: (step) => step(),
      },
    );
    if ('error' in stream) throw new Error(stream.error.message);
    this.stream = stream;
    this.mark = stream.mark;
  }

  get reached(): boolean {
    return this.messages.some((m) => m.t === 'reached');
  }

  get ended(): boolean {
    return this.messages.some((m) => m.t === 'end');
  }
}

/** A request with a fetch, whose records come with those of others in between. */
function* request(vxid: number, fetches: boolean): Generator<void> {
  const client = new TxLog(shared);
  client.begin(vxid, 'c');
  client.put(Tag.Begin, 'req 1 rxreq');
  client.put(Tag.ReqURL, `/${vxid}${'x'.repeat(random(400))}`);
  yield;
  if (fetches) {
    // The link may come after what it leads to.
    const linked = random(2) === 0;
    if (linked) client.put(Tag.Link, `bereq ${vxid + 1} fetch`);
    yield;
    const backend = new TxLog(shared);
    backend.begin(vxid + 1, 'b');
    backend.put(Tag.Begin, `bereq ${vxid} fetch`);
    for (let i = random(4); i > 0; i--) yield;
    if (!linked) client.put(Tag.Link, `bereq ${vxid + 1} fetch`);
    backend.put(Tag.End, '');
  }
  client.put(Tag.RespStatus, '200');
  yield;
  client.put(Tag.End, '');
}

/** Requests, up to twenty at a time; the last ones may stay open. Each step may end a block. */
function traffic(count: number, open: Generator<void>[] = [], from = 10): Generator<void>[] {
  let next = from;
  for (let made = 0; made < count || open.length > 15; ) {
    if (open.length < 20 && made < count) {
      open.push(request(next, random(2) === 0));
      next += 4;
      made++;
    }
    const at = random(open.length);
    if (open[at]?.next().done === true) open.splice(at, 1);
    if (random(3) === 0) writer.flush();
  }
  writer.flush();
  return open;
}

function drain(open: Generator<void>[]): void {
  while (open.length > 0) if (open[0]?.next().done === true) open.shift();
  writer.flush();
}

/** Everything before a mark, in windows of this many bytes. */
async function backwards(mark: string | undefined, bytes: number, grouping: Grouping): Promise<Reading[]> {
  const windows: Reading[] = [];
  for (let at = mark; at !== undefined; ) {
    const window = new Reading({ grouping, before: { mark: at, bytes } });
    windows.push(window);
    await expect.poll(() => window.reached || window.ended, { interval: 2, timeout: 20_000 }).toBe(true);
    at = window.mark;
  }
  return windows;
}

const inOrder = (groups: readonly number[][]): string[] => groups.map((group) => group.join(' ')).sort();

describe('windows before a mark', () => {
  it.each([
    ['request', 3000, 1],
    ['request', 20_000, 2],
    ['request', 500, 3],
    ['vxid', 3000, 4],
    ['request', 1 << 30, 5],
  ] as const)(
    'and what comes after it are the log, each %s once, by windows of %i bytes',
    async (grouping, bytes, number) => {
      seed = number;
      const open = traffic(300);
      const live = new Reading({ grouping });
      // Some are open at the mark and end after it.
      const rest = traffic(40, open, 5000);
      const windows = await backwards(live.mark, bytes, grouping);
      drain(rest);
      const whole = new Reading({ grouping, from: 'head', once: true });
      await expect.poll(() => whole.ended, { interval: 2, timeout: 20_000 }).toBe(true);
      await expect.poll(() => windows.every((w) => w.ended), { interval: 2, timeout: 20_000 }).toBe(true);
      const all = (): string[] =>
        inOrder([live.groups, ...windows.flatMap((w) => [w.groups, w.late])].flat());
      await expect.poll(() => all().length, { interval: 2, timeout: 20_000 }).toBe(whole.groups.length);
      expect(all()).toEqual(inOrder(whole.groups));
      expect(whole.groups.length).toBe(grouping === 'request' ? 340 : whole.groups.length);
    },
  );

  it('give the newest first, and report that before those that are still open', async () => {
    seed = 9;
    traffic(1, [], 10).map((each) => [...each]);
    const open = request(900, false);
    open.next();
    drain(traffic(20, [], 1000));
    const live = new Reading({});
    const window = new Reading({ before: { mark: live.mark as string, bytes: 1 << 20 } });
    await expect.poll(() => window.reached, { interval: 2, timeout: 20_000 }).toBe(true);
    expect(window.groups.flat()).not.toContain(900);
    expect(window.ended).toBe(false);
    drain([open]);
    await expect.poll(() => window.ended, { interval: 2, timeout: 20_000 }).toBe(true);
    expect(window.late).toEqual([[900]]);
    expect(live.groups).toEqual([]);
  });

  it('go no further back than the ring holds, and over the end of a worker', async () => {
    seed = 11;
    for (let i = 0; i < 4; i++) drain(traffic(900, [], 10 + i * 10_000));
    writer.close();
    newWriter();
    drain(traffic(30, [], 10));
    const live = new Reading({});
    const windows = await backwards(live.mark, 100_000, 'request');
    const whole = new Reading({ from: 'head', once: true });
    await expect.poll(() => whole.ended, { interval: 2, timeout: 20_000 }).toBe(true);
    await expect.poll(() => windows.every((w) => w.ended), { interval: 2, timeout: 20_000 }).toBe(true);
    expect(inOrder(windows.flatMap((w) => w.groups))).toEqual(inOrder(whole.groups));
    expect(windows.length).toBeGreaterThan(3);
  });

  it('are empty where the mark is of another ring, or of nothing', async () => {
    seed = 13;
    drain(traffic(30));
    const { mark } = new Reading({});
    createRing(join(dir, 'log.ring'), 1 << 20);
    for (const each of [mark as string, 'nothing', '1:2:3', ':', '0:-5']) {
      const window = new Reading({ before: { mark: each, bytes: 1000 } });
      await expect.poll(() => window.ended, { interval: 2, timeout: 20_000 }).toBe(true);
      expect([window.groups, window.mark]).toEqual([[], undefined]);
    }
  });
});
