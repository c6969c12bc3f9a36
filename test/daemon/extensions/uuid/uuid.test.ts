// The extension uuid: identifiers of names beside those of RFC 9562, and others by their form and order.
import { describe, expect, it } from 'vitest';
import { uuid } from '../../../../daemon/extensions/uuid/uuid.ts';
import { task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import uuid; backend d none;';

function run(expression: string) {
  const t = task(`${HEAD} sub vcl_recv { set req.http.r = ${expression}; return (pass); }`);
  expect(t.run('recv')).toBe('pass');
  return { r: t.req.http.get('r'), errors: t.log.of('VCL_Error') };
}

const many = (name: string): string[] =>
  Array.from({ length: 1000 }, () => uuid.functions[name]?.call({} as never) as string);

/** In steps of 100 ns since 1582. */
function timeOf(text: string): bigint {
  const [low, mid, high] = text.split('-') as [string, string, string];
  return BigInt(`0x${high.slice(1)}${mid}${low}`);
}

describe('identifiers of names', () => {
  // RFC 9562 appendices A.2 and A.4.
  it('are those of the RFC', () => {
    expect(run('uuid.uuid_v3("ns:DNS", "www.example.com")').r).toBe('5df41881-3aed-3515-88a7-2f4a814cf09e');
    expect(run('uuid.uuid_v5("ns:DNS", "www.example.com")').r).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  });

  it('take a namespace by its name or as a UUID in either case', () => {
    const byName = run('uuid.uuid_v5("ns:DNS", "a")').r;
    expect(run('uuid.uuid_v5("6BA7B810-9dad-11d1-80b4-00c04fd430c8", "a")').r).toBe(byName);
    const all = ['nil', 'ns:DNS', 'ns:URL', 'ns:OID', 'ns:X500'].map(
      (n) => run(`uuid.uuid_v3("${n}", "a")`).r,
    );
    expect(new Set(all).size).toBe(5);
  });

  it.each(['ns:dns', '', '6ba7b810-9dad-11d1-80b4-00c04fd430c', '6ba7b8109dad11d180b400c04fd430c8'])(
    'are unset in the namespace %j, and the log says why',
    (namespace) => {
      const { r, errors } = run(`uuid.uuid_v3("${namespace}", "a")`);
      expect(r).toBeFalsy();
      expect(errors).toEqual([`uuid.uuid_v3(): "${namespace}" is not a namespace`]);
    },
  );
});

describe('identifiers that are new each time', () => {
  it.each([
    ['uuid', 1],
    ['uuid_v1', 1],
    ['uuid_v4', 4],
    ['get_rand_uuid', 4],
  ])('%s has version %d, and never comes twice', (name, version) => {
    const all = many(name);
    expect(new Set(all).size).toBe(all.length);
    for (const text of all)
      expect(text).toMatch(
        new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${version}[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
      );
  });

  it('of version 1 have the time, in order, and a node that is no network card', () => {
    const before = BigInt(Date.now());
    const all = many('uuid_v1');
    const times = all.map(timeOf);
    expect(times).toEqual([...times].sort((a, b) => (a < b ? -1 : 1)));
    const milliseconds = ((times[0] as bigint) - 122_192_928_000_000_000n) / 10_000n;
    expect(Number(milliseconds - before)).toBeLessThan(60_000);
    expect(milliseconds).toBeGreaterThanOrEqual(before);
    const node = all[0]?.split('-')[4] as string;
    expect(Number.parseInt(node.slice(0, 2), 16) & 1).toBe(1);
    expect(new Set(all.map((text) => text.split('-')[4])).size).toBe(1);
  });
});
