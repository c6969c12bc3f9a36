// Log records and counters of later releases of Varnish in a running daemon: those that are new with any
// varnish_release, and those whose form Varnish changed with varnish_release=9.0.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { FRAME, frame, PREFACE, settingsFrame } from '../harness/http2-frames.ts';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxyd-newer-records');
let origin: Origin;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'hello'));
  origin.on('/page', respond('200 OK', { 'Cache-Control': 'max-age=100' }, '<esi:include/> <esi:nothing>'));
  origin.on('/short', respond('200 OK', { 'Cache-Control': 'max-age=0' }, 'hello'));
});
afterAll(async () => {
  await origin.close();
  await box.dispose();
});

const PROGRAM = `
sub vcl_recv {
  if (req.method == "PURGE") { return (purge); }
  if (req.http.Again) { set req.hash_always_miss = true; }
  if (req.url == "/pass") { set req.http.X-Kind = "set"; return (pass); }
}
sub vcl_backend_response { if (bereq.url == "/page") { set beresp.do_esi = true; } }`;

describe.each(['7.1', '9.0'])('with varnish_release=%s', (release) => {
  const newer = release === '9.0';
  let proxy: RunningProxy;

  beforeAll(async () => {
    proxy = await startProxy(box, {
      program: backendProgram(origin.port, PROGRAM),
      params: {
        varnish_release: release,
        worker_threads: '1',
        vsl_mask: '+ReqTarget,+ExpKill',
        default_grace: '0',
        default_keep: '0',
        timeout_idle: '60',
        feature: '+http2',
      },
    });
    for (let i = 0; i < 3; i++) await proxy.get('/pass', { fields: { 'X-Kind': 'asked' } });
    await proxy.get('/page');
    await proxy.get('/again');
    await proxy.get('/again', { fields: { Again: '1' } });
    await proxy.get('/purged');
    await proxy.get('/purged', { method: 'PURGE' });
    await exchange(
      { port: proxy.port },
      'GET http://other.example HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n',
    );
    await proxy.requestsLogged(9);
  });
  afterAll(() => proxy.stop());

  it('has the target of a request as it came, unless it is masked', async () => {
    const log = await proxy.log('-q', 'ReqTarget ~ "other.example"');
    expect(log).toMatch(
      /ReqStart .*\n- {3}ReqTarget {6}http:\/\/other\.example\n- {3}ReqMethod {6}GET\n- {3}ReqURL {9}\/\n/,
    );
    await proxy.logged(/ReqTarget {6}\/page$/m, '-q', 'ReqURL eq "/page"');
    expect((await proxy.adm('param.show', 'vsl_mask')).stdout).toMatch(/Default is: .*,-ReqTarget\n/);
  });

  it('counts it, the bytes of the log, and objects whose place a new one takes', async () => {
    const counters = await proxy.counters();
    expect(counters).toMatchObject({
      'MAIN.http1_absolute_form': 1,
      'MAIN.n_superseded': 1,
      'MAIN.http1_iovs_flush': 0,
    });
    expect(counters['MAIN.shm_bytes']).toBeGreaterThan(1000);
    // A search for each lookup; each key was made once.
    expect(counters['MAIN.hcb_insert']).toBe(counters['MAIN.hcb_lock']);
    expect(counters['MAIN.hcb_nolock']).toBeGreaterThan(counters['MAIN.hcb_insert'] as number);
  });

  it('counts idle connections, and how they are used again or end', async () => {
    const before = await proxy.counters();
    const client = await ClientConnection.open(proxy.port);
    const idle = (before['WAITER.pool0.conns'] ?? 0) + 1;
    await until('the client counts as idle', async () => {
      return (await proxy.counters())['WAITER.pool0.conns'] === idle;
    });
    client.send(requestText('/idle'));
    await client.response();
    await proxy.counterReaches('WAITER.pool0.action', (before['WAITER.pool0.action'] ?? 0) + 2);
    await until('it is idle again', async () => (await proxy.counters())['WAITER.pool0.conns'] === idle);
    client.close();
    await proxy.counterReaches('WAITER.pool0.remclose', (before['WAITER.pool0.remclose'] ?? 0) + 1);
    await origin.endIdle();
    await until('no connection is idle', async () => (await proxy.counters())['WAITER.pool0.conns'] === 0);
    const after = await proxy.counters();
    expect(after['WAITER.pool0.remclose']).toBeGreaterThanOrEqual(
      (before['WAITER.pool0.remclose'] ?? 0) + idle,
    );
    expect(after['WAITER.pool0.timeout']).toBe(0);
  });

  it('has access logs with headers as the release has them, unless another one is named', async () => {
    const tool = join(ROOT, 'dist/console/bin/proxyncsa.js');
    const line = async (...more: string[]): Promise<string> => {
      const format = ['-F', '%{X-Kind}i', '-q', 'ReqURL eq "/pass" and ReqHeader:X-Kind'];
      return (await run(process.execPath, [tool, '-n', proxy.dir, '-d', '-k', '1', ...format, ...more]))
        .stdout;
    };
    expect(await line()).toBe(newer ? 'asked\n' : 'set\n');
    expect(await line('--release', newer ? '7.1' : '9.0')).toBe(newer ? 'set\n' : 'asked\n');
  });

  it(`${newer ? 'has' : 'does not have'} age and uses of a connection in BackendOpen`, async () => {
    const log = await proxy.log('-b', '-q', 'BereqURL eq "/pass"', '-i', 'BackendOpen');
    const ends = [...log.matchAll(/ (connect|reuse)(.*)\n/g)].map(([, how, more]) => [how, more?.trim()]);
    expect(ends[0]).toEqual(['connect', '']);
    const last = ends.at(-1);
    expect(last?.[0]).toBe('reuse');
    if (newer) expect(last?.[1]).toMatch(/^\d+\.\d{6} 2$/);
    else expect(last?.[1]).toBe('');
  });

  it(`has ${newer ? 'a' : 'no'} colon in complaints about edge-side includes`, async () => {
    const log = await proxy.log('-g', 'raw', '-i', 'ESI_xmlerror');
    expect(log).toMatch(newer ? / (ERR|WARN): after / : / (ERR|WARN) after /);
    expect(log).not.toMatch(newer ? / (ERR|WARN) after / : / (ERR|WARN): after /);
  });

  it(`${newer ? 'has' : 'does not have'} the client of a malformed request`, async () => {
    await exchange({ port: proxy.port }, 'GET /nonsense\r\n\r\n');
    const text = await proxy.logged(/HttpGarbage/, '-g', 'request', '-q', 'HttpGarbage');
    expect(/HttpGarbage .*\n- +ReqStart +127\.0\.0\.1 /.test(text)).toBe(newer);
  });

  it('logs the end of objects in the format of the release', async () => {
    const log = await proxy.log('-g', 'raw', '-i', 'ExpKill');
    if (newer) {
      expect(log).toMatch(
        /VBF_Superseded x=\d+ n=\d+\n.*EXP_Inbox flg=26 .*\n.*EXP_Removed x=\d+ t=100 h=0\n/,
      );
      expect(log.match(/EXP_Removed/g)).toHaveLength(2);
      expect(log).not.toContain('EXP_expire');
    } else {
      expect(log).not.toMatch(/VBF_Superseded|EXP_Removed|EXP_Inspect/);
      expect(log).toMatch(/EXP_expire .*\n.*EXP_Expired x=\d+ t=-0\n/);
    }
  });

  it(`has the id ${newer ? 'set' : 'after the one set'} by debug.xid next`, async () => {
    expect((await proxy.adm('debug.xid', newer ? '5000' : '4999')).stdout).toContain('XID is ');
    const answer = await proxy.get('/again');
    // The session is 5000.
    expect(answer.fields.find(([name]) => name === 'X-Proxy-Id')?.[1]).toMatch(/^5001( |$)/);
    expect((await proxy.adm('debug.xid')).stdout).toContain(`XID is ${newer ? 5002 : 5001} `);
  });

  it(`names broken rules of HTTP/2 in ${newer ? 'SessError' : 'Error'}`, async () => {
    await exchange(
      { port: proxy.port },
      Buffer.concat([PREFACE, settingsFrame(), frame(FRAME.PING, 0, 0, 'abc')]),
    );
    const log = await proxy.logged(/FRAME_SIZE_ERROR/, '-g', 'raw', '-i', 'Error,SessError');
    expect(log).toMatch(
      newer
        ? / SessError +c H2: FRAME_SIZE_ERROR: PING of 3 bytes\n/
        : / Error +c HTTP\/2 FRAME_SIZE_ERROR: PING of 3 bytes\n/,
    );
  });

  it(`counts requests that waited for the fetch of another ${newer ? 'once' : 'again'}`, async () => {
    const before = await proxy.counters();
    const rise = (after: Readonly<Record<string, number>>, name: string): number =>
      (after[name] ?? 0) - (before[name] ?? 0);
    let open = (): void => {};
    const hold = new Promise<void>((resolve) => {
      open = resolve;
    });
    origin.on('/slow', [{ hold }, ...respond('200 OK', { 'Cache-Control': 'max-age=100' }, 'hello')]);
    const asked = origin.seen('/slow').length;
    const first = proxy.get('/slow');
    await until('the fetch', () => origin.seen('/slow').length > asked);
    const second = proxy.get('/slow');
    await proxy.counterReaches('MAIN.busy_sleep', (before['MAIN.busy_sleep'] ?? 0) + 1);
    open();
    await Promise.all([first, second]);
    await proxy.counterReaches('MAIN.busy_wakeup', (before['MAIN.busy_wakeup'] ?? 0) + 1);
    const after = await proxy.counters();
    expect(rise(after, 'MAIN.client_req')).toBe(newer ? 2 : 3);
    expect(rise(after, 'MAIN.client_req_again')).toBe(newer ? 0 : 1);
    // Of the one thread that this daemon has.
    expect(rise(after, 'THR.0.requests')).toBe(2);
  });

  it(`${newer ? 'refuses' : 'takes'} a ban of a header without a name, and says ${newer ? 'only' : 'also'} that a quote is open`, async () => {
    const banned = await proxy.adm('ban', 'req.http.', '==', 'x');
    if (newer) expect(banned.stdout).toContain('Missing header name: "req.http."');
    expect(banned.code === 0).toBe(!newer);
    const open = (await proxy.adm('ping "')).stdout;
    expect(open).toContain(`Syntax Error: Missing '"'`);
    expect(open.includes('Unknown request')).toBe(!newer);
  });
});
