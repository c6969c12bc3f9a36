// Declarations of Varnish 7.2 to 9.0: what may stay unused, and acls that are folded. The texts in the log are those of
// 7.7.0.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../daemon/extensions/compile-with-builtins.ts';
import { folded, type PlacedNetwork } from '../../../../daemon/vcl/check/fold-acl.ts';
import { SourceFile } from '../../../../daemon/vcl/diagnostics.ts';
import { packedAcl, VclAcl } from '../../../../daemon/vcl/runtime/acl.ts';
import { VclIp } from '../../../../daemon/vcl/runtime/ip.ts';
import { runs } from '../../../harness/runs.ts';
import { task } from '../fake-task.ts';

const SPAN = { file: new SourceFile('a.vcl', '', 0, null), start: 0, end: 0 };
const HEAD = 'vcl 4.1;\nbackend d none;\n';

function compiled(text: string): { errors: string[]; warnings: string[] } {
  const { errors, warnings } = compile({ name: 'a.vcl', text: HEAD + text }, {});
  return { errors: errors?.map((e) => e.message) ?? [], warnings: warnings.map((w) => w.message) };
}

describe('what the program calls unused', () => {
  const DECLARED = 'backend b none;\nprobe p { }\nacl a { "192.0.2.1"; }\nsub s { call t; }\nsub t { }\n';

  it('may stay unused, whether it is declared before or after', () => {
    expect(compiled(DECLARED).errors).toHaveLength(5);
    const output = 'unused b;\nunused p;\nunused a;\nunused s;\n';
    expect(compiled(DECLARED + output)).toEqual({ errors: [], warnings: [] });
    expect(compiled(output + DECLARED).errors).toEqual([]);
  });

  it('may be used all the same', () => {
    expect(
      compiled(`${DECLARED}unused b; unused p; unused a; unused s; sub vcl_recv { call s; }`).errors,
    ).toEqual([]);
  });

  it('is a name that programs of 7.1 may have given', () => {
    const used = 'sub vcl_recv { set req.backend_hint = unused; }';
    expect(compiled(`backend unused none; ${used}`).errors).toEqual([]);
    expect(compiled('acl unused { } sub vcl_recv { if (client.ip ~ unused) { } }').errors).toEqual([]);
    expect(compiled('sub unused { } sub vcl_recv { call unused; }').errors).toEqual([]);
    expect(compiled('unused unused; sub unused { }').errors).toEqual([]);
  });

  it('has to exist', () => {
    expect(compiled('unused nobody;').errors).toEqual([expect.stringContaining('nobody')]);
    expect(compiled('unused vcl_nothing;').errors).toHaveLength(1);
    expect(compiled('unused;').errors).toHaveLength(1);
    expect(compiled('backend b none; unused b').errors).not.toEqual([]);
  });

  it('says nothing about others', () => {
    expect(compiled(`${DECLARED}unused b;`).errors).toHaveLength(4);
  });
});

describe('names of declarations', () => {
  it('compare as themselves, also with others that are alike', () => {
    const t = task(`backend e { .host = "127.0.0.1"; } probe p { } probe q { }
      acl a { "192.0.2.1"; } acl b { "192.0.2.1"; }
      sub vcl_recv {
        set req.http.same = a == a && p == p && e == e && !(a != a) && !(p != p);
        set req.http.others = a == b || p == q || d == e;
        if (client.ip ~ a || client.ip ~ b) { set req.backend_hint = e; }
        set req.http.hint = req.backend_hint == e;
      }`);
    t.run('recv');
    expect(['same', 'others', 'hint'].map((name) => t.req.http.get(name))).toEqual(['true', 'false', 'true']);
  });
});

/** Values of VCL_acl for 192.0.2.1 and the warnings. */
function matched(acl: string): { log: string[]; warnings: string[] } {
  const text = `acl a ${acl} sub vcl_recv { if (client.ip ~ a) { } }`;
  const t = task(text);
  t.run('recv');
  return { log: t.log.of('VCL_acl'), warnings: compiled(text).warnings };
}

describe('a folded acl', () => {
  it('logs the joined network as 7.7.0 does, and the wider one of two', () => {
    expect(matched('+log +fold { "192.0.0.0"/23; "192.0.2.0"/23; }').log).toEqual([
      'MATCH a "192.0.0.0"/22 fixed: folded',
    ]);
    expect(matched('+log +fold { "192.0.2.1"; "192.0.0.0"/16; }').log).toEqual(['MATCH a "192.0.0.0"/16']);
    expect(matched('+log { "192.0.2.1"; "192.0.0.0"/16; }').log).toEqual(['MATCH a "192.0.2.1"']);
    expect(matched('+log -fold { "192.0.2.1"; "192.0.0.0"/16; }').log).toEqual(['MATCH a "192.0.2.1"']);
  });

  it('is reported entry by entry unless it says otherwise', () => {
    expect(matched('+fold { "192.0.0.0"/23; "192.0.2.0"/23; "192.0.3.1"; }').warnings).toEqual([
      expect.stringContaining('part of'),
      expect.stringContaining('/22'),
    ]);
    expect(matched('+fold(+report) { "192.0.0.0"/23; "192.0.2.0"/23; }').warnings).toHaveLength(1);
    expect(matched('+fold(-report) { "192.0.0.0"/23; "192.0.2.0"/23; }').warnings).toEqual([]);
  });

  it('is reported with a bounded number of warnings', () => {
    const entries = Array.from({ length: 500 }, (_, i) => `"10.0.${i >> 8}.${i & 255}";`).join(' ');
    const { warnings } = matched(`+fold { "10.0.0.0"/8; ${entries} }`);
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toContain('480');
  });

  it('refuses flags of flags that do not exist, and reports without folding', () => {
    for (const flags of ['+fold(+x)', '+log(+report)', '-fold(-report)', '+fold(report)', '+fold(-report']) {
      expect(compiled(`acl a ${flags} { "192.0.2.1"; } unused a;`).errors, flags).not.toEqual([]);
    }
  });

  it('never folds across a refusal', () => {
    const { log } = matched('+log +fold { "192.0.0.0"/16; !"192.0.2.0"/24; "192.0.2.1"; }');
    expect(log).toEqual(['MATCH a "192.0.2.1"']);
    const halves = matched('+log +fold { !"192.0.2.0"/24; "192.0.2.0"/25; "192.0.2.128"/25; }');
    expect(halves.log).toEqual(['MATCH a "192.0.2.0"/25']);
  });

  const byte = fc.constantFrom(0, 1, 127, 128, 254, 255);
  it.each([4, 16] as const)(
    'has the verdicts of the acl as written, with addresses of %i bytes',
    (length) => {
      const address = fc.array(byte, { minLength: length, maxLength: length });
      const network = fc.record({
        bytes: address,
        bits: fc.nat(length * 8),
        negate: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
      });
      const shown = (bytes: readonly number[]): string =>
        length === 4
          ? bytes.join('.')
          : bytes
              .flatMap((b, i) => (i % 2 === 0 ? [((b << 8) | (bytes[i + 1] as number)).toString(16)] : []))
              .join(':');
      fc.assert(
        fc.property(
          fc.array(network, { maxLength: 30 }),
          fc.array(address, { maxLength: 20 }),
          (made, addresses) => {
            const seen = new Map<string, boolean>();
            const networks = made.flatMap((one): PlacedNetwork[] => {
              const bytes = one.bytes.map(
                (b, i) => b & (0xff00 >> Math.min(8, Math.max(0, one.bits - 8 * i))) & 0xff,
              );
              const key = `${bytes}/${one.bits}`;
              // The compiler refuses an entry that is both.
              if ((seen.get(key) ?? one.negate) !== one.negate) return [];
              seen.set(key, one.negate);
              return [{ ...one, bytes, shown: key, span: SPAN }];
            });
            const plain = new VclAcl('a', packedAcl(false, networks));
            const fewer = folded(networks, null);
            const short = new VclAcl('a', packedAcl(false, fewer));
            expect(fewer.length).toBeLessThanOrEqual(networks.length);
            for (const bytes of [...addresses, ...networks.map((n) => n.bytes)]) {
              const ip = new VclIp(shown(bytes), 0);
              expect(short.allows(ip)).toBe(plain.allows(ip));
            }
          },
        ),
        { numRuns: runs(400) },
      );
    },
  );
});

describe('a backend', () => {
  it('may say how many fetches wait for a connection, and how long', () => {
    const text = `${HEAD}backend b { .host = "127.0.0.1"; .max_connections = 1; .wait_limit = 3; .wait_timeout = 1.5s; } unused b;`;
    const { program } = compile({ name: 'a.vcl', text }, {});
    expect(program?.backends[1]).toMatchObject({ maxConnections: 1, waitLimit: 3, waitTimeout: 1.5 });
    for (const wrong of ['.wait_limit = 1s;', '.wait_limit = -1;', '.wait_timeout = 3;'])
      expect(compiled(`backend b { .host = "127.0.0.1"; ${wrong} } unused b;`).errors, wrong).not.toEqual([]);
  });

  it('may be at an abstract socket, which has a name', () => {
    expect(compiled('backend b { .path = "@origin"; } unused b;')).toEqual({ errors: [], warnings: [] });
    for (const path of ['@', 'origin', `@${'a'.repeat(107)}`])
      expect(compiled(`backend b { .path = "${path}"; } unused b;`).errors, path).toHaveLength(1);
  });
});
