// Access log lines in local time: the same recording, format and TZ through varnishncsa and proxyncsa.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeRecord, LOG_FILE_MAGIC } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { run } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';
import { type Answers, inPool, inputsOf, type Reference, recording } from './recording.ts';

const answers = recording('time-zones');
const dir = mkdtempSync(join(tmpdir(), 'zones-'));
const FILE = join(dir, 'times.vsl');
afterAll(() => rmSync(dir, { recursive: true }));

const TIMES = [
  ...['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'],
  ...['2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z', '2026-04-04T15:59:59Z', '2026-04-04T16:00:00Z'],
].map((text) => Date.parse(text) / 1000);
writeFileSync(
  FILE,
  Buffer.concat([
    LOG_FILE_MAGIC,
    ...TIMES.flatMap((time, i) => {
      const record = (tag: number, text: string): Buffer => encodeRecord(tag, 2 * i + 2, 'c', text);
      const start = `Start: ${time}.000000 0.000000 0.000000`;
      return [
        record(Tag.Begin, 'req 1 rxreq'),
        record(Tag.Timestamp, start),
        record(Tag.ReqMethod, 'GET'),
        record(Tag.ReqURL, '/'),
        record(Tag.ReqProtocol, 'HTTP/1.1'),
        record(Tag.End, ''),
      ];
    }),
  ]),
);

const ZONES = [
  ...['Europe/Berlin', ':Europe/Berlin', 'Asia/Kolkata', 'Asia/Tokyo', 'Europe/Moscow', 'Australia/Sydney'],
  ...['America/St_Johns', 'CET-1CEST,M3.5.0,M10.5.0/3', '<+03>-3', 'NZST-12NZDT,M9.5.0,M4.1.0/3'],
  ...['Nowhere/City', '', undefined],
];

const KEYS = ZONES.map((tz) => `TZ=${tz}`);

describe('local time in access logs', () => {
  let reference: Reference<string>;
  let ours: Answers<string>;
  beforeAll(async () => {
    const format = '%t %{%F %T %z %Z}t';
    [reference, ours] = await answers.both(inputsOf(`${format} ${TIMES.join()}`, KEYS), async (product) => {
      const [program, lead] =
        product === 'varnish'
          ? ['varnishncsa', []]
          : [process.execPath, [join(ROOT, 'dist/console/bin/proxyncsa.js')]];
      const output = await inPool(ZONES, 2, async (tz) => {
        const env = { ...process.env, TZ: tz };
        return (await run(program, [...lead, '-r', FILE, '-F', format], { env })).stdout;
      });
      return new Map(KEYS.map((key, i) => [key, output[i] ?? '']));
    });
  });

  it.each(KEYS)('%s', (key) => {
    const theirs = reference.get(key);
    expect(theirs.split('\n').length).toBe(TIMES.length + 1);
    expect(ours.get(key)).toBe(theirs);
  });
});
