// A hostile client of the control sockets: what it sends and how it leaves are made from a seed. Openings that are none,
// frames and fragments that no client makes, messages that are too deep, too long or too early, wrong answers, silence,
// commands and subscriptions that cost much and are never read, resets. It never asks for what an operator may do and
// that ends traffic (stop, param.set).
import { createHash, createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { addressText, proofText } from '../../protocol/proof.ts';
import type { Random } from '../fuzz/random.ts';

export interface ControlPlaces {
  /** Path of the console's Unix socket. */
  console: string;
  /** Ports of --console, -T and --metrics. */
  consolePort: number;
  cliPort: number;
  metricsPort: number;
  secret: Buffer;
}

const HARD_PATTERNS = [
  '(.*a){40}$',
  '(a+)+$',
  '.*.*.*Z',
  '^(a|aa)+$',
  '(a+)+\\\\1!',
  '[',
  '(?<x',
  'a{60000}',
  '(',
];
const HARD_GLOBS = ['*?'.repeat(2000), 'MAIN.[z-a]*', '[', '\\', '*[!x]'.repeat(900), '*', '[[:alpha:]', ''];
const COMMANDS = [
  ...[
    'ping',
    'status',
    'help',
    'help -j',
    'banner',
    'pid -j',
    'panic.show',
    'param.show',
    'param.show -j',
    'vcl.list',
  ],
  ...[
    'backend.list',
    'ban.list',
    'storage.list',
    'listen.list',
    'auth',
    'auth x',
    'nonsense',
    '"',
    '\\',
    'a "b',
    '\\x',
  ],
  ...[
    'vcl.show boot',
    'vcl.discard [z-a]*',
    'vcl.discard *x*',
    'vcl.use none',
    'vcl.load x /nonexistent',
    'quit',
  ],
  ...[
    'vcl.inline bad "vcl 4.1; nonsense"',
    'vcl.inline x << END\nvcl 4.1;\n',
    'ban req.url ~ (',
    'param.show x\0y',
  ],
];

const OPCODES = [0, 1, 1, 1, 2, 3, 8, 9, 9, 10, 15];

/** One frame, mostly well made. */
function frame(r: Random, payload: Buffer, opcode = 1, final = true): Buffer {
  const masked = r.below(20) > 0;
  const lie = r.below(40) === 0 ? 0xffff_ffff : payload.length;
  const head = Buffer.alloc(14);
  head[0] = (final ? 0x80 : 0) | opcode | (r.below(60) === 0 ? 0x40 : 0);
  let at = 2;
  if (lie < 126) head[1] = lie;
  else if (lie < 65536) {
    head[1] = 126;
    at = head.writeUInt16BE(lie, 2);
  } else {
    head[1] = 127;
    at = head.writeBigUInt64BE(BigInt(lie), 2);
  }
  if (!masked) return Buffer.concat([head.subarray(0, at), payload]);
  head[1] = (head[1] as number) | 0x80;
  // A mask of zeros changes nothing.
  return Buffer.concat([head.subarray(0, at + 4), payload]);
}

function upgrade(r: Random): string {
  const lines = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
  lines.push(`Sec-WebSocket-Version: ${r.below(12) === 0 ? 99 : 13}`);
  lines.push(`Sec-WebSocket-Key: ${r.below(12) === 0 ? 'short' : 'dGhlIHNhbXBsZSBub25jZQ=='}`);
  if (r.below(6) === 0) lines.push('Origin: https://evil.example');
  if (r.below(20) === 0) lines.push(`X: ${'x'.repeat(r.below(20_000))}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function message(r: Random, id: number): string {
  const deep = (): string => '['.repeat(r.below(8000)) + (r.below(2) === 0 ? ']'.repeat(100) : '');
  const filters = (globs: boolean): unknown[] =>
    Array.from({ length: r.below(r.below(10) === 0 ? 260 : 4) }, () =>
      globs
        ? { kind: 'include', glob: r.pick(HARD_GLOBS) }
        : { kind: 'include-regex', tags: '*', regex: r.pick(HARD_PATTERNS) },
    );
  switch (r.below(12)) {
    case 0:
      return `{"t":${deep()}}`;
    case 1:
      return `{"t":"cmd","id":${deep()},"line":"ping"}`;
    case 2:
      return JSON.stringify({ t: r.pick(['hello', 'auth', 'end', 'flush', 'nonsense', '__proto__']), id });
    case 3:
    case 4: {
      const query = `ReqHeader ~ "${r.pick(HARD_PATTERNS)}"`;
      const nested = `${'('.repeat(r.below(3000))}ReqURL`;
      const log = {
        grouping: r.pick(['raw', 'vxid', 'request', 'session']),
        from: r.pick(['tail', 'head']),
        query: r.below(8) === 0 ? nested : query,
        limit: r.pick([1, 1000, 1_000_000]),
        timeout: r.pick([0, 1, 1e9]),
        once: r.below(2) === 0,
        filters: filters(false),
      };
      return JSON.stringify({ t: 'log', id, log });
    }
    case 5:
    case 6:
      return JSON.stringify({
        t: 'stat',
        id,
        stat: { interval: r.pick([0, 0.001, 1]), filters: filters(true) },
      });
    case 7:
      return JSON.stringify({ t: 'cmd', id, line: 'x'.repeat(r.below(410_000)) });
    default:
      return JSON.stringify({ t: 'cmd', id, line: r.pick(COMMANDS) });
  }
}

async function webSocket(r: Random, socket: Socket, places: ControlPlaces, tcp: boolean): Promise<void> {
  socket.write(upgrade(r));
  const output = await received(socket, r.pick([0, 200, 400]));
  const challenge = /"challenge":"([0-9a-f]+)"/.exec(output)?.[1] ?? '';
  const know = r.below(tcp ? 12 : 3) > 0 ? !tcp : true;
  if (r.below(10) > 0) socket.write(frame(r, Buffer.from('{"t":"hello","v":1,"client":"x"}')));
  if (tcp && challenge !== '') {
    const to = addressText(socket.remoteAddress ?? '', socket.remotePort ?? 0);
    const mac = createHmac('sha256', know ? places.secret : 'guess')
      .update(proofText(challenge, to))
      .digest('hex');
    socket.write(frame(r, Buffer.from(JSON.stringify({ t: 'auth', mac, to }))));
  }
  for (let i = r.below(30); i > 0 && !socket.destroyed; i--) {
    const opcode = r.below(6) === 0 ? r.pick(OPCODES) : 1;
    socket.write(frame(r, Buffer.from(message(r, r.below(40))), opcode, r.below(15) > 0));
  }
}

async function textCli(r: Random, socket: Socket, places: ControlPlaces): Promise<void> {
  const output = await received(socket, r.pick([0, 200, 400]));
  const challenge = output.slice(13, 45);
  if (r.below(3) > 0) {
    const secret = r.below(20) === 0 ? places.secret : Buffer.from('guess');
    const hash = createHash('sha256').update(`${challenge}\n`).update(secret).update(`${challenge}\n`);
    socket.write(`auth ${hash.digest('hex')}\n`);
  }
  for (let i = r.below(20); i > 0 && !socket.destroyed; i--) {
    const line = r.below(8) === 0 ? 'x'.repeat(r.below(300_000)) : `${r.pick(COMMANDS)}\n`;
    socket.write(r.below(12) === 0 ? line.repeat(200).slice(0, 500_000) : line);
  }
}

function metrics(r: Random, socket: Socket): void {
  const host = r.pick(['localhost', '127.0.0.1', 'evil.example', 'a"b', '']);
  const get = `${r.pick(['GET', 'GET', 'HEAD', 'POST', 'XXX'])} /metrics HTTP/1.1\r\nHost: ${host}\r\n`;
  const extra =
    r.below(5) === 0
      ? 'Content-Length: 10\r\n'
      : r.below(5) === 0
        ? 'Upgrade: h2c\r\nConnection: upgrade\r\n'
        : '';
  socket.write(`${get}${extra}\r\n`.repeat(1 + r.below(20)));
}

/** Output of the peer, until it pauses or `ms` have passed. */
function received(socket: Socket, ms: number): Promise<string> {
  return new Promise((resolve) => {
    let output = '';
    const done = (): void => {
      clearTimeout(timer);
      socket.off('data', take);
      resolve(output);
    };
    const take = (data: Buffer): void => {
      output += data.toString('latin1');
      if (/challenge|"auth":"none"|required\./.test(output)) done();
    };
    const timer = setTimeout(done, ms);
    socket.on('data', take);
    socket.once('close', done);
  });
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** How it leaves: with a reset, an end, half an end, or after some silence without having read anything. */
async function leave(r: Random, socket: Socket): Promise<void> {
  if (r.below(4) === 0) socket.pause();
  await pause(r.below(30) === 0 ? 1500 : r.below(40));
  if (r.below(3) === 0) socket.end();
  if (r.below(2) === 0) await pause(r.below(20));
  // A Unix socket knows no reset.
  if (socket.remoteAddress !== undefined && r.below(2) === 0) socket.resetAndDestroy();
  else socket.destroy();
}

/** A peer of -M: it was connected to, and is as hostile as any. */
export async function hostilePeer(r: Random, socket: Socket, places: ControlPlaces): Promise<void> {
  socket.on('error', () => {});
  await textCli(r, socket, places);
  await leave(r, socket);
}

/** One act from the first byte to the last. */
export async function hostileAct(r: Random, places: ControlPlaces): Promise<void> {
  const kind = r.pick(['unix', 'unix', 'tcp', 'tcp', 'cli', 'cli', 'metrics', 'garbage', 'silence'] as const);
  const ports = { tcp: places.consolePort, cli: places.cliPort, metrics: places.metricsPort };
  const port =
    kind === 'garbage' || kind === 'silence'
      ? r.pick(Object.values(ports))
      : kind === 'unix'
        ? undefined
        : ports[kind];
  const socket = port === undefined ? connect(places.console) : connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve);
    socket.once('close', () => resolve());
  });
  if (kind === 'unix' || kind === 'tcp') await webSocket(r, socket, places, kind === 'tcp');
  else if (kind === 'cli') await textCli(r, socket, places);
  else if (kind === 'metrics') metrics(r, socket);
  else if (kind === 'garbage') {
    socket.write(Buffer.from(Array.from({ length: 1 + r.below(3000) }, () => r.below(256))));
  }
  await leave(r, socket);
}
