import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CountersHistory } from '../../../daemon/stats/counters-history.ts';
import { decodeHistory, HistoryEncoder } from '../../../daemon/stats/history-frames.ts';
import { HistoryLevel } from '../../../daemon/stats/history-level.ts';
import { drained } from '../../harness/steps.ts';

const START = 1_795_220_600_000;
let dir: string;
let warnings: string[];
const warn = (text: string): void => {
  warnings.push(text);
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-history-'));
  warnings = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const NAMES = ['MAIN.a', 'MAIN.b', 'VBE.boot.default.happy'];

function level(shape: Partial<ConstructorParameters<typeof HistoryLevel>[1]> = {}): HistoryLevel {
  const made = new HistoryLevel(dir, { step: 1, keep: 3600, bytes: 1 << 20, ...shape }, warn);
  made.open();
  return made;
}

function taken(from: HistoryLevel, since = 0): [number, ...bigint[]][] {
  const out: [number, ...bigint[]][] = [];
  for (const { at, values } of from.samples(since)) out.push([(at - START) / 1000, ...values]);
  return out;
}

describe('frames', () => {
  it('give back what was written, to the last of 64 bits, up and down', () => {
    const encoder = new HistoryEncoder();
    const rows = [
      [0n, 5n, 0xffff_ffff_ffff_ffffn],
      [1n, 5n, 0x7fff_ffff_ffff_fffen],
      [1n << 53n, 0n, 0n],
      [(1n << 53n) + 1n, 300n, 0xffff_ffff_ffff_fffen],
      [0n, 1n << 49n, 1n << 63n],
    ];
    const first = rows[0] as bigint[];
    const frames = [drained(encoder.whole({ at: START, names: NAMES, values: first }))];
    for (let i = 1; i < rows.length; i++)
      frames.push(drained(encoder.changes(1000, rows[i - 1] as bigint[], rows[i] as bigint[])));
    const read = [...decodeHistory(Buffer.concat(frames))].length;
    expect(read).toBe(rows.length);
    let i = 0;
    for (const sample of decodeHistory(Buffer.concat(frames))) {
      expect(sample.at).toBe(START + i * 1000);
      expect(sample.names).toEqual(NAMES);
      expect(sample.values).toEqual(rows[i++]);
    }
  });

  it('are refused with any byte of them changed, and where they were cut', () => {
    const encoder = new HistoryEncoder();
    const bytes = Buffer.concat([
      drained(encoder.whole({ at: START, names: NAMES, values: [1n, 2n, 3n] })),
      drained(encoder.changes(1000, [1n, 2n, 3n], [2n, 2n, 3n])),
    ]);
    for (let i = 0; i < bytes.length; i++) {
      const spoilt = Buffer.from(bytes);
      spoilt[i] = (spoilt[i] as number) ^ 0x10;
      expect(() => [...decodeHistory(spoilt)], `byte ${i}`).toThrow();
      if (i > 0 && [...decodeLengths(bytes)].includes(i)) continue;
      if (i > 0) expect(() => [...decodeHistory(bytes.subarray(0, i))], `cut at ${i}`).toThrow();
    }
  });
});

/** Where frames end. */
function* decodeLengths(bytes: Buffer): Generator<number> {
  for (let at = 0; at < bytes.length; ) {
    at += 8 + bytes.readUInt32LE(at);
    yield at;
  }
}

describe('a level of the history', () => {
  it('continues after a restart, with other counters too, in files for its user alone', () => {
    const before = level();
    drained(before.append(START, NAMES, [1n, 1n, 1n]));
    drained(before.append(START + 1000, NAMES, [2n, 1n, 1n]));
    drained(before.append(START + 2000, [...NAMES, 'MAIN.c'], [3n, 1n, 1n, 9n]));
    before.close();
    const after = level();
    expect(taken(after)).toEqual([
      [0, 1n, 1n, 1n],
      [1, 2n, 1n, 1n],
      [2, 3n, 1n, 1n, 9n],
    ]);
    drained(after.append(START + 60_000, NAMES, [0n, 0n, 0n]));
    expect(taken(after, START + 2000).map((row) => row[0])).toEqual([2, 60]);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['changed', (path: string) => writeFileSync(path, spoil(readFileSync(path)))],
    ['cut', (path: string) => truncateSync(path, statSync(path).size - 3)],
    ['empty', (path: string) => truncateSync(path, 0)],
    ['something else', (path: string) => writeFileSync(path, 'hello\n'.repeat(100))],
  ])('refuses a file that is %s with a word of it, and keeps the others', (_what, damage) => {
    const before = level();
    drained(before.append(START, NAMES, [1n, 1n, 1n]));
    drained(before.append(START + 1000, ['MAIN.other'], [7n]));
    before.close();
    damage(join(dir, `1s-${START}`));
    const after = level();
    expect(taken(after)).toEqual([[1, 7n]]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/^History of counters refused: .*1s-\d+ is damaged \(/);
    expect(readdirSync(dir)).toEqual([`1s-${START + 1000}`]);
  });

  it('keeps a limited number of seconds and bytes', () => {
    const short = level({ keep: 1000 });
    for (let s = 0; s <= 3000; s++) drained(short.append(START + s * 1000, NAMES, [BigInt(s), 0n, 0n]));
    const rows = taken(short);
    expect(rows.at(-1)?.[0]).toBe(3000);
    // A file of 600 may remain of those beyond the limit.
    expect(rows[0]?.[0]).toBeGreaterThanOrEqual(1400);
    expect(rows[0]?.[0]).toBeLessThanOrEqual(2000);
    short.close();
    const small = level({ step: 2, bytes: 20_000 });
    for (let s = 0; s <= 6000; s++) drained(small.append(START + s * 1000, NAMES, [BigInt(s), 0n, 0n]));
    expect(small.bytes).toBeLessThan(30_000);
    expect(taken(small).at(-1)?.[0]).toBe(6000);
  });

  it('leaves the last of a file system to others: the oldest goes, then nothing is written, with a word of it', () => {
    let free = 1e9;
    const one = new HistoryLevel(dir, { step: 1, keep: 1e6, bytes: 1e9 }, warn, () => free);
    one.open();
    for (let s = 0; s < 1500; s++) drained(one.append(START + s * 1000, NAMES, [BigInt(s), 0n, 0n]));
    expect(readdirSync(dir)).toHaveLength(3);
    free = 1e6;
    for (let s = 1500; s < 1510; s++) drained(one.append(START + s * 1000, NAMES, [BigInt(s), 0n, 0n]));
    expect(readdirSync(dir)).toHaveLength(1);
    expect(taken(one).at(-1)?.[0]).toBe(1499);
    expect(warnings).toEqual(['The history of counters cannot be written: too little space is left']);
    free = 1e9;
    drained(one.append(START + 1_510_000, NAMES, [7n, 0n, 0n]));
    expect(taken(one).at(-1)).toEqual([1510, 7n, 0n, 0n]);
  });

  it('waits for a clock that was set back a little, and begins again after more', () => {
    const one = level();
    drained(one.append(START + 100_000, NAMES, [1n, 0n, 0n]));
    drained(one.append(START + 90_000, NAMES, [2n, 0n, 0n]));
    expect(taken(one)).toEqual([[100, 1n, 0n, 0n]]);
    drained(one.append(START, NAMES, [3n, 0n, 0n]));
    expect(taken(one)).toEqual([[0, 3n, 0n, 0n]]);
    expect(warnings).toEqual(['The clock went back: the history of counters starts over']);
  });
});

function spoil(bytes: Buffer): Buffer {
  const at = bytes.length - 1;
  bytes[at] = (bytes[at] as number) ^ 1;
  return bytes;
}

it('keeps every second and every tenth', () => {
  const history = new CountersHistory(join(dir, 'history'), warn);
  history.open();
  const info = NAMES.map((name) => ({
    name,
    flag: 'c' as const,
    format: 'i' as const,
    level: 'info' as const,
    description: '',
  }));
  for (let s = 0; s < 60; s++) drained(history.take(START + s * 1000, { info, values: [BigInt(s), 0n, 0n] }));
  expect([...history.samples(START, 1)]).toHaveLength(60);
  expect([...history.samples(START, 10)].map(({ at }) => (at - START) / 1000).length).toBe(6);
  expect(readdirSync(join(dir, 'history'))).toHaveLength(2);
  history.close();
});
