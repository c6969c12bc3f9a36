import { describe, expect, it } from 'vitest';
import { groupLines } from '../../../console/ncsa/render-groups.ts';
import { DEFAULT_FORMAT } from '../../../console/ncsa/specifiers.ts';
import { parseTemplate } from '../../../console/ncsa/template.ts';
import { localTime } from '../../../protocol/local-time.ts';
import { encodeRecord } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { strftime } from '../../../protocol/strftime.ts';
import { Tag, type TagName } from '../../../protocol/tables/tags.ts';

const RECORDS: readonly (readonly [number, string])[] = [
  [Tag.Begin, 'req 1 rxreq'],
  [Tag.Timestamp, 'Start: 1700000000.250000 0.000000 0.000000'],
  [Tag.ReqURL, '/a?b'],
  [Tag.VCL_call, 'HIT'],
  [Tag.VCL_Log, 'key:"v"'],
  [Tag.Timestamp, 'Resp: 1700000001.750000 1.500000 0.000000'],
];
const TX: LogTransaction = {
  level: 1,
  type: 'request',
  reason: 'rxreq',
  vxid: 2,
  parent: 1,
  records: Buffer.concat(RECORDS.map(([tag, text]) => encodeRecord(tag, 2, 'c', text))),
};

function line(format: string, json = false, tx = TX, newer = false): string {
  const template = parseTemplate(format, json);
  if (typeof template === 'string') return template;
  const client = tx.type === 'request';
  const options = { client, backend: !client, esi: false, whole: false, json, newer };
  return groupLines([[tx]], template, options);
}

/** The transaction with records before or after its own. */
function around(...extra: readonly (readonly [number, string])[]): LogTransaction {
  const more = Buffer.concat(extra.map(([tag, text]) => encodeRecord(tag, 2, 'c', text)));
  return { ...TX, records: Buffer.concat([more, TX.records]) };
}

describe('access lines', () => {
  it('know the neutral names and those of Varnish', () => {
    expect(line('%{Proxy:handling}x %{Varnish:handling}x %{Proxy:side}x %{Proxy:vxid}x')).toBe(
      'hit hit c 2\n',
    );
    expect(line('%{Proxy:nothing}x')).toBe('Unknown formatting extension: Proxy:nothing');
    expect(line('%{Proxy:toString}x')).toBe('Unknown formatting extension: Proxy:toString');
  });

  it('tell times and durations', () => {
    expect(line('%{sec}t %{msec}t %{msec_frac}t %{usec_frac}t')).toBe(
      '1700000000 1700000000250 250 250000\n',
    );
    expect(line('%T %{ms}T %D')).toBe('1 1500 1500000\n');
  });

  it('quote values, and have empty values in JSON', () => {
    expect(line('%{VCL_Log:key}x %m %s')).toBe('\\"v\\" - -\n');
    expect(line('"%m" %s', true)).toBe('"" 0\n');
  });

  it('are JSON whatever the bytes', () => {
    const value = (bytes: string): string => {
      const tx = around([Tag.ReqMethod, bytes], [Tag.ReqHeader, `X-A: ${bytes}`], [Tag.RespStatus, bytes]);
      const text = line('{"m":"%m","a":"%{X-A}i","s":%s,"l":"%{VSL:ReqMethod}x"}', true, tx);
      const parsed = JSON.parse(Buffer.from(text, 'latin1').toString('utf8'));
      // Nothing had to be replaced, which would be the mark of bytes that are no text.
      expect(Buffer.from(text, 'latin1').toString('utf8')).not.toContain('\ufffd');
      expect(parsed).toEqual({ m: parsed.m, a: parsed.m, s: parsed.s, l: parsed.m });
      return parsed.m;
    };
    expect(value(Buffer.from('Grüße').toString('latin1'))).toBe('Grüße');
    expect(value('\xff"\\\x01\x7f')).toBe('\xff"\\\x01\x7f');
    expect(value('\xc3(')).toBe('\xc3(');
    expect(value('007')).toBe('007');
    for (let c = 1; c < 256; c++) value(`a${String.fromCharCode(c)}b`);
  });

  it('take a value from the key that is asked for alone', () => {
    expect(line('%{VCL_Log:key}x', false, around([Tag.VCL_Log, 'keyed:no'], [Tag.VCL_Log, 'ke:no']))).toBe(
      '\\"v\\"\n',
    );
  });

  it('have no line for a request that began again', () => {
    expect(line('%m', false, around([Tag.VCL_return, 'lookup']))).toBe('-\n');
    expect(line('%m', false, around([Tag.VCL_return, 'restart']))).toBe('');
  });

  it('have no line for a time that the log does not tell', () => {
    const template = parseTemplate('%t', false);
    if (typeof template === 'string') throw new Error(template);
    const bare = { ...TX, records: encodeRecord(Tag.Begin, 2, 'c', 'req 1 rxreq') };
    const options = { client: true, backend: false, esi: false, whole: false, json: false, newer: false };
    expect(groupLines([[bare]], template, options)).toBe('');
  });
});

describe('strftime', () => {
  it('knows the conversions of the C locale', () => {
    // A Thursday, the first of the year 1970, in whatever zone: noon UTC is that day nearly everywhere.
    const noon = 43_200 + new Date(43_200_000).getTimezoneOffset() * 60;
    expect(strftime('%Y-%m-%d %H:%M:%S %a %B %j %V %G %u %I%p %e|%-d|%%|%Q', localTime(noon))).toBe(
      '1970-01-01 12:00:00 Thu January 001 01 1970 4 12PM  1|1|%|%Q',
    );
  });
});

/** A transaction of records as text. */
function reported(type: 'request' | 'bereq', text: string): LogTransaction {
  const side = type === 'request' ? 'c' : 'b';
  const records = text
    .trim()
    .split('\n')
    .map((record) => {
      const [, tag = '', payload = ''] = /^\s*(\S+) ?(.*)$/.exec(record) ?? [];
      return encodeRecord(Tag[tag as TagName], 2, side, payload);
    });
  const start = encodeRecord(Tag.Timestamp, 2, side, 'Start: 1700000000.250000 0.000000 0.000000');
  return { ...TX, type, records: Buffer.concat([start, ...records]) };
}

const CLIENT = reported(
  'request',
  `ReqHeader A: in
   ReqHeader A: in2
   ReqHeader B: in
   VCL_call RECV
   ReqUnset A: in
   ReqUnset A: in2
   ReqHeader A: vcl
   ReqUnset B: in
   ReqHeader C: c1
   ReqUnset C: c1
   ReqHeader C: c2
   VCL_call MISS
   RespHeader Y: one
   RespHeader Z: gone
   VCL_call DELIVER
   RespUnset Y: one
   RespHeader Y: two
   RespUnset Z: gone`,
);
const FETCH = reported(
  'bereq',
  `BereqHeader A: in
   BereqHeader B: in
   VCL_call BACKEND_FETCH
   BereqUnset A: in
   BereqHeader A: sent
   BereqUnset B: in
   BerespHeader Y: first
   BerespHeader Y: second
   BerespHeader Z: came
   VCL_call BACKEND_RESPONSE
   BereqHeader A: late
   BerespUnset Z: came
   BerespHeader Y: vcl`,
);
const HEADERS = '%{A}i %{B}i %{C}i %{Y}o %{Z}o';

describe('headers that a program changes', () => {
  it('are shown as the last of them says, as in Varnish 7.1', () => {
    expect(line(HEADERS, false, CLIENT)).toBe('vcl in c2 two gone\n');
    expect(line(HEADERS, false, FETCH)).toBe('late in - vcl came\n');
  });

  it('are shown as the other side has seen them, as since Varnish 7.7', () => {
    expect(line(HEADERS, false, CLIENT, true)).toBe('in in - two -\n');
    expect(line(HEADERS, false, FETCH, true)).toBe('sent - - first came\n');
  });

  it.each([false, true])('are the first or the last of all where that is asked for, newer: %s', (newer) => {
    const of = (which: string): string => line(HEADERS.replaceAll('}', `:${which}}`), false, CLIENT, newer);
    expect(of('first')).toBe('in in c1 one gone\n');
    expect(of('last')).toBe('vcl in c2 two gone\n');
  });
});

describe('the handling', () => {
  it.each([
    ['HitMiss 3 10', 'MISS', 'miss', 'hitmiss'],
    ['HitPass 3 10', 'PASS', 'pass', 'hitpass'],
    ['HitMiss 3 10', 'HIT', 'hit', 'hit'],
  ])('after %s and vcl_%s is %s, and %s since Varnish 7.7', (marker, method, before, since) => {
    const tx = reported('request', `VCL_call RECV\n${marker}\nVCL_call ${method}`);
    const shown = (newer: boolean): string => line('%{Varnish:handling}x', false, tx, newer);
    expect([shown(false), shown(true)]).toEqual([`${before}\n`, `${since}\n`]);
  });
});

describe('the default format', () => {
  it('can be a part of another one', () => {
    const whole = line(DEFAULT_FORMAT).trimEnd();
    expect(line('<%{Varnish:default_format}x %s> %{Proxy:default_format}x')).toBe(`<${whole} -> ${whole}\n`);
    expect(line('%{Varnish:default_format}i')).toBe('-\n');
  });
});
