// Results that programs get from the extensions purge, softpurge, xkey and hashtwo; the effect of purges is tested
// with the cache.
import { describe, expect, it } from 'vitest';
import { task } from '../../vcl/fake-task.ts';

const HEAD =
  'vcl 4.1; import purge; import softpurge; import xkey; import hashtwo; import std; backend d { .host = "127.0.0.1"; }';

describe('purge', () => {
  it('is for vcl_hit and vcl_miss', () => {
    const t = task(`${HEAD} sub vcl_recv { set req.http.n = purge.hard(); return (synth(200)); }`);
    expect(t.run('recv')).toBe('fail');
    expect(t.log.of('VCL_Error')).toEqual(['purge can only happen in vcl_hit{} or vcl_miss{}']);
  });

  it('passes lifetimes on, and gives the count', () => {
    const t = task(
      `${HEAD} sub vcl_hit { set req.http.n = "" + purge.hard() + purge.soft() + purge.soft(1s, keep = 3s) + purge.hard_variant() + purge.soft_variant(2s); return (synth(200)); }`,
    );
    const asked: unknown[] = [];
    t.req.purge = (soft, alone) => asked.push([soft, alone]);
    expect(t.run('hit')).toBe('synth');
    expect(t.req.http.get('n')).toBe('12345');
    expect(asked).toEqual([
      [null, false],
      [{ ttl: 0, grace: -1, keep: -1 }, false],
      [{ ttl: 1, grace: -1, keep: 3 }, false],
      [null, true],
      [{ ttl: 2, grace: -1, keep: -1 }, true],
    ]);
  });

  it('passes lifetimes on as upper bounds to programs of a newer release', () => {
    const text = `${HEAD} sub vcl_hit { set req.http.n = "" + purge.soft(1s, keep = 3s); softpurge.softpurge(); return (synth(200)); }`;
    const t = task(text, {}, { release: '9.0' });
    const asked: unknown[] = [];
    t.req.purge = (soft) => asked.push(soft);
    t.run('hit');
    expect(asked).toEqual([
      { ttl: 1, grace: -1, keep: 3, shortens: true },
      { ttl: 0, grace: -1, keep: -1, shortens: true },
    ]);
  });
});

describe.each(['xkey', 'hashtwo'])('%s', (name) => {
  it('gives the counts and logs them', () => {
    const t = task(
      `${HEAD} sub vcl_recv { set req.http.n = "" + ${name}.purge("a b") + ${name}.softpurge(req.http.none); return (synth(200)); }`,
    );
    const asked: unknown[] = [];
    t.ctx.host = { ...t.ctx.host, purgeTags: (keys, soft) => asked.push([keys, soft]) };
    expect(t.run('recv')).toBe('synth');
    expect(t.req.http.get('n')).toBe('12');
    expect(asked).toEqual([
      ['a b', false],
      ['', true],
    ]);
    expect(t.log.of('Notice')).toEqual([`${name}.purge a b: 1`, `${name}.softpurge : 2`]);
  });
});

describe('softpurge', () => {
  it('leaves grace and keep as they are', () => {
    const t = task(`${HEAD} sub vcl_hit { softpurge.softpurge(); return (synth(200)); }`);
    const asked: unknown[] = [];
    t.req.purge = (soft, alone) => asked.push([soft, alone]);
    expect(t.run('hit')).toBe('synth');
    expect(asked).toEqual([[{ ttl: 0, grace: -1, keep: -1 }, false]]);
  });
});

describe('std.softban', () => {
  it('has its errors from ban_error()', () => {
    const t = task(
      `${HEAD} sub vcl_recv { if (!std.softban("x")) { set req.http.e = std.ban_error(); } return (synth(200)); }`,
    );
    t.ctx.host = { ...t.ctx.host, softBan: () => 'Expected comparison operator.' };
    t.run('recv');
    expect(t.req.http.get('e')).toBe('Expected comparison operator.');
    expect(t.log.of('VCL_Error')).toEqual(['softban(): Expected comparison operator.']);
  });
});
