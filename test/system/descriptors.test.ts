// A worker that runs out of descriptors: excess clients are rejected, counted and logged, others are still served,
// and fetches still get a descriptor.
import { connect, type Socket } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-descriptors');
afterAll(() => box.dispose());

it.each([1, 3])(
  'turns clients away, reports it, and serves those it has, with %i threads',
  async (threads) => {
    const origin = await Origin.start();
    origin.on('*', ({ url }) => respond('200 OK', { 'Cache-Control': 'no-store' }, url));
    const proxy = await startProxy(box, {
      backend: `127.0.0.1:${origin.port}`,
      descriptors: 160,
      params: { worker_threads: String(threads), timeout_idle: '60' },
    });
    const connections = async (): Promise<number[]> => {
      const counters = await proxy.counters();
      return Array.from({ length: threads }, (_, i) => counters[`THR.${i}.connections_open`] ?? Number.NaN);
    };
    const open: Socket[] = [];
    let turnedAway = 0;
    for (let i = 0; i < 200; i++) {
      const socket = connect(proxy.port, '127.0.0.1');
      open.push(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => turnedAway++);
    }
    try {
      await until('clients turned away', async () => {
        const { 'MAIN.sess_fail_emfile': counted = 0 } = await proxy.counters();
        return counted > 0 && counted === turnedAway;
      });
      const counters = await proxy.counters();
      expect(counters['MAIN.sess_fail']).toBe(counters['MAIN.sess_fail_emfile']);
      await proxy.logged(
        /Out of descriptors: .* turned away, \d+ of 160 are in use\. Raise the limit/,
        '-g',
        'raw',
        '-i',
        'Notice',
      );
      const each = await connections();
      expect(each.reduce((sum, count) => sum + count)).toBe(open.length - turnedAway);
      // One of those that were let in: its request needs a descriptor to the origin.
      const mine = open.find((socket) => !socket.destroyed && socket.readyState === 'open') as Socket;
      const answer = new Promise<string>((done) => mine.once('data', (bytes) => done(bytes.toString())));
      mine.write('GET /fetched HTTP/1.1\r\nHost: a\r\n\r\n');
      expect(await answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\/fetched$/);
    } finally {
      for (const socket of open) socket.destroy();
    }
    await until('none is left', async () => (await connections()).every((count) => count === 0));
    await until('room again', async () => (await proxy.get('/again').catch(() => null))?.status === 200);
    await origin.close();
  },
);
