import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STATES } from '../../daemon/contract/program.ts';
import { compile } from '../../daemon/extensions/compile-with-builtins.ts';
import { findExtension } from '../../daemon/extensions/registry.ts';
import { formatDiagnostics } from '../../daemon/vcl/diagnostics.ts';
import { loadProgram } from '../../daemon/vcl/loader.ts';
import { builtinText } from '../../daemon/vcl/own-programs.ts';
import { RegexError } from '../../queries/regex/bounded-regex.ts';
import { parseRegex } from '../../queries/regex/parse-pattern.ts';
import { fakeDirector, task } from '../daemon/vcl/fake-task.ts';
import { runs } from '../harness/runs.ts';

const SEED = `vcl 4.1; import std; backend d { .host = "127.0.0.1"; .probe = { .url = "/"; } }
acl local +log { "127.0.0.1"; ! "10.0.0.0"/8; }
sub helper { if (client.ip ~ local) { return (pass); } elsif (req.url ~ "(?i)^/a+b") { set req.http.X = regsub(req.url, "a", "\\1") + 1.5; } }
sub vcl_recv { call helper; set req.ttl = 10s * 2; unset req.http.Cookie; if (std.integer(req.http.n, 3) > 2) { return (synth(200, "ok")); } }
sub vcl_deliver { set resp.http.x = obj.hits + {"a"} + resp.status; std.log("x" + now); }
`;
const WORDS = [
  ...SEED.split(/(\W)/).filter((w) => w.trim() !== ''),
  ...[
    'sub',
    'vcl_recv',
    'req.http.x',
    '{',
    '}',
    '(',
    ')',
    ';',
    '"',
    '{"',
    '"}',
    '/*',
    '*/',
    '+',
    '-',
    '~',
    '!',
    '0',
    '1y',
    'C{',
    ':',
    '.',
    'include',
    'new',
    'return',
    'set',
    'é',
    '\u0000',
    '99999999999999999',
  ],
];
const options = { resolveHost: () => [], readFile: () => SEED };

function attempt(text: string): void {
  const r = compile({ name: 'fuzz', text }, options);
  if (r.program === undefined) {
    expect(r.errors.length).toBeGreaterThan(0);
    expect(formatDiagnostics(r.errors)).toContain('fuzz');
    return;
  }
  const directors = new Map(r.program.backends.map((b) => [b.name, fakeDirector(b.name)]));
  loadProgram('fuzz', r.program, directors, findExtension);
}

describe('the compiler', () => {
  it('answers any bytes with a program or with diagnostics', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (s) => {
        attempt(s);
        attempt(`vcl 4.1; backend d none; ${s}`);
      }),
      { numRuns: runs(60) },
    );
  });

  it('answers programs cut up and put together anew', () => {
    const edits = fc.array(fc.tuple(fc.nat(WORDS.length), fc.nat(4), fc.constantFrom(...WORDS)), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(edits, (list) => {
        const words = SEED.split(/(\W)/);
        for (const [at, drop, insert] of list) words.splice(at % words.length, drop, insert);
        attempt(words.join(''));
      }),
      { numRuns: runs(120) },
    );
  });

  it('takes deep nesting without overflowing', () => {
    attempt(`vcl 4.1; backend d none; sub vcl_recv { if (${'('.repeat(5000)}1${')'.repeat(5000)}) {} }`);
    attempt(`vcl 4.1; backend d none; sub vcl_recv ${'{'.repeat(5000)}`);
    attempt(`vcl 4.1; backend d none; sub vcl_recv { set req.http.x = ${'"a" + '.repeat(5000)}"b"; }`);
    attempt(`vcl 4.1; backend d none; sub vcl_recv { if (req.url ~ "${'('.repeat(5000)}") {} }`);
    attempt(`vcl 4.1; backend d { .probe = ${'{ .probe = '.repeat(5000)}`);
    attempt(
      `vcl 4.1; backend d none; sub vcl_recv { if (req.url) {} ${'else if (req.url) {} '.repeat(3000)} }`,
    );
  });

  it('refuses any expression with a RegexError or compiles it', () => {
    const unit = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '\\',
      '?',
      '*',
      '+',
      '{',
      '}',
      '1',
      ',',
      '|',
      'a',
      '^',
      '$',
      '<',
      '=',
      '!',
      ':',
      'Q',
      'E',
      'P',
      '-',
      '.',
      'x',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (p) => {
        try {
          parseRegex(p);
        } catch (e) {
          expect(e).toBeInstanceOf(RegexError);
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('compiled programs', () => {
  it('end every state with a return code, whatever the headers hold', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('a', '1', '"', '\\', '\n', '\u0000', ' ', '-', '.'),
          maxLength: 12,
        }),
        (v) => {
          for (const state of STATES) {
            const t = task(SEED, { n: v, cookie: v });
            t.req.http.url = v;
            expect(t.run(state)).not.toBe('?');
            expect(t.log.of('VCL_Error').filter((l) => l.startsWith('Internal'))).toEqual([]);
          }
        },
      ),
      { numRuns: runs(5) },
    );
  });

  it('hold the builtin program alone', () => {
    expect(
      compile({ name: 'b', text: `vcl 4.1; backend d none;\n${builtinText().replace('vcl 4.0;', '')}` })
        .errors,
    ).toBeUndefined();
  });
});
