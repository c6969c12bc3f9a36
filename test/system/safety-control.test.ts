// Limits on one connection to a control socket: it cannot end the manager, stop traffic, or block another operator.
// Each case is a single hostile act against a running daemon; afterwards it is the same process, and it serves.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type Client, connect as connectClient } from '../../console/client/client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { alive, delay, Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-control');
let origin: Origin;
let proxy: RunningProxy;
let consolePort = 0;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  proxy = await startProxy(box, {
    backend: `127.0.0.1:${origin.port}`,
    args: ['--console', '127.0.0.1:0'],
    // Records hold whole headers.
    params: { vsl_reclen: '8k' },
  });
  consolePort = Number(/Console on 127\.0\.0\.1:(\d+)/.exec(proxy.daemon.stderr)?.[1]);
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

/** The manager and its worker as they were before, and both answer. */
async function unharmed(act: () => Promise<void>): Promise<void> {
  const worker = proxy.workerPid();
  await act();
  await delay(100);
  expect(alive(proxy.pid)).toBe(true);
  expect(proxy.workerPid()).toBe(worker);
  expect((await proxy.get('/')).status).toBe(200);
  expect((await proxy.adm('ping')).code).toBe(0);
  expect(proxy.daemon.stderr).not.toMatch(/stray/);
}

async function open(): Promise<Socket> {
  const socket = connect(consolePort, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

describe('one connection cannot end the manager', () => {
  it.each([
    ['a type', (deep: string) => `{"t":${deep}}`],
    ['a value', (deep: string) => `{"t":"hello","v":${deep},"client":"x"}`],
    ['no object', (deep: string) => deep],
  ])('by a frame of which %s is nested six thousand levels deep', async (_what, frame) => {
    await unharmed(async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${consolePort}/`);
      socket.on('error', () => {});
      await once(socket, 'open');
      socket.send(frame('['.repeat(6000) + ']'.repeat(6000)));
      const [code] = (await once(socket, 'close')) as [number];
      expect(code).toBe(1002);
    });
  });

  it.each([
    ['of a foreign origin', ['Origin: https://evil.example']],
    ['that asks for another version', ['Sec-WebSocket-Version: 99']],
    ['', []],
  ])('by a reset after an upgrade %s', async (_what, fields) => {
    await unharmed(async () => {
      for (let i = 0; i < 5; i++) {
        const socket = await open();
        socket.write(`${[...UPGRADE, ...fields].join('\r\n')}\r\n\r\n`);
        if (i > 0) await once(socket, 'data');
        socket.resetAndDestroy();
      }
    });
  });

  it.each(['MAIN.[z-a]*', 'MAIN.[]', '[', '[!]', '\\', '[[:alpha:]', '[a-\\]'])(
    'by the glob %s',
    async (glob) => {
      await unharmed(async () => {
        const socket = new WebSocket(`ws+unix:${join(proxy.dir, 'console.sock')}:/`);
        socket.on('error', () => {});
        await once(socket, 'open');
        const output: { t: string }[] = [];
        socket.on('message', (data) => output.push(JSON.parse(String(data))));
        socket.send('{"t":"hello","v":1,"client":"x"}');
        socket.send(
          JSON.stringify({ t: 'stat', id: 1, stat: { interval: 0, filters: [{ kind: 'include', glob }] } }),
        );
        await until('the end of the subscription', () => output.some((m) => m.t === 'end'));
        socket.terminate();
      });
    },
  );
});

/** Seconds that the manager's event loop has had of a processor. */
function managerSeconds(): number {
  const stat = readFileSync(`/proc/${proxy.pid}/task/${proxy.pid}/stat`, 'latin1');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

/** Asks the manager again and again until it is over; the most that it has computed before one answer, in seconds: what
 * it has waited for a processor is not its doing. */
async function mostBeforeAnAnswer(watcher: Client, isOver: () => boolean): Promise<number> {
  let most = 0;
  while (!isOver()) {
    const began = managerSeconds();
    await watcher.command('ping');
    most = Math.max(most, managerSeconds() - began);
    await delay(5);
  }
  return most;
}

describe('one subscription cannot freeze the manager', () => {
  const URLS = 60;
  /** Header values that make both engines work. */
  const HARD = `${'a'.repeat(3000)}b`;

  it.each(['.*.*.*Z$', '(.*a){40}$', '(a+)+\\\\1$', 'a{1500}[cd]'])(
    'by the query ReqHeader ~ "%s" over what anybody sends',
    async (pattern) => {
      const watcher = await connectClient({ dir: proxy.dir, name: 'watcher' });
      const heavy = await connectClient({ dir: proxy.dir, name: 'heavy' });
      let lost = 0;
      const ready = Array.from(
        { length: 8 },
        () =>
          new Promise<void>((resolve, reject) => {
            heavy.log(
              { grouping: 'request', from: 'head', query: `ReqHeader ~ "^X-Hard(er)?: ${pattern}"` },
              {
                frame: () => {},
                ready: () => resolve(),
                lost: (records) => {
                  lost += records;
                },
                end: (e) => reject(new Error(e?.message)),
              },
            );
          }),
      );
      await Promise.all(ready);
      let done = false;
      const asking = mostBeforeAnAnswer(watcher, () => done);
      for (let i = 0; i < URLS; i++) {
        expect(
          (await proxy.get(`/hard${i}`, { fields: { 'X-Hard': HARD, 'X-Harder': `${HARD}Z${HARD}` } }))
            .status,
        ).toBe(200);
      }
      await delay(1000);
      done = true;
      expect(await asking).toBeLessThan(1);
      if (pattern.includes('(')) await until('word of what was lost', () => lost > 0);
      heavy.close();
      watcher.close();
    },
  );

  it.each(['*?'.repeat(4000), '*[!x]'.repeat(1600), '*a'.repeat(4000)])('by the globs %#', async (glob) => {
    const watcher = await connectClient({ dir: proxy.dir, name: 'watcher' });
    const heavy = await connectClient({ dir: proxy.dir, name: 'heavy' });
    const filters = Array.from({ length: 100 }, () => ({ kind: 'include' as const, glob: `${glob}ZZ` }));
    const ended = new Promise<void>((resolve) => {
      heavy.stat({ interval: 0, filters }, { counters: () => {}, values: () => {}, end: () => resolve() });
    });
    let done = false;
    void ended.then(() => {
      done = true;
    });
    const end = performance.now() + 20_000;
    expect(await mostBeforeAnAnswer(watcher, () => done || performance.now() > end)).toBeLessThan(1);
    heavy.close();
    watcher.close();
  });
});
