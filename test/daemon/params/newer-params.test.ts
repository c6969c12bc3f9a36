// Values of parameters that later releases of Varnish take and 7.1 refuses, and changes of parameters themselves by
// varnish_release. The texts are those of Varnish 7.7.
import { describe, expect, it } from 'vitest';
import { NoEffect } from '../../../daemon/params/absent.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';
import { isListed, showJson, showLong } from '../../../daemon/params/show.ts';
import { ParamError } from '../../../daemon/params/value.ts';
import { PARAMS, type ParamName, type ParamRow } from '../../../protocol/tables/params.ts';
import { TAGS } from '../../../protocol/tables/tags.ts';

const rowOf = (name: ParamName): ParamRow => PARAMS.find((row) => row.name === name) as ParamRow;

function newer(): Params {
  const params = new Params();
  params.set('varnish_release', '9.0');
  return params;
}

/** The value shown after these settings. */
function settled(params: Params, name: ParamName, ...values: string[]): string {
  for (const value of values) expect(params.set(name, value)).not.toBeInstanceOf(ParamError);
  return params.shown(rowOf(name));
}

describe('the value never', () => {
  it('is no limit, and shown', () => {
    const params = new Params();
    expect(settled(params, 'send_timeout', 'never')).toBe('never');
    expect(params.hot.send_timeout).toBeGreaterThan(1e12);
    expect(showJson(params, rowOf('send_timeout'))).toContain('"value": "never"');
    expect(JSON.parse(JSON.stringify(params.snapshot())).send_timeout).toBe(params.hot.send_timeout);
  });

  it.each(['default_ttl', 'timeout_idle'])('is none of %s, which has to have an end', (name) => {
    expect(new Params().set(name, 'never')).toBeInstanceOf(ParamError);
  });
});

describe('sets of bits', () => {
  it.each([
    ['feature', ['none,+http2'], '+http2'],
    ['feature', ['+http2', '+esi_remove_bom,none,+short_panic'], '+short_panic'],
    ['debug', ['+lurker', 'none'], 'none'],
    ['vsl_mask', ['all,-Debug'], '-Debug'],
    ['vsl_mask', ['-Begin', 'all'], 'none'],
  ] as const)('%s takes %j', (name, values, shown) => {
    expect(settled(new Params(), name, ...values)).toBe(shown);
  });

  it.each([
    ['feature', ['none,+http2'], 'none,+http2'],
    ['feature', ['none'], 'none'],
    ['feature', ['all'], 'all'],
    ['debug', ['none'], 'none'],
    ['vsl_mask', ['all'], 'all'],
    ['vsl_mask', ['none'], 'none'],
    ['vsl_mask', ['all,-Debug'], 'all,-Debug'],
  ] as const)('%s after %j is shown as Varnish 7.7 does under varnish_release=9.0', (name, values, shown) => {
    expect(settled(newer(), name, ...values)).toBe(shown);
  });

  it('have what they leave out after all', () => {
    const shown = settled(newer(), 'feature', 'all,-http2');
    expect(shown).toMatch(/^none,-http2,\+short_panic,/);
    expect(settled(newer(), 'vsl_mask', 'none,+Begin').split(',')).toHaveLength(TAGS.length);
  });

  it('still need a sign before a name', () => {
    expect(new Params().set('feature', 'none,http2')).toBeInstanceOf(ParamError);
    expect(new Params().set('feature', 'allx')).toBeInstanceOf(ParamError);
  });
});

describe('the parameter vcc_feature', () => {
  it('is the same as the parameters of its bits', () => {
    const params = new Params();
    params.set('vcc_err_unref', 'off');
    expect(params.text('vcc_feature')).toBe('+unsafe_path');
    params.set('vcc_feature', 'none,+err_unref');
    expect([params.bool('vcc_err_unref'), params.bool('vcc_unsafe_path')]).toEqual([true, false]);
    params.reset('vcc_feature');
    expect(params.bool('vcc_unsafe_path')).toBe(true);
  });

  it('has them for other names under varnish_release=9.0, which are not listed', () => {
    const params = newer();
    const row = rowOf('vcc_err_unref');
    expect([isListed(new Params(), row), isListed(params, row)]).toEqual([true, false]);
    params.set('vcc_err_unref', 'off');
    expect(showLong(params, row)).toMatch(
      /^vcc_err_unref\n {8}Value is: none,\+unsafe_path\n {8}Alias of: vcc_feature\n\n/,
    );
    expect(JSON.parse(showJson(params, row))).toMatchObject({
      alias: 'vcc_feature',
      value: 'none,+unsafe_path',
    });
  });

  it('is read-only by both of its names', () => {
    const params = newer();
    expect(params.protect('vcc_err_unref')).toMatch(/alias of vcc_feature/);
    expect(params.protect('vcc_feature')).toBeNull();
    for (const [name, value] of [
      ['vcc_feature', 'none'],
      ['vcc_err_unref', 'off'],
    ] as const) {
      expect(params.set(name, value)).toMatchObject({ isProtected: true });
      expect(params.reset(name)).toMatchObject({ isProtected: true });
    }
    expect(params.text('vcc_feature')).toBe('+err_unref,+unsafe_path');
    const old = new Params();
    expect(old.protect('vcc_err_unref')).toBeNull();
    expect(old.set('vcc_feature', 'none')).toMatchObject({ isProtected: true });
    expect(old.set('vcc_unsafe_path', 'off')).toBe(false);
  });
});

describe('varnish_release=9.0', () => {
  it('changes what is at its default, and nothing else', () => {
    const params = new Params();
    params.set('cli_limit', '50k');
    params.set('varnish_release', '9.0');
    expect([params.hot.cli_limit, params.hot.ban_any_variant]).toEqual([50 * 1024, 0]);
    expect(params.feature('https_scheme')).toBe(true);
    expect(params.masked()).not.toContain('VCL_trace');
    expect(showLong(params, rowOf('cli_limit'))).toContain('Default is: 64k');
    params.set('varnish_release', '7.1');
    expect([params.hot.cli_limit, params.hot.ban_any_variant]).toEqual([50 * 1024, 10_000]);
    expect(params.masked()).toContain('VCL_trace');
  });

  it('is taken over as it is by another process', () => {
    const params = newer();
    params.set('feature', 'none,+validate_headers');
    expect(new Params(params.snapshot()).text('feature')).toBe('+validate_headers');
  });

  it.each(['timeout_idle', 'idle_send_timeout'])('bounds %s to an hour', (name) => {
    expect(new Params().set(name, '2h')).toBe(7200);
    expect(newer().set(name, '2h')).toMatchObject({
      text: expect.stringMatching(/^Must be less than or equal to 3600\.000\n/),
    });
    expect(newer().set(name, '1h')).toBe(3600);
  });
});

describe('http_req_overflow_status', () => {
  it.each(['0', '400', '499', '500'])('may be %s', (text) => {
    expect(new Params().set('http_req_overflow_status', text)).toBe(Number(text));
  });

  it.each(['1', '399', '501'])('may not be %s', (text) => {
    expect(new Params().set('http_req_overflow_status', text)).toBeInstanceOf(ParamError);
  });
});

describe('values that cannot be read, under varnish_release=9.0', () => {
  it.each([
    ['default_ttl', 'abc', 'Invalid duration unit (abc)\n'],
    ['default_ttl', '99999999999999999999', 'Invalid duration unit (99999999999999999999)\n'],
    ['default_ttl', '', 'Invalid number ()\n'],
    ['default_ttl', '-1', 'Must be greater or equal to 0.000\n'],
    ['acceptor_sleep_max', '10x', 'Invalid duration unit (10x)\n'],
    ['acceptor_sleep_decay', '1e3', 'Invalid number (1e3)\n'],
    ['acceptor_sleep_decay', '99999999999999999999', 'Too many digits (99999999999999999999)\n'],
  ])('%s %j is refused in the words of Varnish 7.7', (name, text, error) => {
    expect((newer().set(name, text) as ParamError).text).toBe(
      `${error}\n(attempting to set param '${name}' to '${text}')`,
    );
  });

  it('has default as the default of every set of bits', () => {
    const params = new Params();
    expect(params.set('debug', 'default')).toBeInstanceOf(ParamError);
    params.set('varnish_release', '9.0');
    expect(params.set('debug', 'default')).toBe('none');
    expect(params.set('experimental', 'default')).toBeInstanceOf(NoEffect);
  });
});
