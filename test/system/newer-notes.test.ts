// Statements of the notes of Varnish 7.2 to 7.7 about running daemons that no other test shows, with varnish_release=9.0:
// see test/daemon/vcl/newer/release-notes-7.ts.
import { writeFileSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { run, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';

const box = new Sandbox('proxyd-newer-notes');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello'));
  origin.on('/page', respond('200 OK', {}, '<p>1<esi:include src="/fragment"/>2'));
  origin.on('/silent', [{ close: true }]);
  origin.on('/hangs', [{ wait: 1500 }, { close: true }]);
  origin.on('/late', [{ wait: 5000 }, { close: true }]);
  const program = `
import std;
import vtc;
sub vcl_recv {
  if (req.url == "/now") {
    set req.http.a = std.real(time = now);
    vtc.sleep(30ms);
    if (req.http.a == "" + std.real(time = now)) { set req.http.same = "yes"; }
    if (std.now() - now >= 0.03s) { set req.http.later = "yes"; }
  }
  if (req.url == "/twice" && req.restarts == 0) { return (hash); }
  if (req.url == "/page") { return (pass); }
}
sub vcl_backend_fetch { if (bereq.url == "/late") { set bereq.first_byte_timeout = 0.2s; } }
sub vcl_backend_response {
  if (bereq.url == "/page") { set beresp.do_esi = true; }
  if (bereq.url == "/hfm") { set beresp.uncacheable = true; return (deliver); }
  if (bereq.url == "/hfp") { return (pass(100s)); }
}
sub vcl_deliver {
  set resp.http.mark = req.is_hitmiss + " " + req.is_hitpass;
  if (req.url == "/now") { set resp.http.same = req.http.same; set resp.http.later = req.http.later; }
  if (req.url == "/twice" && req.restarts == 0) { return (restart); }
  if (req.url == "/made") { return (synth(200)); }
}`;
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, program),
    params: { varnish_release: '9.0', feature: '+http2' },
  });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  await box.dispose();
});

describe('as the notes of 7.2 say', () => {
  it('fragments have no Transfer-Encoding of the request of their page', async () => {
    const page = 'POST /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await exchange({ port: proxy.port }, `${page}3\r\nabc\r\n0\r\n\r\n`)).toContain('hello');
    const [asked, fragment] = origin.requests.slice(-2);
    expect(asked?.head).toMatch(/^POST \/page .*^Transfer-Encoding: chunked\r$/ms);
    expect(fragment?.head).toMatch(/^GET \/fragment /);
    expect(fragment?.head).not.toMatch(/^(Transfer-Encoding|Content-Length):/im);
    await proxy.logged(/Begin +c req \d+ esi 1\n/, '-g', 'raw');
  });

  it('now is the same until the end of a sub, and std.now() is not', async () => {
    const answer = await proxy.get('/now');
    expect([field(answer, 'same'), field(answer, 'later')]).toEqual(['yes', 'yes']);
  });
});

describe('as the notes of 7.4 say', () => {
  it('a path of HTTP/2 may begin with two slashes', async () => {
    const session = connect(`http://127.0.0.1:${proxy.port}`);
    const status = await new Promise((resolve, reject) => {
      session.on('error', reject);
      const stream = session.request({ ':path': '//two/slashes' });
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.on('error', reject);
      stream.resume();
    });
    session.close();
    expect(status).toBe(200);
    expect(origin.requests.at(-1)?.head).toMatch(/^GET \/\/two\/slashes /);
  });
});

describe('as the notes of 7.5 say', () => {
  it('BackendClose has the name of its reason, and FetchError what an end was', async () => {
    expect((await proxy.get('/silent')).status).toBe(503);
    await proxy.logged(/FetchError +b HTC eof \(Unexpected end of input\)\n/, '-g', 'raw');
    expect((await proxy.get('/late')).status).toBe(503);
    await proxy.logged(/BackendClose +b \d+ default close RX_TIMEOUT\n/, '-g', 'raw');
  });

  it('Process is left out where a request goes on to a restart or to vcl_synth', async () => {
    const processed = async (url: string): Promise<number> => {
      await proxy.get(url);
      await proxy.requestsLogged(1);
      const log = await proxy.log('-g', 'request', '-c', '-q', `ReqURL eq "${url}"`, '-i', 'Timestamp');
      return [...log.matchAll(/Timestamp +Process:/g)].length;
    };
    expect([await processed('/once'), await processed('/twice'), await processed('/made')]).toEqual([
      1, 1, 1,
    ]);
  });

  it('a client that leaves has a Reset timestamp and status 408, and is counted', async () => {
    const session = connect(`http://127.0.0.1:${proxy.port}`);
    const stream = session.request({ ':path': '/hangs' });
    await until('the origin is asked', async () =>
      origin.requests.some(({ head }) => head.startsWith('GET /hangs ')),
    );
    stream.close(constants.NGHTTP2_CANCEL);
    const log = await proxy.logged(
      /Timestamp +Reset: [\s\S]*End/,
      '-g',
      'request',
      '-c',
      '-q',
      'ReqURL eq "/hangs"',
    );
    expect(log).toMatch(/RespStatus +408\n/);
    await proxy.counterReaches('MAIN.req_reset', 1);
    session.close();
  });

  it('the file of -I ends with a line', async () => {
    const file = box.path('commands');
    const start = (text: string) => {
      writeFileSync(file, text);
      const daemon = [`${ROOT}dist/daemon/proxyd.js`, '-F', '-n', box.path('incomplete')];
      return run(process.execPath, [...daemon, '-a', '127.0.0.1:0', '-b', 'none', '-I', file]);
    };
    const end = await start('param.set default_ttl 5\nparam.set default_ttl 7');
    expect(end.code).not.toBe(0);
    expect(end.stderr).toMatch(/-I|incomplete|line/);
  });
});

describe('as the notes of 7.7 say', () => {
  it('backend.list -j -p has the addresses of each backend', async () => {
    const [, , , { 'boot.default': backend }] = JSON.parse(
      (await proxy.adm('backend.list', '-j', '-p')).stdout,
    );
    expect(JSON.stringify(backend)).toContain('"ipv4":"127.0.0.1"');
  });

  it('happy is all good for a backend without a probe', async () => {
    const tool = [`${ROOT}dist/console/bin/proxystat.js`, '-n', proxy.dir, '-1', '-f', 'VBE.*.happy'];
    expect((await run(process.execPath, tool)).stdout).toMatch(/happy +18446744073709551615 /);
  });
});

// vmod_std(3) after 9.0.
it('a ban can be about markers for hit-for-miss and for hit-for-pass', async () => {
  const marks = async (): Promise<(string | undefined)[]> => {
    const found = [];
    for (const url of ['/hfm', '/hfp', '/kept']) {
      const answer = await proxy.get(url);
      found.push(field(answer, 'Age') === '0' ? field(answer, 'mark') : 'hit');
    }
    return found;
  };
  origin.on('/kept', respond('200 OK', { 'Cache-Control': 'max-age=100000', Age: '50' }, 'hello'));
  await marks();
  expect(await marks()).toEqual(['true false', 'false true', 'hit']);
  expect((await proxy.adm('ban', 'obj.hfm', '==', 'true')).code).toBe(0);
  expect(await marks()).toEqual(['false false', 'false true', 'hit']);
  expect((await proxy.adm('ban', 'obj.uncacheable', '==', 'true')).code).toBe(0);
  expect(await marks()).toEqual(['false false', 'false false', 'hit']);
  expect((await proxy.adm('ban', 'obj.hfp', '>', 'true')).stdout).toContain('got ">"');
});
