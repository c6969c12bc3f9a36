// Every function of these extensions with random arguments: whatever it is given, it gives a value of its type
// or fails the task; nothing else leaves it. The seed is fixed.

import { describe, expect, it } from 'vitest';
import type { Extension } from '../../../../daemon/contract/extension.ts';
import { VclFailure } from '../../../../daemon/contract/failure.ts';
import { cookie } from '../../../../daemon/extensions/cookie/cookie.ts';
import { digest } from '../../../../daemon/extensions/digest/digest.ts';
import { header } from '../../../../daemon/extensions/header/header.ts';
import { math } from '../../../../daemon/extensions/math/math.ts';
import { std } from '../../../../daemon/extensions/std/std.ts';
import { str } from '../../../../daemon/extensions/str/str.ts';
import { uuid } from '../../../../daemon/extensions/uuid/uuid.ts';
import { variablesExtension } from '../../../../daemon/extensions/var/var.ts';
import { type Param, parseSignature } from '../../../../daemon/vcl/check/signature.ts';
import { VclIp } from '../../../../daemon/vcl/runtime/ip.ts';
import { subValue } from '../../../../daemon/vcl/runtime/sub-value.ts';
import { BoundedRegex } from '../../../../queries/regex/bounded-regex.ts';
import { runs } from '../../../harness/runs.ts';
import { fakeDirector, type Task, task } from '../../vcl/fake-task.ts';

const ROUNDS = runs(150);

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = generator(20_261_121);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

const PIECES = [
  ...[
    '',
    ' ',
    '\t',
    '0',
    '1',
    '9',
    '-',
    '+',
    '.',
    ',',
    ';',
    '=',
    '&',
    '?',
    '%',
    '\\',
    '[',
    ']',
    '*',
    ':',
    '/',
  ],
  ...[
    '\0',
    '\n',
    '\r\n',
    '\xff',
    '\x7f',
    'a',
    'b=1',
    's',
    'ms',
    'k',
    'GMT',
    '%Y',
    '%99999Y',
    '[!a-',
    '[[:',
    '::1',
  ],
  ...[
    '127.0.0.1',
    '1e9',
    'Sun, 06 Nov 1994 08:49:37 GMT',
    '__proto__',
    'constructor',
    '999999999999999999999',
  ],
];
const NUMBERS = [0, -0, 1, -1, 0.5, -0.5, 1e9, -1e9, 1e15, -1e15, 1e18, 2 ** 63, 1e300, -1e300];

function text(): string {
  let out = '';
  for (let n = Math.floor(random() * 6); n > 0; n--) out += pick(PIECES).repeat(random() < 0.02 ? 3000 : 1);
  return out;
}

function value({ type, values }: Param, t: Task): unknown {
  switch (type) {
    case 'STRING':
      return random() < 0.15 ? null : text();
    case 'INT':
      return Math.trunc(pick(NUMBERS));
    case 'BYTES':
      return Math.trunc(Math.abs(pick(NUMBERS)));
    case 'REAL':
    case 'DURATION':
    case 'TIME':
      return pick(NUMBERS);
    case 'BOOL':
      return random() < 0.5;
    case 'IP':
      return pick([new VclIp('127.0.0.1', 80), new VclIp('::1', 0), new VclIp('', 0)]);
    case 'BACKEND':
      return pick([null, fakeDirector('x')]);
    case 'ENUM':
      return pick(values ?? []);
    case 'SUB':
      return pick([null, subValue('s', 0xffff, () => 0)]);
    case 'REGEX':
      return pick(['a', '^', '(.)', '[^=]+', '(?i)X-', '(a+)+$', '']).length >= 0 ? pick(REGEXES) : null;
    case 'HTTP':
      return pick([t.req.http, t.req.resp]);
    case 'HEADER':
      return { http: pick([t.req.http, t.req.resp]), name: pick(['Host', 'X-A', '', 'a b', text()]) };
    default:
      throw new Error(`no value of type ${type}`);
  }
}

const REGEXES = ['a', '^', '(.)', '[^=]+', '(?i)X-', '(a+)+$', ''].map((p) => new BoundedRegex(p));

const RETURNS: Record<string, (v: unknown) => boolean> = {
  VOID: () => true,
  STRING: (v) => v === null || typeof v === 'string',
  BOOL: (v) => typeof v === 'boolean',
  INT: (v) => Number.isInteger(v),
  BYTES: (v) => Number.isInteger(v) && (v as number) >= 0,
  REAL: (v) => typeof v === 'number',
  DURATION: (v) => typeof v === 'number',
  TIME: (v) => typeof v === 'number',
  IP: (v) => v instanceof VclIp,
  BACKEND: (v) => v === null || typeof v === 'object',
  BLOB: (v) => v === null || v instanceof Uint8Array,
  HEADER: (v) => typeof v === 'object' && v !== null && 'http' in v,
};

describe.each(
  [std, cookie, header, str, variablesExtension, math, digest, uuid].map((e): [string, Extension] => [
    e.name,
    e,
  ]),
)('%s', (_name, extension) => {
  it.each(Object.keys(extension.functions))('%s takes anything', (name) => {
    const f = extension.functions[name];
    if (f === undefined) throw new Error('no such function');
    const signature = parseSignature(f.signature);
    const t = task('sub vcl_recv { return (synth(200)); }');
    t.run('recv');
    for (let round = 0; round < ROUNDS; round++) {
      for (const http of [t.req.http, t.req.resp]) {
        http.reset();
        http.log = t.log;
        http.add('X-A', text().replace(/[\0-\x1f\x7f]/g, ''));
        http.add('Host', 'a');
      }
      t.log.lines.length = 0;
      t.ctx.priv = null;
      t.ctx.failure = null;
      const args = signature.params.map((p) =>
        (p.optional || p.fallback !== undefined) && random() < 0.3 && p.optional ? undefined : value(p, t),
      );
      let result: unknown;
      try {
        result = f.call(t.ctx, ...args);
      } catch (e) {
        expect(e, JSON.stringify(args)).toBeInstanceOf(VclFailure);
        continue;
      }
      expect(RETURNS[signature.returns]?.(result), `${JSON.stringify(args)} gave ${String(result)}`).toBe(
        true,
      );
      for (const http of [t.req.http, t.req.resp]) {
        const bad = http.lines.slice(0, http.n).filter((l) => !/^[\w!#$%&'*+.^`|~-]+:[^\0\r\n]*$/.test(l));
        expect(bad, JSON.stringify(args)).toEqual([]);
      }
    }
  });
});
