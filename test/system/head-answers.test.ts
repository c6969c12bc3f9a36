// Headers of a body that was never fetched: the origin's response to a HEAD, passed, stored and revalidated. Its
// Content-Length is the origin's or absent (RFC 9110 section 8.6), unless a GET would get another body.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Origin } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-heads');
let origin: Origin;
let proxy: RunningProxy;

const PROGRAM = `
sub vcl_recv { if (req.url ~ "^/pass") { return (pass); } return (hash); }
sub vcl_backend_fetch { set bereq.method = "HEAD"; }
sub vcl_backend_response {
  if (bereq.url ~ "stale") { set beresp.ttl = 0s; set beresp.grace = 0s; set beresp.keep = 100s; }
  set beresp.do_esi = bereq.url ~ "esi";
  set beresp.do_gzip = bereq.url ~ "zip";
  set beresp.do_gunzip = bereq.url ~ "unpack";
}
`;
const FIELDS: Readonly<Record<string, string>> = {
  length: 'Content-Length: 1234\r\n',
  zero: 'Content-Length: 0\r\n',
  none: '',
  chunked: 'Transfer-Encoding: chunked\r\n',
  packed: 'Content-Encoding: gzip\r\nContent-Length: 77\r\n',
};

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', ({ url, head }) => {
    const status = /^if-none-match:/im.test(head) ? '304 Not Modified' : '200 OK';
    const fields = status === '200 OK' ? FIELDS[url.split('/').at(-1) ?? ''] : '';
    return [{ send: `HTTP/1.1 ${status}\r\nCache-Control: max-age=100\r\nETag: "e"\r\n${fields}\r\n` }];
  });
  proxy = await startProxy(box, { program: backendProgram(origin.port, PROGRAM) });
});
afterAll(async () => {
  await proxy.stop();
  await origin.close();
  box.dispose();
});

async function reported(method: string, url: string, fields: Record<string, string> = {}): Promise<string[]> {
  const response = await proxy.get(url, { method, fields });
  const value = (name: string): string =>
    response.fields.find(([n]) => n.toLowerCase() === name)?.[1] ?? 'none';
  return [String(response.status), value('content-length'), value('content-encoding')];
}

const GZIP = { 'Accept-Encoding': 'gzip' };

it.each([
  ['/pass/length', '1234', 'none', '1234', 'none'],
  ['/pass/zero', '0', 'none', '0', 'none'],
  ['/pass/none', 'none', 'none', 'none', 'none'],
  ['/pass/chunked', 'none', 'none', 'none', 'none'],
  ['/pass/packed', 'none', 'none', '77', 'gzip'],
  ['/kept/length', '1234', 'none', '1234', 'none'],
  ['/kept/zero', '0', 'none', '0', 'none'],
  ['/kept/none', 'none', 'none', 'none', 'none'],
  ['/kept/chunked', 'none', 'none', 'none', 'none'],
  ['/kept/packed', 'none', 'none', '77', 'gzip'],
  ['/stale/length', '1234', 'none', '1234', 'none'],
  ['/stale/none', 'none', 'none', 'none', 'none'],
  ['/esi/length', 'none', 'none', 'none', 'none'],
  ['/zip/length', 'none', 'none', 'none', 'none'],
  ['/unpack/length', '1234', 'none', '1234', 'none'],
  ['/unpack/packed', 'none', 'none', 'none', 'gzip'],
])('a HEAD for %s', async (url, length, coding, lengthOfPacked, codingOfPacked) => {
  // Fetched, hit or fetched again.
  for (let i = 0; i < 2; i++) {
    expect(await reported('HEAD', url)).toEqual(['200', length, coding]);
    expect(await reported('HEAD', url, GZIP)).toEqual(['200', lengthOfPacked, codingOfPacked]);
    // A HEAD knows no ranges.
    expect(await reported('HEAD', url, { ...GZIP, Range: 'bytes=0-1' })).toEqual([
      ...['200', lengthOfPacked, codingOfPacked],
    ]);
  }
});

it('a condition that holds leaves no length', async () => {
  expect(await reported('HEAD', '/kept/length', { 'If-None-Match': '"e"' })).toEqual(['304', 'none', 'none']);
});

it('a GET of a response without a body reports that there is none', async () => {
  await reported('HEAD', '/kept/length');
  expect(await reported('GET', '/kept/length')).toEqual(['200', '0', 'none']);
  expect(await reported('HEAD', '/kept/length')).toEqual(['200', '1234', 'none']);
});
