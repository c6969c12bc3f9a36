import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RingPlace } from '../../../daemon/log/ring-place.ts';
import { RingReader } from '../../../daemon/log/ring-reader.ts';
import type { RingCounters } from '../../../daemon/log/ring-writer.ts';
import { ownMemory } from '../../../daemon/threads/shared-memory.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { Grouper } from '../../../queries/group.ts';
import { recordsOf } from '../../harness/records.ts';
import { isFull } from '../../harness/runs.ts';

const THREADS = 4;
const REQUESTS = isFull ? 10_000 : 2000;

interface Result {
  counters: RingCounters;
  numbered: number;
}

let dir: string;
let path: string;
let child: ChildProcess | null = null;

beforeEach(() => {
  dir = mkdtempSync('/dev/shm/ring-threads-');
  path = join(dir, 'log.ring');
});
afterEach(() => {
  child?.kill('SIGKILL');
  child = null;
  rmSync(dir, { recursive: true });
});

function startWriters(size: number, requests: number, pace: 'pause' | 'full'): ChildProcess {
  child = fork(new URL('ring-thread.js', import.meta.url), [
    path,
    String(size),
    String(THREADS),
    String(requests),
    pace,
  ]);
  return child;
}

/** Takes what the writers wrote, and checks each record by itself and against the one before it of its thread. */
class Follower {
  readonly reader: RingReader;
  /** Every record, whatever its tag. */
  records = 0;
  lost = 0;
  numbered = 0;
  /** Records that are not what was written, or not after the one before them. */
  readonly wrong: string[] = [];
  readonly groups: LogTransaction[][] = [];
  readonly generations = new Set<number>();
  private generation = 0;
  private last = new Map<string, number>();
  /** Threads of which there may be a gap before their next record. */
  private gap = new Set<string>();
  private readonly grouper = new Grouper({ grouping: 'request' }, (group) => this.groups.push(group));

  constructor() {
    this.reader = RingReader.open(path, 'head') as RingReader;
  }

  /** Whether there was something. */
  take(): boolean {
    const read = this.reader.read();
    if (read === null) return false;
    this.lost += read.lost;
    // After a loss any thread may have lost some; the first block may have no numbered record to see it by.
    if (read.lost > 0) this.gap = new Set(['1', '2', '3', '4']);
    for (const block of read.blocks) {
      if (block.generation !== this.generation) {
        this.generation = block.generation;
        this.generations.add(block.generation);
        this.last = new Map();
        this.grouper.flush();
        this.groups.length = 0;
      }
      const rows = recordsOf(block.records);
      if (rows.length !== block.count) this.wrong.push(`a block of ${block.count} has ${rows.length}`);
      this.records += rows.length;
      for (const { tag, text } of rows) if (tag === Tag.VCL_Log) this.check(text);
      this.grouper.push(block.records, 0);
    }
    return true;
  }

  private check(text: string): void {
    this.numbered++;
    const cut = text.lastIndexOf(' ');
    const [thread = '', n = ''] = text.split(' ', 2);
    if (checksum(text.slice(0, cut)) !== text.slice(cut + 1)) this.wrong.push(`torn: ${text.slice(0, 60)}`);
    const due = (this.last.get(thread) ?? -1) + 1;
    const fits = this.gap.delete(thread) ? Number(n) >= due : Number(n) === due;
    if (!fits) this.wrong.push(`thread ${thread}: ${n} instead of ${due}`);
    this.last.set(thread, Number(n));
  }
}

function checksum(text: string): string {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h.toString(16);
}

/** Follows from the ring's creation until all writers are done. */
async function follow(
  writers: ChildProcess,
  pause: number,
): Promise<{ follower: Follower; results: Result[] }> {
  let results: Result[] | null = null;
  writers.once('message', (m) => {
    results = m as unknown as Result[];
  });
  const follower = new Follower();
  for (;;) {
    const isOver = results !== null;
    while (follower.take()) if (pause > 0) break;
    if (isOver && !follower.take()) break;
    await (pause > 0 ? wait(pause) : turn());
  }
  while (follower.take());
  return { follower, results: results as unknown as Result[] };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

describe('a ring that several threads write', { timeout: 60_000 }, () => {
  it('gives every record once, in order for each thread, and whole groups', async () => {
    const size = 256 << 20;
    RingPlace.begin(path, size).close();
    const { follower, results } = await follow(startWriters(size, REQUESTS, 'full'), 0);
    expect(follower.wrong).toEqual([]);
    expect(follower.lost).toBe(0);
    expect(follower.numbered).toBe(sum(results.map((r) => r.numbered)));
    expect(follower.records).toBe(sum(results.map((r) => r.counters.shm_records)));
    expect(follower.groups.length).toBe(THREADS * REQUESTS);
    const kinds = new Set(follower.groups.map((group) => group.map((tx) => tx.type).join(' ')));
    expect([...kinds]).toEqual(['request bereq']);
  });

  it('counts what a reader lost that is too slow', async () => {
    const size = 2 << 20;
    RingPlace.begin(path, size).close();
    const { follower, results } = await follow(startWriters(size, 10_000, 'full'), 15);
    expect(follower.wrong).toEqual([]);
    expect(follower.lost).toBeGreaterThan(1000);
    expect(follower.records).toBeGreaterThan(1000);
    expect(follower.records + follower.lost).toBe(sum(results.map((r) => r.counters.shm_records)));
    expect(sum(results.map((r) => r.counters.shm_cycles))).toBeGreaterThan(0);
  });

  it('continues after a process that was killed while its threads wrote', async () => {
    const size = 64 << 20;
    RingPlace.begin(path, size).close();
    const follower = new Follower();
    const lives = isFull ? 4 : 2;
    for (let life = 1; life <= lives; life++) {
      const writers = startWriters(size, 1e9, 'pause');
      const until = follower.numbered + 3000 + life * 517;
      while (follower.numbered < until) if (!follower.take()) await turn();
      writers.kill('SIGKILL');
      await once(writers, 'exit');
      // The next life is killed for what it has written itself.
      while (follower.take());
    }
    expect(follower.wrong).toEqual([]);
    expect(follower.lost).toBe(0);
    expect(follower.generations.size).toBe(lives);
    // The running count went on from the last whole block of each life.
    const next = RingPlace.begin(path, size);
    expect(next.before).toBe(follower.records);
    next.close();
  });

  it('is joined only after it was begun', () => {
    RingPlace.begin(path, 1 << 20).close();
    expect(() => RingPlace.join(path, ownMemory())).toThrow('No thread has begun the log ring');
  });
});
