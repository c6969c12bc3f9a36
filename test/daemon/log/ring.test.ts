import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogMask } from '../../../daemon/log/log-mask.ts';
import { createRing } from '../../../daemon/log/ring-file.ts';
import { HEADER_SIZE, ringShape } from '../../../daemon/log/ring-format.ts';
import { RingPlace } from '../../../daemon/log/ring-place.ts';
import { RingReader } from '../../../daemon/log/ring-reader.ts';
import { RingWriter } from '../../../daemon/log/ring-writer.ts';
import { ThreadLogs } from '../../../daemon/log/thread-logs.ts';
import { LogShared, TxLog } from '../../../daemon/log/tx-log.ts';
import { WriteTrouble } from '../../../daemon/log/write-trouble.ts';
import { LOCK_WORDS, type Lock, NO_LOCK, SharedLock } from '../../../daemon/threads/shared-lock.ts';
import { ownMemory } from '../../../daemon/threads/shared-memory.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { textsOf } from '../../harness/records.ts';

const SIZE = 1024 * 1024;
let dir: string;
let path: string;
const counters = () => ({ shm_records: 0, shm_writes: 0, shm_flushes: 0, shm_cycles: 0, shm_bytes: 0 });

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ring-'));
  path = join(dir, 'log.ring');
});
afterEach(() => rmSync(dir, { recursive: true }));

function open(): { writer: RingWriter; log: TxLog } {
  const writer = new RingWriter(RingPlace.begin(path, SIZE), counters());
  const log = new TxLog(new LogShared(writer, new LogMask()));
  log.begin(1, 'c');
  return { writer, log };
}

function texts(reader: RingReader): { texts: string[]; lost: number; generations: number[] } {
  const out = { texts: [] as string[], lost: 0, generations: [] as number[] };
  for (let r = reader.read(); r !== null; r = reader.read()) {
    out.lost += r.lost;
    for (const b of r.blocks) {
      out.generations.push(b.generation);
      out.texts.push(...textsOf(b.records));
    }
  }
  return out;
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `n${from + i}`);

describe('log ring', () => {
  it('gives back what was written, from the head', () => {
    const { writer, log } = open();
    for (const t of numbers(0, 500)) {
      log.put(Tag.VCL_Log, t);
      writer.flush();
    }
    const reader = RingReader.open(path, 'head') as RingReader;
    expect(texts(reader)).toMatchObject({ texts: numbers(0, 500), lost: 0 });
    log.put(Tag.VCL_Log, 'more');
    writer.flush();
    expect(texts(reader).texts).toEqual(['more']);
    expect(reader.read()).toBeNull();
  });

  it('starts at the tail without what was there', () => {
    const { writer, log } = open();
    for (const t of numbers(0, 100)) log.put(Tag.VCL_Log, t);
    writer.flush();
    const reader = RingReader.open(path, 'tail') as RingReader;
    expect(reader.read()).toBeNull();
    log.put(Tag.VCL_Log, 'new');
    writer.flush();
    expect(texts(reader)).toMatchObject({ texts: ['new'], lost: 0 });
  });

  it('wraps, and says exactly how many records a slow reader lost', () => {
    const { writer, log } = open();
    const reader = RingReader.open(path, 'head') as RingReader;
    log.put(Tag.VCL_Log, 'first');
    writer.flush();
    expect(texts(reader).texts).toEqual(['first']);
    const total = 30_000;
    for (let i = 0; i < total; i++) {
      log.put(Tag.VCL_Log, `n${i} ${'x'.repeat(90)}`);
      if (i % 7 === 0) writer.flush();
    }
    writer.flush();
    const got = texts(reader);
    expect(got.lost).toBeGreaterThan(1000);
    expect(got.lost + got.texts.length).toBe(total);
    expect(got.texts.at(-1)).toMatch(/^n29999 /);
    expect(got.texts[0]).toMatch(new RegExp(`^n${got.lost} `));
  });

  it('flushes by itself when the staging buffer is full', () => {
    const c = counters();
    const writer = new RingWriter(RingPlace.begin(path, SIZE), c);
    const log = new TxLog(new LogShared(writer, new LogMask()));
    for (const t of numbers(0, 40_000)) log.put(Tag.VCL_Log, t);
    expect(c.shm_flushes).toBeGreaterThan(0);
    writer.flush();
    expect(c.shm_records).toBe(40_000);
    const reader = RingReader.open(path, 'head') as RingReader;
    expect(texts(reader).texts.at(-1)).toBe('n39999');
  });

  it('skips a block whose end is missing, and resumes after it', () => {
    const { writer, log } = open();
    log.put(Tag.VCL_Log, 'whole');
    writer.flush();
    const { segmentSize } = ringShape(SIZE);
    const before = readFileSync(path);
    log.put(Tag.VCL_Log, 'torn');
    writer.flush();
    const after = readFileSync(path);
    // Undo the last eight bytes of the second block, as if the writer had died in its write.
    const end = after.lastIndexOf(Buffer.from('torn')) + 8;
    const fd = openSync(path, 'r+');
    writeSync(fd, before, end, 8, end);
    expect(end).toBeGreaterThan(HEADER_SIZE + segmentSize);
    const reader = RingReader.open(path, 'head') as RingReader;
    expect(texts(reader).texts).toEqual(['whole']);
    const next = open();
    next.log.put(Tag.VCL_Log, 'next life');
    next.writer.flush();
    const got = texts(reader);
    expect(got.texts).toEqual(['next life']);
    expect(got.generations).toEqual([2]);
  });

  it('counts on over a restart of the writer', () => {
    const a = open();
    for (const t of numbers(0, 10)) a.log.put(Tag.VCL_Log, t);
    a.writer.close();
    const reader = RingReader.open(path, 'head') as RingReader;
    const b = open();
    for (const t of numbers(10, 20)) b.log.put(Tag.VCL_Log, t);
    b.writer.flush();
    const got = texts(reader);
    expect(got).toEqual({ texts: numbers(0, 20), lost: 0, generations: [1, 2] });
  });

  it('takes its space when it is made, for its user alone', () => {
    createRing(path, 3 * SIZE);
    const { size, blocks, mode } = statSync(path);
    expect(size).toBeGreaterThan(2.9 * SIZE);
    expect(blocks * 512).toBeGreaterThanOrEqual(size);
    expect(mode & 0o777).toBe(0o600);
    createRing(path, SIZE, { mode: 0o640 });
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('is made again for another size, and kept for the same', () => {
    open().writer.close();
    const { ino } = statSync(path);
    open().writer.close();
    expect(statSync(path).ino).toBe(ino);
    new RingWriter(RingPlace.begin(path, 2 * SIZE), counters()).close();
    expect(statSync(path).size).toBeGreaterThan(1.9 * SIZE);
  });

  it('follows no link that lies where it is made', () => {
    const victim = join(dir, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, `${path}.${process.pid}.new`);
    expect(() => createRing(path, SIZE)).toThrow(/symbolic link/);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  it('counts and reports blocks that it cannot write', () => {
    const messages: string[] = [];
    const errors = { write_errors: 0 };
    const trouble = new WriteTrouble('The log', errors, (text) => messages.push(text));
    const place = RingPlace.begin(path, SIZE);
    const writer = new RingWriter(place, counters(), trouble);
    const log = new TxLog(new LogShared(writer, new LogMask()));
    // Every write fails from now on.
    place.close();
    log.begin(1, 'c');
    log.put(Tag.VCL_Log, 'lost');
    writer.flush();
    expect(errors.write_errors).toBe(1);
    expect(messages[0]).toContain('The log cannot be written');
  });

  it('gives up a last block, after a moment, for a lock that a dead thread holds', () => {
    const words = new Int32Array(new SharedArrayBuffer(LOCK_WORDS * 4));
    const c = counters();
    const place = RingPlace.begin(path, SIZE);
    const logs = new ThreadLogs(ownMemory(), 0, 1, RingWriter.stagingFor(place));
    const writer = new RingWriter(place, c, null, { lock: new SharedLock(words, 0, 0), logs });
    const log = new TxLog(new LogShared(writer, new LogMask()));
    log.put(Tag.VCL_Log, 'one');
    writer.flushAtEnd();
    expect(c.shm_records).toBe(1);
    log.put(Tag.VCL_Log, 'two');
    const dead = new SharedLock(words, 0, 1);
    dead.enter();
    const from = performance.now();
    writer.flushAtEnd();
    expect(performance.now() - from).toBeLessThan(20_000);
    expect(c.shm_records).toBe(1);
    // For the turn's end, which comes after all here.
    dead.leave();
  });

  it('has each block in the file when it gives the lock back, and moves nothing before it has it', () => {
    const memory = ownMemory();
    const places = [RingPlace.begin(path, SIZE, undefined, memory), RingPlace.join(path, memory)] as const;
    const reader = RingReader.open(path, 'head') as RingReader;
    let position = places[0].position;
    const seen: string[] = [];
    const lock: Lock = {
      ...NO_LOCK,
      tryEnter: () => {
        expect(places[0].position).toBe(position);
        return true;
      },
      leave: () => {
        const got = texts(reader);
        expect(got).toMatchObject({ lost: 0, texts: [expect.any(String)] });
        seen.push(...got.texts);
        position = places[1].position;
      },
    };
    const logs = places.map((place, thread) => {
      const logs = new ThreadLogs(memory, thread, 2, RingWriter.stagingFor(place));
      const writer = new RingWriter(place, counters(), null, { lock, logs });
      return { writer, log: new TxLog(new LogShared(writer, new LogMask())) };
    });
    // Several segments.
    for (let n = 0; n < 3000; n++) {
      const { writer, log } = logs[n % 2] as (typeof logs)[0];
      log.put(Tag.VCL_Log, `n${n}${'x'.repeat(90)}`);
      writer.flush();
    }
    expect(seen.map((text) => text.replace(/x+$/, ''))).toEqual(numbers(0, 3000));
  });

  it('releases the lock when a write throws, loses only that block, and reports it', () => {
    const place = RingPlace.begin(path, SIZE);
    const logs = new ThreadLogs(ownMemory(), 0, 1, RingWriter.stagingFor(place));
    const lock = new SharedLock(new Int32Array(new SharedArrayBuffer(LOCK_WORDS * 4)), 0, 0);
    const writer = new RingWriter(place, counters(), null, { lock, logs });
    const log = new TxLog(new LogShared(writer, new LogMask()));
    const { write } = place;
    place.write = () => {
      throw new Error('a defect');
    };
    log.put(Tag.VCL_Log, 'lost');
    expect(() => writer.flush()).toThrow('a defect');
    expect(lock.isHeld).toBe(false);
    place.write = write;
    log.put(Tag.VCL_Log, 'kept');
    writer.flush();
    expect(texts(RingReader.open(path, 'head') as RingReader).texts).toEqual(['kept']);
  });

  it('loses what it cannot mark the next segment for, counts it, and continues there', () => {
    const messages: string[] = [];
    const errors = { write_errors: 0 };
    const trouble = new WriteTrouble('The log', errors, (text) => messages.push(text));
    const place = RingPlace.begin(path, SIZE);
    const writer = new RingWriter(place, counters(), trouble);
    const log = new TxLog(new LogShared(writer, new LogMask()));
    log.put(Tag.VCL_Log, 'first');
    writer.flush();
    const reader = RingReader.open(path, 'head') as RingReader;
    expect(texts(reader).texts).toEqual(['first']);
    const inner = place as unknown as { fd: number };
    const { fd } = inner;
    const readOnly = openSync(path, 'r');
    const fill = (): void => {
      for (let i = 0; i < 20; i++) log.put(Tag.VCL_Log, 'x'.repeat(200));
      writer.flush();
    };
    const segment = (): number => Math.floor(place.position / place.segmentSize);
    const before = segment();
    while (place.segmentSize - (place.position % place.segmentSize) > 5000) fill();
    inner.fd = readOnly;
    fill();
    inner.fd = fd;
    expect(segment()).toBe(before);
    fill();
    expect(segment()).toBe(before + 1);
    closeSync(readOnly);
    const got = texts(reader);
    expect(errors.write_errors).toBe(1);
    expect(messages[0]).toContain('The log cannot be written');
    expect(got.lost).toBe(20);
    expect(got.texts.length % 20).toBe(0);
  });

  it('goes over to a ring that replaces the file', () => {
    const a = open();
    a.log.put(Tag.VCL_Log, 'old');
    a.writer.flush();
    const reader = RingReader.open(path, 'head') as RingReader;
    createRing(path, SIZE);
    const b = open();
    b.log.put(Tag.VCL_Log, 'new');
    b.writer.flush();
    expect(texts(reader).texts).toEqual(['old', 'new']);
  });
});
