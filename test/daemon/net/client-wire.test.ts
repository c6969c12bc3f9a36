// The connection of a client over a real one, of both kinds: order, backpressure, half-closed clients and ends.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Holder, NOTHING, own, Piece } from '../../../daemon/flow/piece.ts';
import { keep } from '../../../daemon/http1/lent-bytes.ts';
import { HandleWires } from '../../../daemon/net/client-handle.ts';
import { type ClientWire, SocketWire } from '../../../daemon/net/client-wire.ts';
import { type RuntimeHandle, type RuntimeHandles, runtimeHandles } from '../../../daemon/runtime-handles.ts';
import { until } from '../../harness/processes.ts';
import { bytesOf } from '../flow/flow-ends.ts';

type Accept = (server: Server, accepted: (wire: ClientWire) => void) => void;

const reads = Buffer.alloc(64 * 1024);
/** Lengths of the reads whose turn is over. */
let turns: number[] = [];
const wires = new HandleWires(runtimeHandles() as RuntimeHandles, {
  bytes: reads,
  turnOver: (length) => turns.push(length),
});
const handles: Accept = (server, accepted) => {
  const { _handle } = server as unknown as {
    _handle: { onconnection: (status: number, handle: RuntimeHandle) => void };
  };
  _handle.onconnection = (_status, handle) => accepted(wires.of(handle));
};
const sockets: Accept = (server, accepted) =>
  server.on('connection', (socket) => accepted(new SocketWire(socket)));

/** A wire and its client; callbacks are recorded in `heard`. */
interface Pair {
  readonly wire: ClientWire;
  readonly client: Socket;
  readonly arrived: string[];
}

const cleanUp: (() => void)[] = [];
afterEach(() => {
  for (const each of cleanUp.splice(0)) each();
  turns = [];
});

async function pair(accept: Accept, path?: string): Promise<Pair> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true });
  const options = path === undefined ? { port: 0, host: '127.0.0.1' } : { path };
  await new Promise<void>((listening) => server.listen(options, listening));
  const accepted = new Promise<ClientWire>((resolve) => accept(server, resolve));
  const at = path === undefined ? { port: (server.address() as AddressInfo).port } : { path };
  const client = connect({ ...at, host: '127.0.0.1', allowHalfOpen: true });
  const wire = await accepted;
  if (client.connecting) await once(client, 'connect');
  const arrived: string[] = [];
  wire.begin({
    receive: (buf, start, end) => arrived.push(keep(buf, start, end).toString('latin1')),
    receivedEnd: () => arrived.push('end'),
    lost: () => arrived.push('lost'),
  });
  cleanUp.push(() => {
    client.destroy();
    wire.destroy();
    server.close();
  });
  return { wire, client, arrived };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Numbered, so that a wrong order shows. */
const piece = (n: number, length = 256 * 1024): Buffer => Buffer.alloc(length, `piece ${n} `);
/** Writes until the kernel takes no more; what was written. One that it took in two parts may leave nothing waiting. */
function fill(wire: ClientWire): Buffer[] {
  const written: Buffer[] = [];
  do written.push(piece(written.length));
  while (wire.write(own(written.at(-1) as Buffer)) === 'more' || wire.queued === 0);
  return written;
}

async function received(client: Socket, length: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sum = 0;
  for await (const part of client) {
    parts.push(part as Buffer);
    sum += (part as Buffer).length;
    if (sum >= length) break;
  }
  return Buffer.concat(parts);
}

describe.each([
  ['handles', handles],
  ['sockets', sockets],
])('over %s', (kind, accept) => {
  it('knows both ends, reads and answers', async () => {
    const { wire, client, arrived } = await pair(accept);
    expect(wire.remote).toMatchObject({ address: '127.0.0.1', port: client.localPort });
    expect(wire.local).toMatchObject({ address: '127.0.0.1', port: client.remotePort });
    expect(wire.fd).toBeGreaterThan(2);
    client.write('question');
    await turn();
    expect(arrived).toEqual([]);
    wire.resume();
    await until('the question', () => arrived.length > 0);
    expect(arrived).toEqual(['question']);
    if (kind === 'handles') expect(turns).toEqual([8]);
    expect(wire.write(bytesOf('ans'))).toBe('more');
    expect(wire.write(own(Buffer.from('we'), Buffer.from('r')))).toBe('more');
    expect([wire.write(NOTHING), wire.write(bytesOf('')), wire.isGone]).toEqual(['more', 'more', false]);
    expect([wire.isSending, wire.queued]).toEqual([false, 0]);
    expect((await received(client, 6)).toString()).toBe('answer');
  });

  it('does not read while it is paused', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    client.write('a');
    await until('one', () => arrived.length === 1);
    wire.pause();
    client.write('b');
    client.end();
    for (let i = 0; i < 20; i++) await turn();
    expect(arrived).toEqual(['a']);
    wire.resume();
    await until('the end', () => arrived.includes('end'));
    expect(arrived).toEqual(['a', 'b', 'end']);
  });

  it('keeps the order of what the kernel does not take, and says when all has left', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    const written = fill(wire);
    expect(wire.isSending).toBe(true);
    expect(wire.queued).toBeGreaterThan(0);
    let flushed = 0;
    wire.flushed(() => flushed++);
    const more = [piece(90, 10), piece(91, 300_000)];
    expect(wire.write(own(...more))).toBe('wait');
    expect(wire.write(own(piece(92, 5)))).toBe('wait');
    wire.flushed(() => {
      flushed++;
      expect(wire.isSending).toBe(false);
    });
    for (let i = 0; i < 5; i++) await turn();
    expect(flushed).toBe(0);
    const all = Buffer.concat([...written, ...more, piece(92, 5)]);
    expect((await received(client, all.length)).equals(all)).toBe(true);
    await until('both are told', () => flushed === 2);
    expect(wire.queued).toBe(0);
    expect(arrived).not.toContain('end');
  });

  it.each([
    ['when the client has taken them', false],
    ['when the connection goes first', true],
  ])('holds pieces that the kernel has not taken, and releases them %s', async (_when, goes) => {
    const { wire, client } = await pair(accept);
    const holds: number[] = [];
    const made: Buffer[] = [];
    let room: string;
    do {
      const at = holds.push(0) - 1;
      const holder: Holder = {
        hold: () => {
          holds[at] = (holds[at] ?? 0) + 1;
        },
        release: () => {
          holds[at] = (holds[at] ?? 0) - 1;
        },
      };
      made.push(piece(at));
      room = wire.write(new Piece([made.at(-1) as Buffer], holder));
    } while (room === 'more');
    const written = holds.length;
    expect(holds).toEqual([...Array.from({ length: written - 1 }, () => 0), 1]);
    for (let i = 0; i < 5; i++) await turn();
    expect(holds.at(-1)).toBe(1);
    if (goes) wire.destroy();
    else await received(client, written * piece(0).length);
    await until('it is released', () => holds.at(-1) === 0);
  });

  it('calls back in a later turn when nothing is queued', async () => {
    const { wire } = await pair(accept);
    let reported = false;
    wire.flushed(() => {
      reported = true;
    });
    expect(reported).toBe(false);
    await until('told', () => reported);
  });

  it('still answers a client that has ended its side, and is gone when both have', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    client.end('last');
    await until('the end', () => arrived.includes('end'));
    expect([...arrived, wire.isGone]).toEqual(['last', 'end', false]);
    wire.write(bytesOf('answer'));
    wire.end();
    expect((await received(client, Number.POSITIVE_INFINITY)).toString()).toBe('answer');
    await until('it is gone', () => arrived.includes('lost'));
    expect([...arrived, wire.isGone]).toEqual(['last', 'end', 'lost', true]);
  });

  it('ends after what has queued, takes nothing more, and waits for the end of the client', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    const written = Buffer.concat(fill(wire));
    let flushed = false;
    wire.end();
    wire.flushed(() => {
      flushed = true;
    });
    expect(wire.write(bytesOf('late'))).toBe('more');
    expect(wire.write(own(Buffer.from('later'), Buffer.from('still')))).toBe('more');
    expect((await received(client, Number.POSITIVE_INFINITY)).equals(written)).toBe(true);
    await until('all has left', () => flushed);
    expect(arrived).toEqual([]);
    client.end();
    await until('it is gone', () => arrived.includes('lost'));
    expect(arrived).toEqual(['end', 'lost']);
  });

  it('is lost once, later, however it is destroyed', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    fill(wire);
    wire.flushed(() => arrived.push('flushed'));
    wire.destroy();
    wire.destroy();
    wire.reset();
    wire.end();
    wire.resume();
    expect([wire.isGone, arrived, wire.write(own(piece(1)))]).toEqual([true, [], 'more']);
    client.on('error', () => undefined).resume();
    await until('it is gone', () => arrived.length > 0);
    for (let i = 0; i < 5; i++) await turn();
    expect(arrived).toEqual(['lost']);
  });

  it('resets', async () => {
    const { wire, client, arrived } = await pair(accept);
    wire.resume();
    const error = once(client.resume(), 'error');
    wire.reset();
    await expect(error.then(([cause]) => (cause as NodeJS.ErrnoException).code)).resolves.toBe('ECONNRESET');
    await until('it is gone', () => arrived.length > 0);
    expect(arrived).toEqual(['lost']);
  });

  it('is lost when the client resets, and when a write fails', async () => {
    for (const reads of [true, false]) {
      const { wire, client, arrived } = await pair(accept);
      if (reads) wire.resume();
      client.resetAndDestroy();
      await once(client, 'close');
      if (!reads) {
        // The first may still be taken.
        for (let i = 0; i < 5 && !wire.isGone; i++) {
          wire.write(bytesOf('x'));
          await turn();
        }
      }
      await until('it is gone', () => arrived.length > 0);
      expect(arrived).toEqual(['lost']);
    }
  });

  it('is lost when what has queued fails', async () => {
    const { wire, client, arrived } = await pair(accept);
    fill(wire);
    wire.flushed(() => arrived.push('flushed'));
    client.resetAndDestroy();
    await until('it is gone', () => arrived.length > 0);
    expect(arrived).toEqual(['lost']);
  });

  it('works on a Unix socket, which has no addresses', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wire-'));
    cleanUp.push(() => rmSync(directory, { recursive: true }));
    const { wire, client, arrived } = await pair(accept, join(directory, 's'));
    expect([wire.remote, wire.local]).toEqual([null, null]);
    expect(wire.fd).toBeGreaterThan(2);
    wire.resume();
    client.write('question');
    await until('the question', () => arrived.length > 0);
    wire.write(bytesOf('answer'));
    wire.end();
    expect((await received(client, Number.POSITIVE_INFINITY)).toString()).toBe('answer');
    client.end();
    await until('it is gone', () => arrived.includes('lost'));
    expect(arrived).toEqual(['question', 'end', 'lost']);
  });
});
