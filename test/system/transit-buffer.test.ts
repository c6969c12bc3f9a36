// How far an uncacheable response may be ahead of its client: by transit_buffer and beresp.transit_buffer. Black box.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

/** More than sockets keep on the way. */
const SIZE = 24 * 1024 * 1024;
const box = new Sandbox('proxyd-transit-buffer');
const clients: Socket[] = [];
let origin: Server;
let proxy: RunningProxy;

beforeAll(async () => {
  origin = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head: Buffer) => {
      const length = head.toString().startsWith('GET /little') ? 2 : SIZE;
      socket.end(
        Buffer.concat([
          Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`),
          Buffer.alloc(length),
        ]),
      );
    });
  });
  await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
  const { port } = origin.address() as AddressInfo;
  proxy = await startProxy(box, {
    program: backendProgram(
      port,
      `sub vcl_recv { return (pass); }
       sub vcl_backend_response {
         set beresp.http.usual = beresp.transit_buffer;
         if (bereq.url == "/far") { set beresp.transit_buffer = 32MB; }
         set beresp.http.now = beresp.transit_buffer;
       }`,
    ),
    params: { worker_threads: '1', transit_buffer: '20k' },
  });
});
afterAll(async () => {
  for (const socket of clients) socket.destroy();
  await box.dispose();
  origin.close();
});

/** A client that reads nothing yet. */
function ask(url: string): Socket {
  const { port } = proxy;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
  );
  socket.on('error', () => undefined);
  socket.pause();
  clients.push(socket);
  return socket;
}

async function lengthOf(socket: Socket): Promise<number> {
  let length = 0;
  for await (const bytes of socket) length += (bytes as Buffer).length;
  return length;
}

describe('the transit buffer', () => {
  it('is what the parameter says, unless the program says something else', async () => {
    const { usual, now } = Object.fromEntries(
      await Promise.all(
        ['usual', 'now'].map(async (name) => [name, field(await proxy.get('/little'), name)]),
      ),
    );
    expect([usual, now]).toEqual(['20480', '20480']);
  });

  it('stops a fetch whose client reads nothing, and lets another one come to its end', async () => {
    const counted = async (): Promise<number> => (await proxy.counters())['MAIN.transit_buffered'] ?? 0;
    const before = await counted();
    const slow = ask('/near');
    await until(
      'the first fetch',
      async () => ((await proxy.counters())['MAIN.backend_req'] ?? 0) >= 3 || null,
    );
    ask('/far');
    await until('the fetch that may be far ahead', async () => (await counted()) > before || null);
    expect((await counted()) - before).toBe(SIZE);
    expect(await lengthOf(slow)).toBeGreaterThan(SIZE);
    await until('the other fetch', async () => (await counted()) === before + 2 * SIZE || null);
  });

  it('is 256 kilobytes at zero, which is counted apart', async () => {
    await proxy.adm('param.set', 'transit_buffer', '0');
    const before = (await proxy.counters())['MAIN.transit_stored'] ?? 0;
    const slow = ask('/near');
    ask('/far');
    expect(await lengthOf(slow)).toBeGreaterThan(SIZE);
    await until(
      'the fetch',
      async () => (await proxy.counters())['MAIN.transit_stored'] === before + SIZE || null,
    );
  });
});
