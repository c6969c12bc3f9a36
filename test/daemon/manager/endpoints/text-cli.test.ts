import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, connect as netConnect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextCliClient } from '../../../../console/client/text-cli-client.ts';
import { Secret } from '../../../../daemon/manager/endpoints/authentication.ts';
import { serveStdin, TextCli } from '../../../../daemon/manager/endpoints/text-cli.ts';
import { until } from '../../../harness/processes.ts';
import { exchange } from '../../../harness/raw-exchange.ts';

let dir: string;
let cli: TextCli;
let commands: string[];
const run = async (line: string) => {
  commands.push(line);
  if (line.trim() === 'ping') return { status: 200, body: 'PONG 1 1.0' };
  if (line === '"') return { status: 100, body: 'Unknown request.\n' };
  if (line === 'auth') return { status: 104, body: 'Too few parameters\n' };
  return line === 'quit'
    ? { status: 500, body: 'Closing CLI connection' }
    : { status: 200, body: `ü ${line}` };
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-cli-'));
  writeFileSync(join(dir, 'secret'), 'secret\n', { mode: 0o600 });
  writeFileSync(join(dir, 'wrong'), 'guess\n', { mode: 0o600 });
  commands = [];
  cli = new TextCli(run, new Secret(Buffer.from('secret\n')), 'Welcome\n');
});
afterEach(() => {
  cli.close();
  rmSync(dir, { recursive: true, force: true });
});

it('takes commands after the right answer, here-documents included', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  const client = await TextCliClient.connect(`127.0.0.1:${port}`, join(dir, 'secret'), 5);
  expect(client.banner).toBe('Welcome\n');
  expect(await client.command('pong')).toEqual({ status: 200, body: 'ü pong' });
  expect((await client.command('a b << E\nx\nE')).body).toBe('ü a b << E\nx\nE');
  expect((await client.command('quit')).status).toBe(500);
});

it('takes none before it, and closes after a wrong answer', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  await expect(TextCliClient.connect(`127.0.0.1:${port}`, join(dir, 'wrong'), 5)).rejects.toMatchObject({
    kind: 'auth',
  });
  await expect(TextCliClient.connect(`127.0.0.1:${port}`, undefined, 5)).rejects.toMatchObject({
    kind: 'auth',
  });
  expect(commands).toEqual([]);
});

it('answers all that a client sent before it ended its side', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  // A wrong answer is reported after a pause.
  const answered = await exchange({ port }, `ping\nauth ${'0'.repeat(64)}\n`, true);
  expect(answered.match(/^\d{3}(?= \d+ *$)/gm)).toEqual(['107', '200', '500']);
});

const answer = (hello: string, secret = 'secret\n'): string => {
  const challenge = hello.slice(13, 45);
  return createHash('sha256').update(`${challenge}\n${secret}${challenge}\n`).digest('hex');
};

/** Output to a client that sends these pieces, each after the reply to the previous one; and how the connection ends. */
async function talk(port: number, ...pieces: (string | Buffer | ((hello: string) => string))[]) {
  const socket = netConnect(port, '127.0.0.1');
  let answered = '';
  let ended = false;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    answered += text;
  });
  socket.on('end', () => {
    ended = true;
  });
  await until('a challenge', () => answered.endsWith('required.\n\n') || answered.endsWith('Welcome\n\n'));
  const statuses = (): string[] => answered.match(/^\d{3}(?= \d+ *$)/gm) ?? [];
  for (const piece of pieces) {
    const before = statuses().length;
    socket.write(typeof piece === 'function' ? piece(answered) : piece);
    await until(`an answer to ${String(piece).slice(0, 60)}`, () => statuses().length > before || ended);
  }
  return {
    statuses,
    ended: () => ended,
    end: () => socket.destroy(),
  };
}

const AUTH = (hello: string): string => `auth ${answer(hello)}\n`;

it.each([
  ['what everybody may ask', ['ping\n', 'help\n', AUTH], ['107', '200', '200', '200'], false],
  ['a command before the answer', ['status\n'], ['107', '101'], true],
  ['garbage before the answer', ['"\n'], ['107', '100'], true],
  ['no answer', ['auth\n'], ['107', '104'], true],
  ['a long line before the answer', [`${'x'.repeat(1 << 18)}\n`], ['107', '101'], true],
  ['capital digits', [(h: string) => `auth ${answer(h).toUpperCase()}\n`], ['107', '200'], false],
  ['an end of line of its own', [(h: string) => `auth ${answer(h)}\r`, 'x\r'], ['107', '200', '200'], false],
  [
    'many at once',
    [(h: string) => `${AUTH(h)}\n a\nb\r\nc\nquit\nd\n`, ''],
    ['107', '200', '200', '200', '200', '500'],
    true,
  ],
  ['a megabyte', [AUTH, `${'x'.repeat(1 << 20)}\n`, 'y\n'], ['107', '200', '200', '200'], false],
  ['more than there may be', [AUTH, 'x'.repeat(5 << 20)], ['107', '200', '200'], true],
  ['bytes that are no text', [AUTH, Buffer.from('\xff\xfe\x00\n', 'latin1')], ['107', '200', '200'], false],
])('takes %s', async (_name, pieces, statuses, ended) => {
  const port = await cli.listen('127.0.0.1', 0);
  const talked = await talk(port, ...pieces);
  await until('the answers', () => talked.statuses().length >= statuses.length);
  expect(talked.statuses()).toEqual(statuses);
  if (ended) await until('the end', talked.ended);
  else expect(talked.ended()).toBe(false);
  talked.end();
});

it('asks nobody for a secret where there is none', async () => {
  const open = new TextCli(run, new Secret(null), 'Welcome\n');
  const port = await open.listen('127.0.0.1', 0);
  const talked = await talk(port, 'x\n');
  expect(talked.statuses()).toEqual(['200', '200']);
  talked.end();
  open.close();
});

it('closes connections that never answer the challenge, the oldest first', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  const first = netConnect(port, '127.0.0.1');
  const gone = new Promise((resolve) => first.once('close', resolve));
  first.on('error', () => {});
  await new Promise((resolve) => first.once('data', resolve));
  const others = Array.from({ length: 64 }, () => netConnect(port, '127.0.0.1').on('error', () => {}));
  await gone;
  const talked = await talk(port, AUTH);
  expect(talked.statuses()).toEqual(['107', '200']);
  talked.end();
  for (const socket of others) socket.destroy();
});

/** A CLI whose answers are long and whose limits are short. */
function strict(greeting = 300) {
  const ran: string[] = [];
  const answers = async (line: string) => {
    ran.push(line);
    return { status: 200, body: 'x'.repeat(1 << 16) };
  };
  const limits = { pending: 8, admitted: 4, greeting };
  const strictCli = new TextCli(answers, new Secret(Buffer.from('secret\n')), 'Welcome\n', limits);
  return { cli: strictCli, ran };
}

/** Resolves when the other side has closed: one that does not end its own side learns it by sending on. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    const trickle = setInterval(() => socket.write('x'), 20);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(trickle);
      resolve();
    });
  });

it('ends a connection that does not answer the challenge in time, whoever opened it', async () => {
  const { cli: short } = strict();
  const port = await short.listen('127.0.0.1', 0);
  const silent = netConnect({ port, host: '127.0.0.1', allowHalfOpen: true });
  silent.resume();
  await closed(silent);
  // A peer of -M that says nothing is left, and asked again later.
  const ended = await new Promise<string>((resolve) => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let answered = '';
      socket.on('data', (text) => {
        answered += String(text);
      });
      void closed(socket).then(() => {
        resolve(answered);
        server.close();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      short.connectOut('127.0.0.1', (server.address() as { port: number }).port);
    });
  });
  expect(ended).toMatch(/^107 /);
  short.close();
});

it('runs no command before the answer to the last is taken', async () => {
  const { cli: short, ran } = strict(5000);
  const port = await short.listen('127.0.0.1', 0);
  const socket = netConnect(port, '127.0.0.1');
  const hello = await new Promise<string>((resolve) => socket.once('data', (d) => resolve(d.toString())));
  socket.pause();
  socket.write(`${AUTH(hello)}`);
  for (let i = 0; i < 100; i++) socket.write('help\n'.repeat(500));
  await new Promise((resolve) => setTimeout(resolve, 500));
  // The part of replies of 64 kB that fits in the system's buffers.
  expect(ran.length).toBeLessThan(200);
  socket.destroy();
  short.close();
});

it('runs few commands before the answer to the challenge', async () => {
  const { cli: short, ran } = strict(5000);
  const port = await short.listen('127.0.0.1', 0);
  const socket = netConnect(port, '127.0.0.1');
  socket.resume();
  socket.write('help\n'.repeat(1000));
  await closed(socket);
  expect(ran.length).toBe(32);
  short.close();
});

it('a connection that is over ends, though its peer neither reads nor ends', async () => {
  const { cli: short } = strict(60_000);
  const port = await short.listen('127.0.0.1', 0);
  const socket = netConnect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await new Promise<void>((resolve) => socket.once('data', () => resolve()));
  socket.write('status\n');
  socket.resume();
  await closed(socket);
  short.close();
});

it('looks at the answers of an address ever slower', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  for (let i = 0; i < 5; i++) await talk(port, `auth ${'0'.repeat(64)}\n`);
  const [first, second] = await Promise.all([talk(port), talk(port)]);
  first.end();
  second.end();
  const began = performance.now();
  const both = await Promise.all([talk(port, AUTH), talk(port, AUTH)]);
  expect(both.map((t) => t.statuses())).toEqual([
    ['107', '200'],
    ['107', '200'],
  ]);
  expect(performance.now() - began).toBeGreaterThan(900);
  for (const t of both) t.end();
});

it('the places of one listener are no other’s', async () => {
  const [crowded, quiet] = [await cli.listen('127.0.0.1', 0), await cli.listen('127.0.0.1', 0)];
  const talked = await talk(quiet);
  const crowd = Array.from({ length: 200 }, () => netConnect(crowded, '127.0.0.1').on('error', () => {}));
  await talk(crowded, AUTH).then((t) => t.end());
  expect(talked.ended()).toBe(false);
  for (const socket of crowd) socket.destroy();
  talked.end();
});

it('connects out to a client that waits', async () => {
  const accepted = new Promise<string>((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (d) => {
        resolve(d.toString());
        socket.destroy();
        server.close();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) cli.connectOut('127.0.0.1', address.port);
    });
  });
  expect(await accepted).toMatch(/^107 59 {6}\n[a-z]{32}\n\nAuthentication required\.\n\n$/);
});

function hasTool(name: string): boolean {
  try {
    execFileSync('which', [name]);
    return true;
  } catch {
    return false;
  }
}

it.skipIf(!hasTool('varnishadm'))('speaks to Varnish’s own varnishadm', async () => {
  const port = await cli.listen('127.0.0.1', 0);
  const { execFile } = await import('node:child_process');
  const out = await new Promise<string>((resolve, reject) => {
    execFile(
      'varnishadm',
      ['-T', `127.0.0.1:${port}`, '-S', join(dir, 'secret'), 'hello', '1'],
      (e, stdout) => (e === null ? resolve(stdout) : reject(e)),
    );
  });
  expect(out).toBe('ü hello 1\n');
});

it('on standard input: a banner, an answer a command, the end with the input', async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const done = serveStdin(input, output, 'Welcome\n', run);
  input.write('one\ntwo << E\nx\n');
  input.end('E\nthree');
  await done;
  output.end();
  const answered = Buffer.concat(await output.toArray());
  expect(commands).toEqual(['one', 'two << E\nx\nE', 'three']);
  expect(answered.toString()).toBe(
    "200 47      \nWelcome\nType 'start' to launch worker process.\n\n200 6       \nü one\n200 15      \nü two << E\nx\nE\n200 8       \nü three\n",
  );
});
