// varnish_release=9.0 as clients and operators meet it: the builtin program, requests that wait, and the program whose
// release vcl.list tells.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Origin, type Reply, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const WAITING = 200;
const box = new Sandbox('proxyd-varnish9');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  proxy = await startProxy(box, {
    program: backendProgram(
      origin.port,
      `sub vcl_backend_response {
        if (bereq.url ~ "^/own") { set beresp.ttl = 1m; return (deliver); }
        if (bereq.url ~ "^/zero") { set beresp.ttl = 0s; set beresp.grace = 0s; return (deliver); }
        if (bereq.url ~ "^/keyed") { set beresp.ttl = 0s; set beresp.grace = 1h; return (deliver); }
      }
      sub vcl_recv { if (req.url ~ "/pass") { return (pass); } }
      sub vcl_backend_fetch { if (bereq.url ~ "^/own") { set bereq.http.Range = "bytes=0-3"; } }
      sub vcl_deliver { set resp.http.ttl = obj.ttl; set resp.http.hits = obj.hits; }`,
    ),
    params: { varnish_release: '9.0' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

async function ask(head: string): Promise<{ status: number; connection: string; body: string }> {
  const client = await ClientConnection.open(proxy.port);
  client.send(head);
  const got = await client.response();
  client.close();
  const connection = got.fields.find(([name]) => name.toLowerCase() === 'connection')?.[1] ?? '';
  return { status: got.status, connection, body: got.body.toString() };
}

/** The answers, with their counts, of clients that all wait for the first fetch of a URL. */
async function crowd(
  url: string,
  reply: (n: number) => Reply,
  fields = (_i: number) => ({}),
): Promise<Record<string, number>> {
  let release = (): void => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  origin.on(url, (_req, n) => (n === 1 ? [{ hold }, ...reply(n)] : reply(n)));
  await origin.endIdle();
  const slept = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
  const clients = await Promise.all(Array.from({ length: WAITING }, () => ClientConnection.open(proxy.port)));
  clients[0]?.send(requestText(url, { fields: fields(0) }));
  await until('the fetch', () => origin.seen(url).length === 1);
  for (const [i, client] of clients.entries())
    if (i > 0) client.send(requestText(url, { fields: fields(i) }));
  await proxy.counterReaches('MAIN.busy_sleep', slept + WAITING - 1);
  release();
  const answers: Record<string, number> = {};
  for (const client of clients) {
    const { status, body } = await client.response();
    const key = `${status} ${body}`;
    answers[key] = (answers[key] ?? 0) + 1;
    client.close();
  }
  return answers;
}

describe('requests that wait for a fetch', () => {
  it('all get what arrives, also without a ttl', async () => {
    expect(await crowd('/zero/1', (n) => respond('200 OK', {}, `body ${n}`))).toEqual({
      '200 body 1': WAITING,
    });
    expect(origin.seen('/zero/1')).toHaveLength(1);
  });

  it('are the last ones who get it: a later request asks anew', async () => {
    await crowd('/zero/2', (n) => respond('200 OK', {}, `body ${n}`));
    expect((await proxy.get('/zero/2')).body.toString()).toBe('body 2');
    expect((await proxy.get('/zero/2')).body.toString()).toBe('body 3');
  });

  it('get it where only grace is left of it, without a fetch in the background', async () => {
    expect(await crowd('/keyed/1', (n) => respond('200 OK', {}, `body ${n}`))).toEqual({
      '200 body 1': WAITING,
    });
    expect(origin.seen('/keyed/1')).toHaveLength(1);
  });

  it('get their own of another variant, which they share in turn', async () => {
    const kind = (i: number): Record<string, string> => ({ 'X-Kind': i % 2 === 0 ? 'even' : 'odd' });
    let release = (): void => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const url = '/zero/vary';
    origin.on(url, (req, n) => [
      ...(n === 1 ? [{ hold }] : []),
      ...respond('200 OK', { Vary: 'X-Kind' }, /X-Kind: (\w+)/.exec(req.head)?.[1] ?? ''),
    ]);
    const slept = (await proxy.counters())['MAIN.busy_sleep'] ?? 0;
    const clients = await Promise.all(Array.from({ length: 20 }, () => ClientConnection.open(proxy.port)));
    clients[0]?.send(requestText(url, { fields: kind(0) }));
    await until('the fetch', () => origin.seen(url).length === 1);
    for (const [i, client] of clients.entries())
      if (i > 0) client.send(requestText(url, { fields: kind(i) }));
    await proxy.counterReaches('MAIN.busy_sleep', slept + 19);
    release();
    for (const [i, client] of clients.entries()) {
      expect((await client.response()).body.toString()).toBe(kind(i)['X-Kind']);
      client.close();
    }
  });

  it('do not share what is private', async () => {
    const answers = await crowd('/private', (n) =>
      respond('200 OK', { 'Cache-Control': 'private' }, `own ${n}`),
    );
    expect(Object.keys(answers)).toHaveLength(WAITING);
  });
});

describe('ranges', () => {
  it('that the program asks for are delivered and kept', async () => {
    const part = { 'Content-Range': 'bytes 0-3/10' };
    for (const url of ['/own/kept', '/own/pass']) {
      origin.on(url, respond('206 Partial Content', part, '0123'));
      for (const fields of [{}, { Range: 'bytes=0-3' }, {}]) {
        const got = await proxy.get(url, { fields });
        expect([got.status, got.body.toString()]).toEqual([206, '0123']);
      }
    }
    expect(origin.seen('/own/kept')).toHaveLength(1);
    origin.on('/own/other', respond('206 Partial Content', { 'Content-Range': 'bytes 4-7/10' }, '4567'));
    expect((await proxy.get('/own/other')).status).toBe(503);
  });
});

describe('the builtin program', () => {
  it('answers 501 to a method that it does not know, and closes', async () => {
    expect(await ask(requestText('/', { method: 'BREW' }))).toMatchObject({
      status: 501,
      connection: 'close',
    });
    expect(origin.seen('/')).toHaveLength(0);
  });

  it('refuses a URL that does not begin with a slash, but for OPTIONS', async () => {
    expect((await ask(requestText('nowhere'))).status).toBe(400);
    expect((await ask(requestText('*', { method: 'OPTIONS' }))).status).not.toBe(400);
    expect(origin.seen('nowhere')).toHaveLength(0);
  });

  it('removes Content-Range from a whole response', async () => {
    origin.on('/whole', respond('200 OK', { 'Content-Range': 'bytes 0-3/4' }, 'whole'));
    const got = await proxy.get('/whole');
    expect([got.status, got.fields.some(([name]) => name === 'Content-Range')]).toEqual([200, false]);
  });

  it('is that of the release under which a program was loaded', async () => {
    await proxy.adm('param.set', 'varnish_release', '7.1');
    await proxy.adm('vcl.inline old "vcl 4.1; backend default none;"');
    const list = await proxy.adm('vcl.list', '-j');
    expect(list.stdout).toContain('"name": "old",\n    "varnish_release": "7.1"');
    const text = (await proxy.adm('vcl.list')).stdout;
    expect(text).toMatch(/active .*\[9\.0\]$/m);
    expect(text).toMatch(/ old$/m);
  });
});
