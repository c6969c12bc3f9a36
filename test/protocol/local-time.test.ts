import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { localStamp, localTime, zoneOf } from '../../protocol/local-time.ts';
import { parsePosixZone } from '../../protocol/posix-zone.ts';
import { strftime } from '../../protocol/strftime.ts';
import { findProgram } from '../harness/processes.ts';

const dir = mkdtempSync(join(tmpdir(), 'zones-'));
afterAll(() => rmSync(dir, { recursive: true }));

const at = (text: string): number => Date.parse(text) / 1000;
const shown = (tz: string | undefined, seconds: number, database?: string): string =>
  strftime('%F %T %z %Z', localTime(seconds, zoneOf(tz, database)));

const WINTER = at('2026-01-15T12:00:00Z');
const SUMMER = at('2026-07-15T12:00:00Z');

describe('a zone by rules', () => {
  it.each([
    ['CET-1CEST,M3.5.0,M10.5.0/3', '2026-01-15 13:00:00 +0100 CET', '2026-07-15 14:00:00 +0200 CEST'],
    ['NZST-12NZDT,M9.5.0,M4.1.0/3', '2026-01-16 01:00:00 +1300 NZDT', '2026-07-16 00:00:00 +1200 NZST'],
    ['<+03>-3', '2026-01-15 15:00:00 +0300 +03', '2026-07-15 15:00:00 +0300 +03'],
    ['EST5', '2026-01-15 07:00:00 -0500 EST', '2026-07-15 07:00:00 -0500 EST'],
    ['EST5EDT', '2026-01-15 07:00:00 -0500 EST', '2026-07-15 08:00:00 -0400 EDT'],
    [
      '<-0330>3:30<-0230>,M3.2.0,M11.1.0',
      '2026-01-15 08:30:00 -0330 -0330',
      '2026-07-15 09:30:00 -0230 -0230',
    ],
    ['IST-2IDT,M3.4.4/26,M10.5.0', '2026-01-15 14:00:00 +0200 IST', '2026-07-15 15:00:00 +0300 IDT'],
    ['<-02>2<-01>,M3.5.0/-1,M10.5.0/0', '2026-01-15 10:00:00 -0200 -02', '2026-07-15 11:00:00 -0100 -01'],
    ['AAA0BBB,J60,J300', '2026-01-15 12:00:00 +0000 AAA', '2026-07-15 13:00:00 +0100 BBB'],
    ['AAA0BBB,0/0,J365/25', '2026-01-15 13:00:00 +0100 BBB', '2026-07-15 13:00:00 +0100 BBB'],
  ])('%s', (rule, winter, summer) => {
    // No database: what can be read as a rule is one.
    expect([shown(rule, WINTER, dir), shown(rule, SUMMER, dir)]).toEqual([winter, summer]);
  });

  it('changes at the second of the rule, in leap years too', () => {
    const rule = 'CET-1CEST,M3.5.0,M10.5.0/3';
    const around = (seconds: number): string[] =>
      [seconds - 1, seconds].map((s) => shown(rule, s, dir).slice(11));
    expect(around(at('2028-03-26T01:00:00Z'))).toEqual(['01:59:59 +0100 CET', '03:00:00 +0200 CEST']);
    expect(around(at('2028-10-29T01:00:00Z'))).toEqual(['02:59:59 +0200 CEST', '02:00:00 +0100 CET']);
    const days = (rule: string, day: string): string[] => [
      shown(rule, at(`${day}T01:59:59Z`), dir).slice(-3),
      shown(rule, at(`${day}T02:00:00Z`), dir).slice(-3),
    ];
    // J60 is March 1 in every year, 59 February 29 in a leap year.
    expect(days('AAA0BBB,J60,J300', '2028-03-01')).toEqual(['AAA', 'BBB']);
    expect(days('AAA0BBB,59,J300', '2028-02-29')).toEqual(['AAA', 'BBB']);
    expect(days('AAA0BBB,59,J300', '2027-03-01')).toEqual(['AAA', 'BBB']);
  });

  it.each(['', 'AB1', '<ab>1', 'CET', '1', 'Europe/Berlin', ',M3.5.0'])('%j is none', (text) => {
    expect(parsePosixZone(text)).toBeNull();
  });
});

describe('other values of TZ', () => {
  it('is UTC when empty, and UTC under its first name when nothing is known of it', () => {
    expect(shown('', SUMMER)).toBe('2026-07-15 12:00:00 +0000 UTC');
    expect(shown('Nowhere/City', SUMMER)).toBe('2026-07-15 12:00:00 +0000 Nowhere');
    expect(shown('../etc/passwd', SUMMER)).toBe('2026-07-15 12:00:00 +0000 ');
  });

  it('takes a file that is no zone, or cut short, for none', () => {
    const bytes = Buffer.from(`TZif2${'\0'.repeat(39)}`, 'latin1');
    writeFileSync(join(dir, 'Bad'), bytes);
    writeFileSync(join(dir, 'Short'), bytes.subarray(0, 20));
    bytes.writeUInt32BE(0xffff_ffff, 32);
    writeFileSync(join(dir, 'Huge'), bytes);
    for (const name of ['Bad', 'Short', 'Huge'])
      expect(shown(name, SUMMER, dir)).toBe(`2026-07-15 12:00:00 +0000 ${name}`);
  });

  it('has offsets of named zones without a database', () => {
    expect(shown('Europe/Berlin', SUMMER, dir)).toBe('2026-07-15 14:00:00 +0200 +02');
    expect(shown('Asia/Kolkata', SUMMER, dir)).toBe('2026-07-15 17:30:00 +0530 +0530');
  });

  it('stamps messages with the distance from UTC', () => {
    const when = new Date('2026-11-22T22:25:00.123Z');
    expect(localStamp(when, zoneOf('CET-1'))).toBe('2026-11-22T23:25:00.123+01:00');
    expect(localStamp(when, zoneOf('<-0330>3:30'))).toBe('2026-11-22T18:55:00.123-03:30');
  });
});

const DATE = findProgram('date');
describe.skipIf(DATE === null)("beside the system's date", () => {
  const TIMES = [
    ...['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z', '2026-03-29T00:59:59Z', '2026-03-29T01:00:00Z'],
    ...['2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z', '2026-04-04T16:00:00Z', '2099-07-01T00:00:00Z'],
    ...['1970-01-01T00:00:00Z', '1880-01-01T00:00:00Z', '1945-06-01T00:00:00Z', '2011-12-30T12:00:00Z'],
  ].map(at);
  it.each([
    ...[
      'Europe/Berlin',
      ':Europe/Berlin',
      'Asia/Kolkata',
      'Asia/Tokyo',
      'Europe/Moscow',
      'America/Sao_Paulo',
    ],
    ...['Australia/Sydney', 'Pacific/Auckland', 'America/St_Johns', 'Africa/Casablanca', 'Europe/Dublin'],
    ...['Pacific/Apia', 'UTC', 'GMT', 'Etc/GMT+5', 'EST5EDT', 'Nowhere/City', '', undefined],
    ...['CET-1CEST,M3.5.0,M10.5.0/3', '<+03>-3', 'NZST-12NZDT,M9.5.0,M4.1.0/3', 'XYZ4', 'ABC', ':CET-1'],
    ...['CET-1CEST,M3.2.0,M11.1.0', 'AAA3BBB2:30:15,J60/1:30,300/-5', '/usr/share/zoneinfo/Asia/Tokyo'],
  ])('TZ=%s', (tz) => {
    const env: NodeJS.ProcessEnv = { ...process.env, TZ: tz };
    if (tz === undefined) delete env.TZ;
    const text = TIMES.map((seconds) => `@${seconds}`).join('\n');
    const theirs = execFileSync(DATE as string, ['-f', '-', '+%F %T %z %Z'], { env, input: text }).toString();
    expect(TIMES.map((seconds) => shown(tz, seconds))).toEqual(theirs.trimEnd().split('\n'));
  });
});
