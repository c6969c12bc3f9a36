// Plays the cases and writes what was logged: per request the case's name and its group, in order; the bans that were
// in force at the end of each case.

import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect as netConnect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { LiveSource } from '../../../console/client/live-source.ts';
import { startDaemon } from '../../../console/demo/daemon-child.ts';
import { encodeTransaction, type RecordedTransaction } from '../../../console/model/session/recording.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { type CaseStep, WHY_CASES, whyProgram } from './cases.ts';

export interface WhyRecording {
  /** Groups in the order of their ends. */
  groups: RecordedTransaction[][];
  /** Answers to ban.list -j after each case. */
  bans: Record<string, string>;
}

const OUTPUT = new URL('../../console/views/log/why-recorded.json.gz', import.meta.url);

export async function recordWhy(): Promise<void> {
  let flaky = 0;
  const origin = createServer((request, response) => {
    // Asked twice by the first request, because a fetch is tried again.
    if (request.url === '/flaky' && flaky++ < 2) response.socket?.destroy();
    else answer(request.url ?? '/', response);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const daemon = await startDaemon(whyProgram(port));
  const source = new LiveSource({ dir: daemon.dir, name: 'recorder' });
  source.start({
    connection: () => {},
    counters: () => {},
    values: () => {},
    past: () => {},
    event: () => {},
  });
  const groups: LogTransaction[][] = [];
  await sleep(500);
  source.log(
    { grouping: 'request', from: 'tail' },
    {
      batch: (transactions) => {
        for (const tx of transactions) {
          if (tx.first === true || groups.length === 0) groups.push([]);
          groups.at(-1)?.push(tx);
        }
      },
      lost: () => undefined,
      failed: (message) => process.stderr.write(`${message}\n`),
    },
  );
  await sleep(500);
  const bans: Record<string, string> = {};
  for (const { name, steps } of WHY_CASES) {
    for (const step of steps) {
      if ('wait' in step) await sleep(step.wait * 1000);
      else if ('command' in step)
        process.stderr.write(`${name}: ${JSON.stringify(await source.command(step.command))}\n`);
      else
        await Promise.all(
          Array.from({ length: step.together ?? 1 }, (_, i) => request(daemon.port, name, step, i)),
        );
    }
    bans[name] = (await source.command('ban.list -j')).body;
    await sleep(120);
  }
  await sleep(1500);
  source.close();
  await daemon.stop();
  origin.closeAllConnections();
  origin.close();
  const recording: WhyRecording = { groups: groups.map((g) => g.map(encodeTransaction)), bans };
  writeFileSync(OUTPUT, gzipSync(JSON.stringify(recording), { level: 9 }));
  process.stdout.write(`${groups.length} groups recorded\n`);
}

/** By hand over a socket: some requests are meant to be odd. Later ones of several come while the first is served. */
async function request(
  port: number,
  name: string,
  step: Extract<CaseStep, { get: string }>,
  nth: number,
): Promise<void> {
  await sleep(nth * 120);
  const headers = { Host: 'shop.example', ...step.headers };
  const lines = Object.entries(headers)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${key}: ${value}\r\n`);
  const body = step.body ?? '';
  if (body !== '') lines.push(`Content-Length: ${body.length}\r\n`);
  const head = `${step.method ?? 'GET'} ${step.get} HTTP/1.1\r\nX-Case: ${name}\r\n${lines.join('')}Connection: close\r\n\r\n`;
  await new Promise<void>((resolve) => {
    const socket = netConnect(port, '127.0.0.1', () => socket.write(head + body + (step.raw ?? '')));
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
    socket.resume();
    setTimeout(() => socket.destroy(), 3000).unref();
  });
}

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  '/short': { 'Cache-Control': 'max-age=1' },
  '/set-cookie': { 'Set-Cookie': 'a=b' },
  '/private': { 'Cache-Control': 'private, max-age=60' },
  '/no-store': { 'Cache-Control': 'no-store' },
  '/vary-all': { Vary: '*' },
  '/zero': { 'Cache-Control': 'max-age=0' },
  '/vary': { Vary: 'Accept-Language', 'Cache-Control': 'max-age=60' },
  '/tagged': { xkey: 'red green', 'Cache-Control': 'max-age=60' },
  '/keyed': { xkey: 'blue green', 'Cache-Control': 'max-age=60' },
  '/evict-me': { 'X-Evict': '1', 'Cache-Control': 'max-age=60' },
};

/** Answers that break a rule. */
const RAW: Readonly<Record<string, string>> = {
  '/two-lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx',
  '/bad-head': 'HTTP/1.1 200 OK\r\nX-Odd : y\r\n\r\n',
  '/bad-chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n',
};

function answer(url: string, response: ServerResponse): void {
  const raw = RAW[url];
  if (raw !== undefined) {
    response.socket?.end(raw);
    return;
  }
  switch (url) {
    case '/close':
      response.socket?.destroy();
      return;
    case '/stall':
      return;
    case '/fail':
      response.writeHead(500, { 'Cache-Control': 'no-store' }).end('broken\n');
      return;
    case '/slow':
    case '/slow?busy':
    case '/slow?fail':
      setTimeout(() => response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('slow\n'), 300);
      return;
    case '/dribble':
      response.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': '20000' });
      response.write('x'.repeat(10_000));
      setTimeout(() => response.end('x'.repeat(10_000)), 400);
      return;
    default:
      response.writeHead(200, { 'Cache-Control': 'max-age=60', ...HEADERS[url] });
      response.end(`hello ${url}\n`);
  }
}
