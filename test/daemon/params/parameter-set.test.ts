import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NoEffect } from '../../../daemon/params/absent.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';
import { showJson, showLong, showShort } from '../../../daemon/params/show.ts';
import { formatBytes, ParamError, parseBytes, UNLIMITED } from '../../../daemon/params/value.ts';
import { ABSENT_PARAMS, PARAMS, type ParamRow } from '../../../protocol/tables/params.ts';

const row = (name: string): ParamRow => Params.find(name) as ParamRow;
function refusal(name: string, text: string): string {
  const result = new Params().set(name, text);
  if (!(result instanceof ParamError)) throw new Error(`accepted: ${result}`);
  return result.text;
}
const attempt = (name: string, text: string): string => `\n(attempting to set param '${name}' to '${text}')`;

describe('the table', () => {
  it('has sound defaults: each is accepted as a value and shown as written', () => {
    const params = new Params();
    for (const r of PARAMS as readonly ParamRow[]) {
      expect(params.shown(r), r.name).toBe(r.default);
      if (r.default !== 'none') expect(params.set(r.name, r.default), r.name).not.toBeInstanceOf(ParamError);
      expect(params.shown(r), r.name).toBe(r.default);
    }
  });

  it('is in order, without a name that is also absent', () => {
    const names = PARAMS.map((r) => r.name);
    expect(names).toEqual([...names].sort());
    for (const name of names) expect(ABSENT_PARAMS.map((row) => row.name)).not.toContain(name);
  });
});

describe('descriptions of effects', () => {
  const text = readFileSync(new URL('../../../daemon/params/effects.md', import.meta.url), 'utf8');
  const reported = new Map([...text.matchAll(/^\| `(\w+)` \| (.*?) \| (.*?) \|$/gm)].map((m) => [m[1], m]));

  it('is a row for each parameter, and none without one', () => {
    expect([...reported.keys()]).toEqual(PARAMS.map((r) => r.name));
  });

  it('is the same in its description, where there is none', () => {
    const without = (PARAMS as readonly ParamRow[]).filter((r) => /^No effect|No effect yet/.test(r.help));
    const never = without.filter((r) => r.name !== 'vsl_buffer').map((r) => r.name);
    expect([...reported].filter(([, m]) => m[3] === 'never').map(([name]) => name)).toEqual(never);
    for (const [, m] of reported) expect(m[3] === 'never', m[1]).toBe(m[2]?.startsWith('nowhere'));
  });
});

describe('values', () => {
  it.each([
    ['default_ttl', '5', 5],
    ['default_ttl', '3.5s', 3.5],
    ['default_ttl', '.5', 0.5],
    ['default_ttl', '10ms', 0.01],
    ['default_ttl', '2h', 7200],
    ['default_ttl', '1.2349', 1.234],
    ['default_ttl', '-0', 0],
    ['http_req_size', '64k', 65536],
    ['http_req_size', '64KB', 65536],
    ['http_req_size', '1.5k', 1536],
    ['http_req_size', '65537b', 65537],
    ['vsl_space', '100m', 104_857_600],
    ['gzip_level', '9', 9],
    ['max_vcl', 'unlimited', UNLIMITED],
    ['max_retries', ' 5', 5],
    ['max_retries', '+5', 5],
    ['max_retries', '0x1F', 31],
    ['max_retries', '010', 8],
    ['max_retries', '-1', UNLIMITED],
    ['max_retries', '99999999999', UNLIMITED],
    ['http_gzip_support', 'off', false],
    ['http_gzip_support', 'Enable', true],
    ['debug', '+vclrel,+syncvsl', '+syncvsl,+vclrel'],
    ['feature', '+esi_disable_xml_check', '+esi_disable_xml_check,+validate_headers'],
    ['feature', 'none', 'none'],
    ['id_header', 'X-Varnish', 'X-Varnish'],
    ['id_header', 'x_id', 'x_id'],
    ['feature', 'default', '+validate_headers'],
    ['feature', '+esi_remove_bom -validate_headers', '+esi_remove_bom'],
    ['feature', '', '+validate_headers'],
    ['feature', '+http2', '+http2,+validate_headers'],
    ['feature', '-http2,-validate_headers', '-http2'],
    ['feature', '-http2 +http2', '+http2,+validate_headers'],
    ['vcl_path', '/a:/b', '/a:/b'],
  ])('%s=%s', (name, text, value) => {
    const params = new Params();
    expect(params.set(name, text)).toBe(value);
    if (typeof value !== 'string') expect(params.hot[name as 'default_ttl']).toBe(Number(value));
  });

  it.each([
    ['default_ttl', 'abc', 'Invalid number (abc)\n'],
    ['default_ttl', '1x', 'Invalid number (1x)\n'],
    ['default_ttl', '1constructor', 'Invalid number (1constructor)\n'],
    ['default_ttl', 'inf', 'Invalid number (inf)\n'],
    ['default_ttl', '1e2', 'Invalid number (1e2)\n'],
    ['default_ttl', '+5', 'Invalid number (+5)\n'],
    ['default_ttl', '', 'Invalid number ()\n'],
    ['default_ttl', '1234567890123', 'Too many digits (1234567890123)\n'],
    ['max_retries', '', 'Illegal Min: 0\n'],
    ['max_retries', '5 ', 'Not a number (5 )\n'],
    ['max_retries', '08', 'Not a number (08)\n'],
    ['gzip_level', '-1', 'Must be no more than 9\n'],
    ['default_ttl', '-1', 'Must be greater or equal to 0.000\n'],
    ['tcp_keepalive_intvl', '200', 'Must be less than or equal to 100.000\n'],
    ['gzip_level', '99', 'Must be no more than 9\n'],
    ['gzip_level', '3.5', 'Not a number (3.5)\n'],
    ['http_max_hdr', '10', 'Must be at least 32\n'],
    ['http_max_hdr', '64k', 'Not a number (64k)\n'],
    ['vsl_reclen', '20000', 'Must be no more than 16372\n\n'],
    ['http_req_size', '64', 'Must be at least 0.25k\n'],
    [
      'http_req_size',
      '10x',
      "Could not convert to bytes.\nUnknown BYTES unit of measurement ([KMGTP][B])\n  Try something like '80k' or '120M'\n",
    ],
    [
      'cli_limit',
      '130.3',
      "Could not convert to bytes.\nFractional BYTES not allowed\n  Try something like '80k' or '120M'\n",
    ],
    [
      'cli_limit',
      'abc',
      "Could not convert to bytes.\nInvalid number\n  Try something like '80k' or '120M'\n",
    ],
    ...['.5k', '5.k', '.'].map((text): [string, string, string] => [
      'cli_limit',
      text,
      "Could not convert to bytes.\nInvalid number\n  Try something like '80k' or '120M'\n",
    ]),
    ...['1234567890123456', '1.2345k'].map((text): [string, string, string] => [
      'cli_limit',
      text,
      "Could not convert to bytes.\nToo many digits\n  Try something like '80k' or '120M'\n",
    ]),
    ['auto_restart', 'maybe', 'use "on" or "off"\n'],
    ['vsl_mask', 'Hash', "Missing '+' or '-' (Hash)\n"],
    ['vsl_mask', '+Hash,', "Missing '+' or '-' ()\n"],
    ['vsl_mask', 'default,+Hash', "Missing '+' or '-' (default)\n"],
    ['debug', 'default', "Missing '+' or '-' (default)\n"],
    ['vsl_mask', '+Nosuch', 'Unknown VSL tag (+Nosuch)\n'],
    ['feature', '+http2,-nosuch', 'Unknown feature bit (-nosuch)\n'],
    ...['X Id', '', 'Id:', 'X-Ìd', `X-${'n'.repeat(125)}`].map((text): [string, string, string] => [
      'id_header',
      text,
      `Not the name of a header (${text}): letters, digits, "-" and "_" make one, 126 at most\n`,
    ]),
    ...['Content-Length', 'AGE', 'via', 'Connection', 'Date'].map((text): [string, string, string] => [
      'id_header',
      text,
      `${text} has a meaning of its own in HTTP: choose another name, such as X-Proxy-Id or X-Varnish\n`,
    ]),
  ])('refuses %s=%s', (name, text, message) => {
    expect(refusal(name, text)).toBe(message + attempt(name, text));
  });

  it('bounds one parameter by another', () => {
    const params = new Params();
    expect(params.set('vsl_reclen', '1k')).toBe(1024);
    expect(params.set('vsl_buffer', '1000')).toMatchObject({
      text: `Must be at least 1036\n${attempt('vsl_buffer', '1000')}`,
    });
    expect(params.set('vsl_buffer', '2k')).toBe(2048);
    expect(params.set('vsl_reclen', '3k')).toMatchObject({
      text: `Must be no more than 2036\n\n${attempt('vsl_reclen', '3k')}`,
    });
    expect(showLong(params, row('vsl_reclen'))).toContain('Maximum is: 2036\n');
  });

  it('applies nothing of a set with an error in it', () => {
    const params = new Params();
    params.set('vsl_mask', '+Hash,+Nosuch');
    expect(params.isDefault(row('vsl_mask'))).toBe(true);
  });

  it('distinguishes HTTP/2 switched off from the default', () => {
    const params = new Params();
    const state = (): [boolean, boolean] => [params.feature('http2'), params.featureDenied('http2')];
    expect(state()).toEqual([false, false]);
    params.set('feature', '-HTTP2,+wait_silo');
    expect(state()).toEqual([false, true]);
    expect(params.shown(row('feature'))).toBe('-http2,+wait_silo,+validate_headers');
    expect(params.bits(row('feature'))).toEqual(['wait_silo', 'validate_headers']);
    expect(params.isDefault(row('feature'))).toBe(false);
    params.set('feature', '-wait_silo');
    expect(state()).toEqual([false, true]);
    params.set('feature', '+http2');
    expect(state()).toEqual([true, false]);
    params.set('feature', '-http2');
    params.set('feature', 'default');
    expect(state()).toEqual([false, false]);
    params.set('feature', '-http2,-wait_silo,-validate_headers');
    params.set('feature', 'none');
    expect(state()).toEqual([false, false]);
    expect(params.set('feature', '-short_panic')).toBe('none');
  });

  it('masks tags by any spelling, shown in the order of the tags', () => {
    const params = new Params();
    params.set('vsl_mask', '+hash,-reqmethod');
    expect(params.masked()).not.toContain('Hash');
    expect(params.masked()).toContain('ReqMethod');
    expect(params.text('vsl_mask')).toMatch(/^-Debug,-BackendReuse,-ReqMethod,/);
    params.set('vsl_mask', 'default');
    expect(params.isDefault(row('vsl_mask'))).toBe(true);
  });

  it('explains what is absent, unknown or protected', () => {
    const params = new Params();
    expect(params.set('thread_pools', '1')).toEqual(
      new NoEffect(
        'Parameter "thread_pools" has no effect here: requests do not run on a pool of threads; worker_threads says how many threads serve clients, with an event loop each.',
      ),
    );
    expect(params.set('nosuch', '1')).toMatchObject({ text: 'Unknown parameter "nosuch".' });
    expect(params.set('constructor', '1')).toMatchObject({ text: 'Unknown parameter "constructor".' });
    params.protect('default_ttl');
    expect(params.set('default_ttl', '1')).toMatchObject({ text: 'parameter "default_ttl" is protected.' });
    expect(params.reset('default_ttl')).toMatchObject({ isProtected: true });
    expect(JSON.parse(showJson(params, row('default_ttl'))).flags).toEqual(['obj_sticky', 'protected']);
  });

  it('survives the way to another process and back to the default', () => {
    const params = new Params();
    params.set('default_ttl', '7');
    params.set('feature', '+esi_remove_bom');
    const copy = new Params(JSON.parse(JSON.stringify(params.snapshot())));
    expect(copy.num('default_ttl')).toBe(7);
    expect(copy.feature('esi_remove_bom')).toBe(true);
    copy.reset('default_ttl');
    expect(copy.num('default_ttl')).toBe(120);
  });
});

describe('sizes', () => {
  it.each([
    [0, '0b'],
    [255, '255b'],
    [256, '0.25k'],
    [384, '384b'],
    [768, '0.75k'],
    [1024, '1k'],
    [1536, '1.50k'],
    [49152, '48k'],
    [65537, '65537b'],
    [262_144, '0.25M'],
    [83_886_080, '80M'],
    [268_435_456, '0.25G'],
    [2 ** 32, '4G'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it('reads back what it shows', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (n) => {
        expect(parseBytes(formatBytes(n))).toBe(n);
      }),
    );
  });
});

describe('a default that the machine decides', () => {
  const params = new Params({}, { worker_threads: '6' });

  it('is the value until another one is set, and after a reset', () => {
    expect(params.num('worker_threads')).toBe(6);
    expect(showShort(params, row('worker_threads'))).toMatch(/ 6 \[threads\] \(default\)\n$/);
    expect(params.set('worker_threads', '1')).toBe(1);
    expect(showShort(params, row('worker_threads'))).toMatch(/ 1 \[threads\]\n$/);
    expect(showLong(params, row('worker_threads'))).toContain('Default is: 6\n');
    expect(showJson(params, row('worker_threads'))).toContain('"default": "6"');
    expect(params.reset('worker_threads')).toBe(6);
    expect(params.isDefault(row('worker_threads'))).toBe(true);
  });
});

describe('showing', () => {
  it('one line', () => {
    const params = new Params();
    expect(showShort(params, row('default_ttl'))).toBe(
      'default_ttl                   120.000 [seconds] (default)\n',
    );
    params.set('default_ttl', '5');
    expect(showShort(params, row('default_ttl'))).toBe('default_ttl                   5.000 [seconds]\n');
  });

  it('the long form', () => {
    const params = new Params();
    params.set('lru_interval', '3');
    const lines = showLong(params, row('lru_interval')).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'lru_interval',
      '        Value is: 3.000 [seconds]',
      '        Default is: 2.000',
      '        Minimum is: 0.000',
      '',
    ]);
    expect(lines.slice(-2)).toEqual(['', '']);
    for (const r of PARAMS) {
      for (const line of showLong(new Params(), r).split('\n')) {
        if (!line.includes('Value is')) expect(line.length, line).toBeLessThan(73);
      }
    }
  });

  it('JSON that parses, for each', () => {
    const params = new Params();
    for (const r of PARAMS as readonly ParamRow[]) {
      const o = JSON.parse(showJson(params, r));
      expect(o.name).toBe(r.name);
      expect(o.implemented).toBe(true);
      expect(o.flags).toEqual(r.flags ?? []);
    }
    expect(showJson(params, row('default_ttl'))).toContain('"value": 120.000,');
    expect(showJson(params, row('cli_limit'))).toContain('"value": 49152,');
  });
});
