// Garbage on the console's socket: each connection gets an error and an orderly close, and others are not affected.
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-proto');
let origin: Origin;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', {}, 'hello\n'));
  proxy = await startProxy(box, { backend: `127.0.0.1:${origin.port}` });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

interface Seen {
  messages: Record<string, unknown>[];
  closeCode: number;
}

/** Opens the console socket, waits for the server's hello, sends, and collects until the server closes. */
async function talk(...sends: (string | Buffer)[]): Promise<Seen> {
  const socket = new WebSocket(`ws+unix:${join(proxy.dir, 'console.sock')}:/`);
  const messages: Record<string, unknown>[] = [];
  socket.on('error', () => {});
  socket.on('message', (data, binary) => {
    if (!binary) messages.push(JSON.parse(String(data)) as Record<string, unknown>);
    if (messages.length === 1) for (const each of sends.splice(0)) socket.send(each);
  });
  const [code] = (await once(socket, 'close')) as [number];
  return { messages, closeCode: code };
}

describe('garbage on the console socket', () => {
  it.each([
    ['no JSON', ['}{ nonsense'], 'bad-message'],
    ['no object', ['[1,2,3]'], 'bad-message'],
    ['a binary frame', [Buffer.from([0, 1, 2, 3])], 'bad-message'],
    ['an unknown message', ['{"t":"no-such"}'], 'bad-message'],
    ['an unknown version', ['{"t":"hello","v":999,"client":"test"}'], 'bad-version'],
    ['a command before hello', ['{"t":"cmd","id":1,"line":"ping"}'], undefined],
    [
      'a field of the wrong kind',
      ['{"t":"hello","v":1,"client":"x"}', '{"t":"cmd","id":"one","line":7}'],
      'bad-message',
    ],
    ['an unknown field', ['{"t":"hello","v":1,"client":"x","extra":true}'], 'bad-message'],
  ])('%s: an error message and an orderly close', async (_what, sends, code) => {
    const seen = await talk(...sends);
    const error = seen.messages.find((m) => m.t === 'error');
    expect(error).toBeDefined();
    if (code !== undefined) expect(error?.code).toBe(code);
    expect([1002, 1003, 1007, 1008]).toContain(seen.closeCode);
    expect((await proxy.adm('ping')).code).toBe(0);
  });

  it('a message of a megabyte is refused', async () => {
    const seen = await talk(
      '{"t":"hello","v":1,"client":"x"}',
      `{"t":"cmd","id":1,"line":"${'a'.repeat(1_000_000)}"}`,
    );
    expect(seen.closeCode).not.toBe(1000);
    expect((await proxy.adm('ping')).code).toBe(0);
  });

  it('bytes that are no WebSocket are answered and closed', async () => {
    const socket = connect(join(proxy.dir, 'console.sock'));
    let answer = '';
    socket.on('data', (d) => {
      answer += String(d);
    });
    socket.on('error', () => {});
    socket.write('GARBAGE\x00\xff\r\n\r\n');
    await once(socket, 'close');
    if (answer !== '') expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await proxy.adm('ping')).code).toBe(0);
    expect((await proxy.get('/')).status).toBe(200);
  });

  it('a query with an error is reported with its position, and the connection stays', async () => {
    const socket = new WebSocket(`ws+unix:${join(proxy.dir, 'console.sock')}:/`);
    const messages: Record<string, unknown>[] = [];
    socket.on('message', (data, binary) => {
      if (binary) return;
      const message = JSON.parse(String(data)) as Record<string, unknown>;
      messages.push(message);
      if (message.t === 'hello') socket.send('{"t":"hello","v":1,"client":"test"}');
      if (message.t === 'welcome') {
        socket.send('{"t":"log","id":7,"log":{"grouping":"request","from":"tail","query":"ReqURL eq"}}');
        socket.send('{"t":"cmd","id":8,"line":"ping"}');
      }
    });
    // The two answers may come in either order.
    await until('both answers', () => ['error', 'reply'].every((t) => messages.some((m) => m.t === t)));
    socket.close();
    await once(socket, 'close');
    expect(messages.find((m) => m.t === 'error')).toMatchObject({ id: 7, code: 'bad-query' });
    expect(messages.find((m) => m.t === 'reply')).toMatchObject({ id: 8, status: 200 });
  });
});
