// Programs that use the extension h2, on connections with HTTP/2 and without.
import { describe, expect, it } from 'vitest';
import type { Http2Limits } from '../../../../daemon/contract/context.ts';
import { RapidResets } from '../../../../daemon/net/http2/rapid-resets.ts';
import { task } from '../../vcl/fake-task.ts';

const HEAD = 'vcl 4.1; import h2; backend d none;';
const ALL =
  'h2.is() + " " + h2.rapid_reset() + " " + h2.rapid_reset_limit() + " " + h2.rapid_reset_period() + " " + h2.rapid_reset_budget()';

function limits(): Http2Limits {
  return { rapidReset: 1, rapidResetLimit: 100, rapidResetPeriod: 60, rapidResetBudget: 99.5 };
}

/** Runs statements in vcl_recv; returns req.http.r. */
function run(http2: Http2Limits | null, code: string): string | null {
  const t = task(`${HEAD} sub vcl_recv { ${code} return (pass); }`);
  Object.assign(t.req, { session: { ...t.req.session, http2 } });
  expect(t.run('recv')).toBe('pass');
  return t.req.http.get('r');
}

describe('the extension h2', () => {
  it('reads the limits of the connection', () => {
    expect(run(limits(), `set req.http.r = ${ALL};`)).toBe('true 1.000 100 60.000 99.500');
  });

  it('says -1 over HTTP/1, and sets nothing', () => {
    expect(run(null, `h2.rapid_reset_limit(5); set req.http.r = ${ALL};`)).toBe(
      'false -1.000 -1 -1.000 -1.000',
    );
  });

  it('returns the value before when it sets another', () => {
    const own = limits();
    const code =
      'set req.http.r = h2.rapid_reset(10ms) + " " + h2.rapid_reset_limit(7) + " " + h2.rapid_reset_period(2m);';
    expect(run(own, code)).toBe('1.000 100 60.000');
    expect(own).toEqual({
      rapidReset: 0.01,
      rapidResetLimit: 7,
      rapidResetPeriod: 120,
      rapidResetBudget: 99.5,
    });
  });

  it('gives the whole budget again with a change, and with no other call', () => {
    const own = new RapidResets({ h2_rapid_reset: 1, h2_rapid_reset_limit: 9, h2_rapid_reset_period: 60 }, 0);
    const spend = (): unknown => [own.mayReset(0, 0), own.mayReset(0, 0), own.mayReset(0, 0)];
    spend();
    run(own, 'h2.rapid_reset(1s); h2.rapid_reset_limit(9); h2.rapid_reset_period(60s); h2.rapid_reset();');
    expect(own.rapidResetBudget).toBe(6);
    for (const call of ['h2.rapid_reset(2s)', 'h2.rapid_reset_period(30s)', 'h2.rapid_reset_limit(10)']) {
      spend();
      run(own, `${call};`);
      expect(own.rapidResetBudget).toBe(own.rapidResetLimit);
    }
    expect(own.rapidResetLimit).toBe(10);
  });

  it('sets nothing below what the parameters allow', () => {
    const own = limits();
    run(own, 'h2.rapid_reset(-1s); h2.rapid_reset_limit(-1); h2.rapid_reset_period(0s);');
    expect(own).toMatchObject({ rapidReset: 0, rapidResetLimit: 0, rapidResetPeriod: 1 });
  });

  it('is for client states', () => {
    const program = `${HEAD} sub vcl_backend_fetch { if (h2.is()) { return (abandon); } }`;
    expect(() => task(program)).toThrow(/h2\.is/);
  });
});
