// The extension geoip2: values of addresses from files that the test writes, and files that are damaged.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openLocationFile } from '../../../../daemon/extensions/geoip2/location-file.ts';
import { encoded, locationDatabase, type Value } from '../../../harness/location-database.ts';
import { sampled } from '../../../harness/runs.ts';
import { task } from '../../vcl/fake-task.ts';

const box = mkdtempSync(join(tmpdir(), 'geoip2-'));
afterAll(() => rmSync(box, { recursive: true }));

const map = (fields: Readonly<Record<string, Value>>): Value => new Map(Object.entries(fields));

const JAPAN = map({
  country: map({ iso_code: 'JP', names: map({ en: 'Japan', ja: '日本' }) }),
  subdivisions: [map({ names: map({ en: 'Tokyo "13"' }) })],
  location: map({ latitude: { double: 35.6895 }, accuracy_radius: { uint16: 5 } }),
  all: [
    true,
    { uint32: 4_000_000_000 },
    { int32: -7 },
    { uint64: 2n ** 63n },
    { float: 0.5 },
    Buffer.from([65, 255]),
  ],
});
const VALUES = { '192.0.2.0/24': JAPAN, '198.51.100.7/32': 'alone', '2001:db8::/32': map({ v: 'six' }) };

let count = 0;
function file(bytes: Uint8Array): string {
  const path = join(box, `${count++}.mmdb`);
  writeFileSync(path, bytes);
  return path;
}

interface Answer {
  readonly value: string;
  readonly errors: readonly string[];
  readonly debug: readonly string[];
}

function ask(path: string, expression: string): Answer {
  const t = task(`vcl 4.1; import geoip2; import std; backend d none;
    sub vcl_init { new db = geoip2.geoip2("${path}"); }
    sub vcl_recv { set req.http.r = "<" + ${expression} + ">"; return (pass); }`);
  expect(t.run('init')).toBe('ok');
  expect(t.run('recv')).toBe('pass');
  return {
    value: t.req.http.get('r')?.slice(1, -1) ?? '',
    errors: t.log.of('Error'),
    debug: t.log.of('Debug'),
  };
}

function refusal(path: string): string {
  const t = task(
    `vcl 4.1; import geoip2; backend d none; sub vcl_init { new db = geoip2.geoip2("${path}"); } sub vcl_recv { if (db.lookup("a", client.ip) == "a") { return (pass); } }`,
  );
  expect(t.run('init')).toBe('fail');
  return t.log.of('VCL_Error').join('\n').replace(path, 'FILE');
}

const address = (text: string): string => `std.ip("${text}", "0.0.0.0")`;

describe('a value of an address', () => {
  const path = file(locationDatabase(VALUES));

  it.each([
    ['country/iso_code', 'JP'],
    ['country/names/en', 'Japan'],
    ['country/names/ja', Buffer.from('日本').toString('latin1')],
    ['subdivisions/0/names/en', 'Tokyo "13"'],
    ['location/latitude', '35.689500'],
    ['location/accuracy_radius', '5'],
    ['all/0', 'true'],
    ['all/1', '4000000000'],
    ['all/2', '-7'],
    ['all/3', '9223372036854775808'],
    ['all/4', '0.500000'],
    ['all/5', 'A\xff'],
  ])('at %s is %j', (steps, expected) => {
    expect(ask(path, `db.lookup("${steps}", client.ip)`)).toEqual({ value: expected, errors: [], debug: [] });
  });

  it.each([
    ['subdivisions/0/names/en', '"Tokyo \\"13\\""'],
    ['all/5', '"A\xff"'],
    ['all/0', 'true'],
  ])('at %s is %s as JSON', (steps, expected) => {
    expect(ask(path, `db.lookup("${steps}", client.ip, true)`).value).toBe(expected);
  });

  it.each([
    ['', 'Invalid or missing path ()'],
    ['a//b', 'Invalid or missing path (a//b)'],
    ['1/2/3/4/5/6/7/8/9/10', 'Invalid or missing path (1/2/3/4/5/6/7/8/9/10)'],
    ['country', 'Unsupported data type (map)'],
    ['all', 'Unsupported data type (array)'],
  ])('at the path %j is empty, with an error in the log', (steps, words) => {
    const answer = ask(path, `db.lookup("${steps}", client.ip)`);
    expect(answer).toEqual({ value: '', errors: [`geoip2.lookup: ${words}`], debug: [] });
  });

  it.each([
    'nothing',
    'country/names/xx',
    'country/iso_code/x',
    'subdivisions/1',
    'subdivisions/x',
    'all/length',
    '__proto__',
    'country/constructor',
  ])('at %s is empty, as there is none', (steps) => {
    expect(ask(path, `db.lookup("${steps}", client.ip)`)).toEqual({
      value: '',
      errors: [],
      debug: [`geoip2.lookup: No data for this path (${steps})`],
    });
  });

  it('is empty for an address that is not in the file', () => {
    expect(ask(path, `db.lookup("v", ${address('203.0.113.1')})`)).toEqual({
      value: '',
      errors: [],
      debug: ['geoip2.lookup: No entry for this IP address (203.0.113.1)'],
    });
  });

  it.each([24, 28, 32] as const)(
    'is found in trees with records of %d bits, for both families',
    (recordSize) => {
      const sized = file(locationDatabase(VALUES, { recordSize }));
      expect(ask(sized, `db.lookup("country/iso_code", ${address('192.0.2.255')})`).value).toBe('JP');
      expect(ask(sized, `db.lookup("v", ${address('2001:db8:1::9')})`).value).toBe('six');
      expect(ask(sized, `db.lookup("v", ${address('2001:db9::1')})`).value).toBe('');
    },
  );

  it('is found in a file of IPv4 addresses, which has none of IPv6', () => {
    const four = file(locationDatabase({ '192.0.2.0/24': JAPAN }, { version: 4 }));
    expect(ask(four, 'db.lookup("country/iso_code", client.ip)').value).toBe('JP');
    expect(ask(four, `db.lookup("country/iso_code", ${address('c000:200::1')})`).errors).toEqual([
      'geoip2.lookup: the database has no IPv6 addresses (c000:200::1)',
    ]);
  });
});

describe('values that refer to others', () => {
  it('are followed', () => {
    const shared = encoded(map({ en: 'shared' }));
    const path = file(locationDatabase({ '192.0.2.0/24': map({ names: { pointer: 0 } }) }, { shared }));
    expect(ask(path, 'db.lookup("names/en", client.ip)').value).toBe('shared');
  });

  it('in a circle are an error in the log', () => {
    const shared = encoded(map({ a: { pointer: 0 } }));
    const path = file(locationDatabase({ '192.0.2.0/24': { pointer: 0 } }, { shared }));
    const answer = ask(path, 'db.lookup("a/a", client.ip)');
    expect(answer.value).toBe('');
    expect(answer.errors[0]).toMatch(/^geoip2\.lookup: the record is damaged/);
  });

  it('each twice, forty times over, take no longer than one after the other', () => {
    // Sixteen bytes each: a map of two fields with a pointer each.
    let shared = encoded(map({ a: 'end', b: 'end' }));
    const places = [0];
    for (let i = 0; i < 40; i++) {
      const pointer = places.at(-1) as number;
      places.push(shared.length);
      shared = Buffer.concat([shared, encoded(map({ a: { pointer }, b: { pointer } }))]);
    }
    const path = file(locationDatabase({ '192.0.2.0/24': { pointer: places.at(-1) as number } }, { shared }));
    expect(ask(path, 'db.lookup("a/b/a/b/a/b/a/b/a", client.ip)').errors).toEqual([
      'geoip2.lookup: Unsupported data type (map)',
    ]);
  });
});

describe('a file that cannot be used', () => {
  it('fails the load with its name and the reason', () => {
    expect(refusal(join(box, 'none.mmdb')).replace(join(box, 'none.mmdb'), 'FILE')).toBe(
      'geoip2.geoip2: FILE: No such file or directory',
    );
    expect(refusal(box)).toBe('geoip2.geoip2: FILE: it is not a regular file');
    expect(refusal(file(Buffer.from('text')))).toBe('geoip2.geoip2: FILE: it is not a MaxMind DB');
    expect(refusal(file(Buffer.alloc(0)))).toBe('geoip2.geoip2: FILE: it is not a MaxMind DB');
  });

  it('is not waited for when it is a pipe', () => {
    const pipe = join(box, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(refusal(pipe)).toBe('geoip2.geoip2: FILE: it is not a regular file');
  });

  it.each([
    ['binary_format_major_version', { uint16: 3 }],
    ['ip_version', { uint16: 5 }],
    ['record_size', { uint16: 20 }],
    ['node_count', { uint32: 1_000_000_000 }],
    ['node_count', 'many'],
  ] as const)('has a wrong %s', (name, value) => {
    expect(refusal(file(locationDatabase(VALUES, { description: [[name, value]] })))).toMatch(
      /^geoip2\.geoip2: FILE: it(?: is damaged|s format)/,
    );
  });

  it('may be damaged anywhere: a lookup then gives a text, and nothing else happens', () => {
    const whole = locationDatabase(VALUES);
    for (const at of sampled([...whole.keys()])) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8));
      const path = file(damaged);
      try {
        openLocationFile(path);
      } catch (error) {
        expect((error as Error).message).toMatch(/^it/);
        continue;
      }
      if (at % 7 === 0)
        expect(typeof ask(path, 'db.lookup("country/names/en", client.ip)').value).toBe('string');
    }
  });

  it('may be cut off anywhere', () => {
    const whole = locationDatabase(VALUES);
    for (const length of sampled([...whole.keys()]))
      expect(() => openLocationFile(file(whole.subarray(0, length)))).toThrow(/^it/);
  });
});

describe('a file in memory', () => {
  it('is one for all programs until it has changed', () => {
    const path = file(locationDatabase(VALUES));
    const first = openLocationFile(path);
    expect(openLocationFile(path)).toBe(first);
    rmSync(path);
    writeFileSync(path, locationDatabase({ '192.0.2.0/24': map({ v: 'new' }) }));
    expect(openLocationFile(path)).not.toBe(first);
    expect(ask(path, 'db.lookup("v", client.ip)').value).toBe('new');
  });
});
