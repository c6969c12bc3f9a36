// Bodies of requests with varnish_release=9.0: those that break off, those that are not there, those that are dropped; and
// targets that are whole URLs. Black box.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-newer-bodies');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'ok'));
  const program = backendProgram(
    origin.port,
    `import std;
     sub vcl_recv {
       if (req.http.kept) { std.cache_req_body(100KB); }
       return (pass);
     }
     sub vcl_backend_fetch { if (bereq.http.drop) { unset bereq.body; } }
     sub vcl_backend_error { set beresp.http.seen = beresp.status; }`,
  );
  proxy = await startProxy(box, { program, params: { worker_threads: '1', varnish_release: '9.0' } });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** Sends a request, and no more after it. */
async function ask(start: string, fields: string[], body = '') {
  const before = origin.requests.length;
  const connection = await ClientConnection.open(proxy.port);
  connection.send(`${start} HTTP/1.1\r\n${['Host: a', ...fields].join('\r\n')}\r\n\r\n${body}`);
  connection.finish();
  const response = await connection.response(start.split(' ', 1)[0]);
  connection.close();
  const request = origin.requests[before];
  const length = /^content-length: (.*)\r$/im.exec(request?.head ?? '')?.[1] ?? null;
  return { status: response?.status, response, length, body: request?.body.toString(), request };
}

describe('a body that cannot be read', () => {
  const CASES = [
    ['one that ends too soon', ['Content-Length: 10'], 'abc'],
    ['one whose chunks are broken', ['Transfer-Encoding: chunked'], '3\r\nabc\r\nzz\r\n'],
  ] as const;

  it.each(CASES)('is answered with 400, which the program sees: %s', async (_name, fields, body) => {
    const { status, response } = await ask('POST /', [...fields], body);
    expect(status).toBe(400);
    expect(response === null ? undefined : field(response, 'seen')).toBe('400');
  });

  it.each(CASES)('is answered with 400 where it was to be kept: %s', async (_name, fields, body) => {
    expect((await ask('POST /', [...fields, 'kept: 1'], body)).status).toBe(400);
  });
});

describe('a request without a body', () => {
  it.each(['POST', 'PUT', 'PATCH'])('is sent to the origin with Content-Length: 0: %s', async (method) => {
    expect((await ask(`${method} /`, [])).length).toBe('0');
    expect((await ask(`${method} /`, ['Content-Length: 0'])).length).toBe('0');
  });

  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])('says nothing of it: %s', async (method) => {
    expect((await ask(`${method} /`, ['Content-Length: 0'])).length).toBeNull();
  });
});

describe('a body that the program drops', () => {
  it.each([
    ['POST', []],
    ['POST', ['kept: 1']],
    ['GET', ['kept: 1']],
  ])('leaves nothing: %s %s', async (method, fields) => {
    const { status, body, length } = await ask(
      `${method} /`,
      ['Content-Length: 3', 'drop: 1', ...fields],
      'abc',
    );
    expect([status, body, length]).toEqual([200, '', null]);
  });
});

describe('a whole URL', () => {
  it.each([
    ['GET http://b.example', 'GET / HTTP/1.1'],
    ['GET http://b.example?/foo', 'GET /?/foo HTTP/1.1'],
    ['OPTIONS http://b.example', 'OPTIONS * HTTP/1.1'],
    ['GET https://b.example/x', 'GET /x HTTP/1.1'],
  ])('is a path and a host: %s', async (start, line) => {
    const counted = async () => (await proxy.counters())['MAIN.http1_absolute_form'] ?? 0;
    const before = await counted();
    const { request } = await ask(start, []);
    expect(request?.head.split('\r\n', 1)[0]).toBe(line);
    expect(request?.head).toMatch(/^host: b\.example\r$/im);
    expect(await counted()).toBe(before + 1);
  });

  it('without a host is refused', async () => {
    expect((await ask('GET http:///x', [])).status).toBe(400);
  });
});
