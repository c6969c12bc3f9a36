// The log of a running daemon and its queries: the records of a hit and of a miss in their order, groups, comparisons of
// every kind, and proxylog and proxyncsa as programs.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';

const NCSA = `${ROOT}dist/console/bin/proxyncsa.js`;
const box = new Sandbox('proxyd-smoke-log');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'hello\n'));
  origin.on('/missing', respond('404 Not Found', { 'Cache-Control': 'max-age=100' }, 'none\n'));
  origin.on('/broken', respond('500 Broken', {}, 'no\n'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, 'sub vcl_recv { if (req.url == "/broken") { return (pass); } }'),
  });
  // Each is logged before the next, which another thread may have.
  for (const [before, path] of ['/one', '/one', '/missing', '/broken'].entries()) {
    await proxy.get(path, { fields: { 'X-Mark': path.slice(1, 4), 'User-Agent': 'smoke' } });
    await proxy.requestsLogged(before + 1);
  }
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** URLs of the requests that a query selects. */
const selected = async (query: string): Promise<string> =>
  [...(await proxy.log('-c', '-q', query, '-i', 'ReqURL')).matchAll(/ReqURL +(\S+)/g)]
    .map(([, url]) => url)
    .join(' ');

/** Tags of a group, with the values of those whose values are always the same. */
const tags = (text: string): string[] =>
  text
    .split('\n')
    .map((line) =>
      line
        .replace(/^(\*|-)+ +/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) =>
      /^(<<|Begin|VCL_|ReqMethod|ReqURL|RespStatus|Hit |Link|End|Length|BerespStatus)/.test(line),
    )
    .map((line) => line.replace(/\b\d+ (fetch|rxreq)/, 'N $1').replace(/(>>|Hit) .*/, '$1'));

describe('the log', () => {
  it('has the steps of a miss, with its fetch in the group, and of a hit', async () => {
    const text = await proxy.log('-g', 'request', '-q', 'ReqURL eq "/one"');
    const [miss, hit] = text.split(/\n\n/);
    expect(tags(miss as string)).toEqual([
      ...['<< Request >>', 'Begin req N rxreq', 'VCL_use boot', 'ReqMethod GET', 'ReqURL /one'],
      ...['VCL_call RECV', 'VCL_return hash', 'VCL_call HASH', 'VCL_return lookup'],
      ...['VCL_call MISS', 'VCL_return fetch', 'Link bereq N fetch', 'RespStatus 200'],
      ...['VCL_call DELIVER', 'VCL_return deliver', 'End'],
      ...['<< BeReq >>', 'Begin bereq N fetch', 'VCL_use boot', 'VCL_call BACKEND_FETCH', 'VCL_return fetch'],
      ...['BerespStatus 200', 'VCL_call BACKEND_RESPONSE', 'VCL_return deliver', 'Length 6', 'End'],
    ]);
    expect(tags(hit as string)).toEqual([
      ...['<< Request >>', 'Begin req N rxreq', 'VCL_use boot', 'ReqMethod GET', 'ReqURL /one'],
      ...['VCL_call RECV', 'VCL_return hash', 'VCL_call HASH', 'VCL_return lookup', 'Hit'],
      ...[
        'VCL_call HIT',
        'VCL_return deliver',
        'RespStatus 200',
        'VCL_call DELIVER',
        'VCL_return deliver',
        'End',
      ],
    ]);
    expect(miss).toMatch(/^-- {2}TTL +RFC 100 10 0 \d+ \d+ \d+ 0 100 cacheable$/m);
    expect(hit).toMatch(/^- {3}ReqAcct +\d+ 0 \d+ \d+ 6 \d+$/m);
  });

  it.each([
    ['RespStatus == 404', '/missing'],
    ['RespStatus != 200', '/missing /broken'],
    ['RespStatus >= 404', '/missing /broken'],
    ['RespStatus > 404', '/broken'],
    ['RespStatus <= 404', '/one /one /missing'],
    ['RespStatus < 404', '/one /one'],
    ['ReqURL ~ "^/(one|bro)"', '/one /one /broken'],
    ['ReqURL !~ "one"', '/missing /broken'],
    ['ReqURL ne "/one"', '/missing /broken'],
    ['ReqHeader:x-mark eq "mis"', '/missing'],
    ['VCL_call eq "PASS" or Hit', '/one /broken'],
    ['not VCL_call eq "MISS" and RespStatus == 200', '/one'],
    ['ReqAcct[5] == 6', '/one /one'],
  ])('%s selects %s', async (query, urls) => {
    expect(await selected(query)).toBe(urls);
  });

  it('is printed by proxylog and proxyncsa as programs', async () => {
    const [log, ncsa, wrong] = await Promise.all([
      tool('proxyd', 'log', [
        '-n',
        proxy.dir,
        '-d',
        '-c',
        '-q',
        'RespStatus == 404',
        '-i',
        'ReqURL,RespStatus',
      ]),
      runNcsa('-F', '%m %U %s %b %{X-Mark}i %{Varnish:hitmiss}x'),
      tool('proxyd', 'log', ['-n', proxy.dir, '-d', '-q', 'RespStatus ==']),
    ]);
    expect(log).toMatchObject({ code: 0, stderr: '' });
    expect(log.stdout).toMatch(
      /^\* {3}<< Request {2}>> \d+ +\n- {3}ReqURL +\/missing\n- {3}RespStatus +404\n\n$/,
    );
    expect(ncsa.stdout.split('\n').slice(0, 4)).toEqual([
      'GET /one 200 6 one miss',
      'GET /one 200 6 one hit',
      'GET /missing 404 5 mis miss',
      'GET /broken 500 3 bro miss',
    ]);
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).not.toBe('');
  });
});

function runNcsa(...args: string[]) {
  return run(process.execPath, [NCSA, '-n', proxy.dir, '-d', ...args]);
}
