import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as netConnect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Client, type ConnectError, connect } from '../../../../console/client/client.ts';
import { LiveSource } from '../../../../console/client/live-source.ts';
import { Secret } from '../../../../daemon/manager/endpoints/authentication.ts';
import type { ControlHost } from '../../../../daemon/manager/endpoints/control-connection.ts';
import { ControlServer } from '../../../../daemon/manager/endpoints/control-server.ts';
import type { StreamSink } from '../../../../daemon/manager/endpoints/streams/stream.ts';
import type { LogSubscription, ServerMessage } from '../../../../protocol/messages.ts';
import { proofText } from '../../../../protocol/proof.ts';
import { COMMANDS } from '../../../../protocol/tables/commands.ts';

const SECRET = Buffer.from('very secret\n');
let dir: string;
let server: ControlServer;
let sinks: StreamSink[];
let logs: LogSubscription[];
let closedStreams: number[];
let commands: string[];
let faults: unknown[];
/** Commands that begin with "held" wait for this. */
let held: Promise<void>;

/** Of a subscription to counters with a long list of them. */
const LONG = 77;

/** Notes the end of a stream for the test in which it was opened. */
function closing(id: number): () => void {
  const ended = closedStreams;
  return () => void ended.push(id);
}

const host: ControlHost = {
  identity: () => 'me',
  version: '9.9',
  state: () => 'running',
  command: async (line) => {
    commands.push(line);
    if (line === 'quit') return { status: 500, body: 'Closing CLI connection' };
    if (line.startsWith('long')) return { status: 200, body: 'x'.repeat(1 << 20) };
    if (line.startsWith('slow')) await new Promise((resolve) => setTimeout(resolve, 50));
    if (line.startsWith('held')) await held;
    return { status: line === 'bad' ? 106 : 200, body: `did ${line}` };
  },
  openHistory: async (id, request, sink) => {
    sinks.push(sink);
    setImmediate(() => {
      sink.json({ t: 'past', id, samples: [[request.from]] });
      sink.json({ t: 'end', id });
    });
    return { close: closing(id) };
  },
  openLog: async (id, sub, sink) => {
    if (sub.query === 'broken') {
      return { error: { code: 'bad-query', message: 'no', detail: 'broken\n-^---' } };
    }
    sinks.push(sink);
    logs.push(sub);
    return { close: closing(id) };
  },
  openCounters: async (id, sub, sink) => {
    if (sub.interval === LONG) {
      const info = JSON.stringify({ t: 'counters', id, info: [{ name: 'x'.repeat(20 << 20) }] });
      void sink
        .text(Buffer.from(info))
        .then(() => sink.json({ t: 'values', id, at: 1.5, values: ['taken'] }));
      return { close: closing(id) };
    }
    sink.json({ t: 'counters', id, info: [] });
    sink.json({ t: 'values', id, at: 1.5, values: [] });
    if (sub.interval === 0) sink.json({ t: 'end', id });
    return { close: closing(id) };
  },
  fault: (cause) => faults.push(cause),
};

/** @param greeting milliseconds that a client has to be admitted */
function limited(greeting: number): ControlServer {
  const allowed = { origins: ['https://ok.example'], hosts: ['tunnel.example:7000'] };
  return new ControlServer(host, new Secret(SECRET), allowed, { pending: 6, admitted: 4, greeting });
}

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-control-'));
  sinks = [];
  logs = [];
  closedStreams = [];
  commands = [];
  faults = [];
  server = limited(1500);
  await server.listenPath(join(dir, 'console.sock'));
});
afterEach(async () => {
  await server.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A bare WebSocket: what it received, and the code it was closed with. */
function raw(options: { path?: string; port?: number; origin?: string } = {}) {
  const { port, origin } = options;
  const ws = new WebSocket(port === undefined ? 'ws://localhost/' : `ws://127.0.0.1:${port}/`, {
    ...(port === undefined
      ? { createConnection: () => netConnect(options.path ?? join(dir, 'console.sock')) }
      : {}),
    ...(origin === undefined ? {} : { origin }),
  });
  const received: ServerMessage[] = [];
  ws.on('message', (d: Buffer) => received.push(JSON.parse(d.toString())));
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  const refused = new Promise<string>((resolve) => ws.on('error', (e) => resolve(e.message)));
  const opened = new Promise<void>((resolve) => ws.on('open', () => resolve()));
  return { ws, received, closed, refused, opened };
}

describe('the Unix socket', () => {
  it('belongs to its user alone and asks for no secret', async () => {
    expect(statSync(join(dir, 'console.sock')).mode & 0o777).toBe(0o600);
    const client = await connect({ dir });
    expect(client).toMatchObject({ server: 'proxyd', version: '9.9', identity: 'me', state: 'running' });
    expect(await client.command('x')).toEqual({ status: 200, body: 'did x' });
    client.close();
  });

  it('runs the commands of one connection in order', async () => {
    const client = await connect({ dir });
    const order: string[] = [];
    await Promise.all(['slow 1', '2', '3'].map((line) => client.command(line).then(() => order.push(line))));
    expect(order).toEqual(['slow 1', '2', '3']);
    client.close();
  });

  it('is closed after quit', async () => {
    const client = await connect({ dir });
    const gone = new Promise<ConnectError | null>((resolve) => {
      client.onClose = resolve;
    });
    expect((await client.command('quit')).status).toBe(500);
    expect(await gone).toMatchObject({ kind: 'closed' });
    await expect(client.command('x')).rejects.toThrow('connection is closed');
  });

  it('fails what is in flight when the daemon goes', async () => {
    const client = await connect({ dir });
    const ends: unknown[] = [];
    client.log({ grouping: 'raw', from: 'tail' }, { frame: () => {}, end: (e) => ends.push(e) });
    const reply = client.command('slow 2');
    reply.catch(() => {});
    await server.close();
    await expect(reply).rejects.toThrow();
    expect(ends).toEqual([{ code: 'internal', message: 'connection lost' }]);
  });
});

describe('the socket of those who may read', () => {
  const gid = process.getgid?.() ?? 0;
  beforeEach(() => server.listenPath(join(dir, 'read.sock'), gid));

  /** Sends lines without a client that could hold them back. */
  async function replies(lines: readonly string[]): Promise<(ServerMessage & { t: 'reply' })[]> {
    const { ws, received, opened } = raw({ path: join(dir, 'read.sock') });
    await opened;
    ws.send(JSON.stringify({ t: 'hello', v: 1, client: 'x' }));
    lines.forEach((line, id) => {
      ws.send(JSON.stringify({ t: 'cmd', id, line }));
    });
    await expect.poll(() => received.filter((m) => m.t === 'reply').length).toBe(lines.length);
    ws.terminate();
    return received.filter((m) => m.t === 'reply');
  }

  it('belongs to their group', () => {
    const { mode, gid: group } = statSync(join(dir, 'read.sock'));
    expect([mode & 0o777, group]).toEqual([0o660, gid]);
  });

  it('answers every command that changes nothing, and no other', async () => {
    const names = COMMANDS.map((row) => row.name).filter((name) => name !== 'quit');
    const readable = COMMANDS.filter((row) => row.reads === true).map((row) => row.name);
    for (let at = 0; at < names.length; at += 20) {
      const some = names.slice(at, at + 20);
      const got = await replies(some);
      got.forEach(({ status, body }, i) => {
        const name = some[i] as string;
        if ((readable as string[]).includes(name)) expect({ name, status }).toEqual({ name, status: 200 });
        else expect(body).toBe(`${name} needs console.sock: this connection is read-only.\n`);
      });
    }
    expect(commands.sort()).toEqual(readable.filter((name) => name !== 'quit').sort());
    expect(readable).not.toContain('stop');
  });

  it('is not talked into more by the way a command is written', async () => {
    const lines = [
      ...[
        '"stop"',
        '  stop',
        '\tstop',
        'st\\x6fp',
        'stop -j',
        'stop\nping',
        '-stop',
        ' - stop',
        'vcl.inline x << EOT\n\nEOT',
      ],
      ...['param.set a b', '"param.set" a b', 'ban req.url ~ .', 'debug.panic.worker x', 'auth 00'],
    ];
    for (const { status } of await replies(lines)) expect(status).toBe(300);
    expect(commands).toEqual([]);
    // Unknown commands are the dispatcher's business.
    await replies(['no.such', '', '"unbalanced']);
    expect(commands).toEqual(['no.such', '', '"unbalanced']);
  });

  it('takes no more than half of the connections, again and again', async () => {
    for (let round = 0; round < 2; round++) {
      const path = join(dir, 'read.sock');
      const all = [raw({ path }), raw({ path })];
      await Promise.all(all.map((c) => c.opened));
      for (const { ws } of all) ws.send(JSON.stringify({ t: 'hello', v: 1, client: 'x' }));
      await expect.poll(() => all.every((c) => c.received.some((m) => m.t === 'welcome'))).toBe(true);
      expect(await raw({ path }).refused).toContain('503');
      const client = await connect({ dir });
      client.close();
      for (const { ws } of all) ws.close();
      await Promise.all(all.map((c) => c.closed));
    }
  });

  it('has log and counters', async () => {
    const client = await connect({ dir });
    client.close();
    const { ws, received, opened } = raw({ path: join(dir, 'read.sock') });
    await opened;
    ws.send(JSON.stringify({ t: 'hello', v: 1, client: 'x' }));
    ws.send(JSON.stringify({ t: 'log', id: 1, log: { grouping: 'raw', from: 'tail' } }));
    ws.send(JSON.stringify({ t: 'stat', id: 2, stat: { interval: 0 } }));
    await expect.poll(() => received.map((m) => m.t)).toContain('values');
    expect(received).toContainEqual({ t: 'ok', id: 1 });
    ws.terminate();
  });
});

describe('messages', () => {
  it.each([
    ['garbage', '{', 'bad-message', 1002],
    ['an unknown type', '{"t":"nonsense"}', 'bad-message', 1002],
    ['another version', '{"t":"hello","v":99,"client":"x"}', 'bad-version', 1002],
    ['a command before the hello', '{"t":"cmd","id":1,"line":"x"}', 'auth-required', 1008],
  ])('%s: an error, then an orderly close', async (_what, frame, code, close) => {
    const { ws, received, closed, opened } = raw();
    await opened;
    ws.send(frame);
    expect(await closed).toBe(close);
    expect(received.map((m) => m.t)).toEqual(['hello', 'error']);
    expect(received[1]).toMatchObject({ code });
    expect(commands).toEqual([]);
  });

  it('a frame beyond the limit closes the connection, and no other', async () => {
    const other = await connect({ dir });
    const { ws, closed, opened } = raw();
    await opened;
    ws.send('{"t":"hello","v":1,"client":"x"}');
    ws.send('x'.repeat(2 << 20));
    expect(await closed).toBe(1009);
    expect((await other.command('still here')).status).toBe(200);
    other.close();
  });

  it('too many connections are refused', async () => {
    const clients = await Promise.all([1, 2, 3, 4].map(() => connect({ dir })));
    await expect(connect({ dir })).rejects.toThrow('503');
    for (const c of clients) c.close();
  });
});

describe('subscriptions', () => {
  it('send ok first, then what the stream had ready, then the end', async () => {
    const client = await connect({ dir });
    const seen: string[] = [];
    await new Promise<void>((resolve) => {
      client.stat(
        { interval: 0 },
        {
          ready: () => seen.push('ready'),
          counters: () => seen.push('counters'),
          values: (at) => seen.push(`values ${at}`),
          end: (e) => {
            seen.push(`end ${e}`);
            resolve();
          },
        },
      );
    });
    expect(seen).toEqual(['ready', 'counters', 'values 1.5', 'end null']);
    client.close();
  });

  it('carry binary frames to their own subscriber', async () => {
    const client = await connect({ dir });
    const frames: number[] = [];
    let ready = (): void => {};
    const up = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const sub = client.log(
      { grouping: 'raw', from: 'tail' },
      { frame: (f) => frames.push(f.length), ready: () => ready() },
    );
    await up;
    const frame = Buffer.alloc(12);
    frame.writeUInt32LE(sub.id, 0);
    sinks[0]?.send(frame);
    frame.writeUInt32LE(sub.id + 1, 0);
    sinks[0]?.send(frame);
    await client.command('after');
    expect(frames).toEqual([12]);
    client.close();
    await expect.poll(() => closedStreams.length).toBe(1);
  });

  it('end when asked to, and with their connection', async () => {
    const client = await connect({ dir });
    const ended = await new Promise((resolve) => {
      const sub = client.log(
        { grouping: 'raw', from: 'tail' },
        { frame: () => {}, ready: () => sub.close(), end: resolve },
      );
    });
    expect(ended).toBe(null);
    expect(closedStreams).toHaveLength(1);
    client.log({ grouping: 'raw', from: 'tail' }, { frame: () => {} });
    await client.command('x');
    client.close();
    await expect.poll(() => closedStreams.length).toBe(2);
  });

  it('that are refused tell why and leave the connection', async () => {
    const client = await connect({ dir });
    const error = await new Promise((resolve) => {
      client.log({ grouping: 'raw', from: 'tail', query: 'broken' }, { frame: () => {}, end: resolve });
    });
    expect(error).toEqual({ code: 'bad-query', message: 'no', detail: 'broken\n-^---' });
    expect((await client.command('x')).status).toBe(200);
    client.close();
  });
});

describe('TCP', () => {
  it('lets in who knows the secret', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const secretFile = join(dir, 's');
    writeFileSync(secretFile, SECRET, { mode: 0o600 });
    const client = await connect({ address: `127.0.0.1:${port}`, secretFile });
    expect((await client.command('x')).status).toBe(200);
    client.close();
  });

  /** The end of a connection that answers its challenge with this text as the key, for this address. */
  async function answering(port: number, secret: Buffer, to: string, from = '') {
    const peer = raw({ port });
    await expect.poll(() => peer.received.length).toBe(1);
    const own = (peer.received[0] as { challenge: string }).challenge;
    const mac = createHmac('sha256', secret)
      .update(proofText(from || own, to))
      .digest('hex');
    peer.ws.send('{"t":"hello","v":1,"client":"x"}');
    peer.ws.send(JSON.stringify({ t: 'auth', mac, to }));
    await expect.poll(() => peer.received.length).toBe(2);
    const output = peer.received[1] as ServerMessage;
    peer.ws.terminate();
    return { challenge: own, output };
  }

  it('refuses who does not', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const address = `127.0.0.1:${port}`;
    await expect(connect({ address })).rejects.toMatchObject({ kind: 'auth' });
    const secretFile = join(dir, 's');
    writeFileSync(secretFile, 'wrong', { mode: 0o600 });
    await expect(connect({ address, secretFile })).rejects.toMatchObject({ kind: 'auth' });
    expect(commands).toEqual([]);
  });

  it('looks at the answers of one address ever slower, at no other and not on the Unix socket', async () => {
    await server.close();
    // More than the wait for a turn, on a machine that takes its time.
    server = limited(30_000);
    await server.listenPath(join(dir, 'console.sock'));
    const port = await server.listenTcp('0.0.0.0', 0);
    const wrong = join(dir, 'wrong');
    writeFileSync(wrong, 'wrong', { mode: 0o600 });
    const right = join(dir, 'right');
    writeFileSync(right, SECRET, { mode: 0o600 });
    const guess = () => connect({ address: `127.0.0.1:${port}`, secretFile: wrong });
    for (let i = 0; i < 2; i++) await Promise.allSettled([guess(), guess(), guess()]);
    const began = performance.now();
    const both = await Promise.all(
      [1, 2].map(() => connect({ address: `127.0.0.1:${port}`, secretFile: right })),
    );
    // The second waits a second for its turn.
    expect(performance.now() - began).toBeGreaterThan(900);
    const local = await connect({ dir });
    expect((await local.command('x')).status).toBe(200);
    for (const c of [...both, local]) c.close();
  });

  it('does not take an answer to another challenge', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const to = `127.0.0.1:${port}`;
    const first = await answering(port, SECRET, to);
    expect(first.output).toMatchObject({ t: 'welcome' });
    const second = await answering(port, SECRET, to, first.challenge);
    expect(second.output).toMatchObject({ t: 'error', code: 'auth-failed' });
  });

  it('does not take an answer that was meant for another listener, but for a tunnel that is allowed', async () => {
    const [port, other] = [await server.listenTcp('127.0.0.1', 0), await server.listenTcp('127.0.0.1', 0)];
    const { output } = await answering(port, SECRET, `127.0.0.1:${other}`);
    expect(output).toMatchObject({ t: 'error', code: 'auth-failed' });
    expect((output as { message: string }).message).toContain(`--allow-host 127.0.0.1:${other}`);
    expect((await answering(port, SECRET, 'tunnel.example:7000')).output).toMatchObject({ t: 'welcome' });
    expect((await answering(port, SECRET, 'tunnel.example:7001')).output).toMatchObject({ t: 'error' });
  });

  it('does not take the bare HMAC of a challenge: no other protocol has this text', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const peer = raw({ port });
    await expect.poll(() => peer.received.length).toBe(1);
    const { challenge } = peer.received[0] as { challenge: string };
    peer.ws.send('{"t":"hello","v":1,"client":"x"}');
    const mac = createHmac('sha256', SECRET).update(challenge).digest('hex');
    peer.ws.send(JSON.stringify({ t: 'auth', mac, to: `127.0.0.1:${port}` }));
    expect(await peer.closed).toBe(1008);
  });

  it('refuses an Origin, unless it is allowed', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    expect(await raw({ port, origin: 'https://evil.example' }).refused).toContain('403');
    const allowed = raw({ port, origin: 'https://ok.example' });
    await allowed.opened;
    allowed.ws.terminate();
  });

  it('answers plain HTTP with 426', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const res = await fetch(`http://127.0.0.1:${port}/`);
    expect(res.status).toBe(426);
  });
});

describe('places', () => {
  const opened = (port: number): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = netConnect(port, '127.0.0.1', () => resolve(socket));
      socket.on('error', () => {});
      socket.resume();
    });
  const ends = (socket: Socket): Promise<void> =>
    new Promise((resolve) => socket.once('close', () => resolve()));

  it('silent connections make way for others, and leave in time', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const silent = await Promise.all(Array.from({ length: 12 }, () => opened(port)));
    const all = Promise.all(silent.map(ends));
    const secretFile = join(dir, 's');
    writeFileSync(secretFile, SECRET, { mode: 0o600 });
    const client = await connect({ address: `127.0.0.1:${port}`, secretFile });
    expect((await client.command('x')).status).toBe(200);
    await all;
    // Admitted ones stay.
    expect((await client.command('x')).status).toBe(200);
    client.close();
  });

  it('those of one listener are no other’s', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const secretFile = join(dir, 's');
    writeFileSync(secretFile, SECRET, { mode: 0o600 });
    const address = `127.0.0.1:${port}`;
    const four = await Promise.all([1, 2, 3, 4].map(() => connect({ address, secretFile })));
    await expect(connect({ address, secretFile })).rejects.toThrow('503');
    const local = await connect({ dir });
    expect((await local.command('x')).status).toBe(200);
    for (const c of [...four, local]) c.close();
  });

  it('a refused upgrade is closed, also when the peer does not close', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const socket = netConnect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.resume();
    socket.write(
      'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://evil\r\n\r\n',
    );
    const trickle = setInterval(() => socket.write('x'), 20);
    await ends(socket);
    clearInterval(trickle);
  });

  it('nobody may send much before the welcome', async () => {
    const port = await server.listenTcp('127.0.0.1', 0);
    const { ws, closed, opened } = raw({ port });
    await opened;
    ws.send('x'.repeat(30_000), { fin: false });
    expect(await closed).toBe(1006);
  });
});

describe('a peer that does not read', () => {
  it('keeps its connection beside a list that is longer than it may leave unread', async () => {
    const { ws, received, opened } = raw();
    await opened;
    ws.send('{"t":"hello","v":1,"client":"x"}');
    await expect.poll(() => received.at(-1)?.t).toBe('welcome');
    ws.pause();
    ws.send(`{"t":"stat","id":1,"stat":{"interval":${LONG}}}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    ws.send('{"t":"cmd","id":2,"line":"x"}');
    await expect.poll(() => commands.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    ws.resume();
    await expect
      .poll(() => received.slice(2).map(({ t }) => t), { timeout: 20_000 })
      .toEqual(['ok', 'counters', 'reply', 'values']);
    ws.terminate();
  });

  it('has its next command wait until the answer to the last is taken', async () => {
    const { ws, opened } = raw();
    await opened;
    ws.send('{"t":"hello","v":1,"client":"x"}');
    ws.pause();
    for (let id = 0; id < 24; id++) ws.send(`{"t":"cmd","id":${id},"line":"long ${id}"}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(commands.length).toBeLessThan(8);
    ws.resume();
    await expect.poll(() => commands.length, { timeout: 20_000 }).toBe(24);
    ws.terminate();
  });

  it('may not let many long commands wait', async () => {
    const { ws, received, opened } = raw();
    await opened;
    ws.send('{"t":"hello","v":1,"client":"x"}');
    let letGo = (): void => undefined;
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    const line = `held ${'x'.repeat(300_000)}`;
    for (let id = 0; id < 6; id++) ws.send(JSON.stringify({ t: 'cmd', id, line }));
    await expect.poll(() => received.filter((m) => m.t === 'error' && m.code === 'too-many').length).toBe(3);
    letGo();
    await expect.poll(() => received.filter((m) => m.t === 'reply').length).toBe(3);
    ws.terminate();
  });

  it('gets no answers to its pings', async () => {
    const { ws, received, opened } = raw();
    let pongs = 0;
    ws.on('pong', () => pongs++);
    await opened;
    ws.send('{"t":"hello","v":1,"client":"x"}');
    ws.ping('x');
    await expect.poll(() => pongs).toBe(1);
    ws.pause();
    for (let i = 0; i < 20_000; i++) ws.ping('x'.repeat(100));
    // It comes after all of them, and so does its reply after their answers.
    ws.send('{"t":"cmd","id":1,"line":"x"}');
    await expect.poll(() => commands.length).toBe(1);
    ws.resume();
    await expect.poll(() => received.at(-1)?.t).toBe('reply');
    expect(pongs).toBeLessThan(15_000);
    ws.terminate();
  });
});

it('a fault in what a connection asked for ends that connection, and no other', async () => {
  const [bad, good] = [await connect({ dir }), await connect({ dir })];
  const lost = new Promise((resolve) => {
    bad.onClose = resolve;
  });
  await new Promise<void>((resolve) => {
    bad.log({ grouping: 'raw', from: 'tail' }, { frame: () => {}, ready: () => resolve() });
  });
  sinks[0]?.run(() => {
    throw new Error('a fault');
  });
  expect(await lost).toMatchObject({ kind: 'closed' });
  expect(faults).toEqual([new Error('a fault')]);
  expect(closedStreams).toHaveLength(1);
  expect((await good.command('x')).status).toBe(200);
  good.close();
});

it('a live source renews its subscriptions when the daemon is back', async () => {
  const source = new LiveSource({ dir });
  const states: string[] = [];
  let values = 0;
  const stream = source.log(
    { grouping: 'raw', from: 'head' },
    { batch: () => {}, lost: () => {}, failed: (message) => states.push(message) },
  );
  source.start({
    connection: ({ state }) => states.push(state),
    counters: () => {},
    values: () => values++,
    past: () => {},
    event: () => {},
  });
  await expect.poll(() => values).toBe(1);
  await server.close();
  await expect.poll(() => states.includes('waiting')).toBe(true);
  expect(await source.command('x')).toEqual({ status: 0, body: 'not connected' });
  server = new ControlServer(host, new Secret(SECRET));
  await server.listenPath(join(dir, 'console.sock'));
  await expect.poll(() => values, { timeout: 20_000 }).toBe(2);
  expect(states.filter((s) => s !== 'waiting')).toEqual(['up', 'up']);
  expect(logs.map((sub) => sub.from)).toEqual(['head', 'tail']);
  stream.close();
  await expect.poll(() => closedStreams.length).toBeGreaterThan(2);
  source.close();
});

it('a Client is what connect() gives', async () => {
  const client = await connect({ dir });
  expect(client).toBeInstanceOf(Client);
  client.close();
});
