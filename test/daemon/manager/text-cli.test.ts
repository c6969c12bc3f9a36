import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TextCliClient } from '../../../console/client/text-cli-client.ts';
import { Secret } from '../../../daemon/manager/secret.ts';
import { serveStdin } from '../../../daemon/manager/stdin-cli.ts';
import { TextCli } from '../../../daemon/manager/text-cli.ts';
import { exchange } from '../../harness/raw-exchange.ts';

let dir: string;
let cli: TextCli;
let commands: string[];
const run = async (line: string) => {
  commands.push(line);
  if (line.trim() === 'ping') return { status: 200, body: 'PONG 1 1.0' };
  return line === 'quit'
    ? { status: 500, body: 'Closing CLI connection' }
    : { status: 200, body: `ü ${line}` };
};

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-cli-'));
  writeFileSync(join(dir, 'secret'), 'secret\n');
  writeFileSync(join(dir, 'wrong'), 'guess\n');
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
  // A wrong answer is told after a pause.
  const said = await exchange({ port }, `hello\nauth ${'0'.repeat(64)}\n`, true);
  expect(said.match(/^\d{3}(?= \d+ *$)/gm)).toEqual(['107', '107', '500']);
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

it.skipIf(!hasTool('varnishadm'))('speaks to the field’s own varnishadm', async () => {
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
  const said = Buffer.concat(await output.toArray());
  expect(commands).toEqual(['one', 'two << E\nx\nE', 'three']);
  expect(said.toString()).toBe(
    "200 47      \nWelcome\nType 'start' to launch worker process.\n\n200 6       \nü one\n200 15      \nü two << E\nx\nE\n200 8       \nü three\n",
  );
});
