import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { connect } from '../../../console/client/client.ts';
import { findDaemon } from '../../../console/client/find-daemon.ts';

let dir: string;
let servers: Server[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'find-daemon-'));
  servers = [];
  vi.stubEnv('XDG_RUNTIME_DIR', join(dir, 'run'));
  vi.stubEnv('XDG_STATE_HOME', join(dir, 'state'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of servers) server.close();
  rmSync(dir, { recursive: true, force: true });
});

async function socket(path: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
}
/** Of the tests' own: there may be a daemon in /run. */
const NAME = `no-such-${process.pid}`;

it('looks in each place, and reports where when there is none', async () => {
  const none = findDaemon(NAME);
  expect(none.places).toHaveLength(3);
  expect(none).toMatchObject({ dir: none.places[0], readonly: false });
  await expect(connect({ dir: NAME })).rejects.toThrow(
    `looked in ${none.places.join(', ')}: No such file or directory`,
  );
  await socket(join(dir, 'state', NAME, 'console.sock'));
  expect(findDaemon(NAME).dir).toBe(join(dir, 'state', NAME));
  await socket(join(dir, 'run', NAME, 'console.sock'));
  expect(findDaemon(NAME).socket).toBe(join(dir, 'run', NAME, 'console.sock'));
});

it('takes the path it is given', async () => {
  expect(findDaemon(dir)).toMatchObject({ dir, socket: join(dir, 'console.sock'), places: [dir] });
});

it('reads where it may not command', async () => {
  await socket(join(dir, 'run', NAME, 'read.sock'));
  expect(findDaemon(NAME)).toMatchObject({ socket: join(dir, 'run', NAME, 'read.sock'), readonly: true });
  await socket(join(dir, 'run', NAME, 'console.sock'));
  expect(findDaemon(NAME).readonly).toBe(false);
  if (process.getuid?.() === 0) return;
  chmodSync(join(dir, 'run', NAME, 'console.sock'), 0);
  expect(findDaemon(NAME).readonly).toBe(true);
});

it.skipIf(process.getuid?.() !== 0)('finds no other user’s daemon that was not named', async () => {
  await socket(join(dir, 'run', NAME, 'console.sock'));
  chownSync(join(dir, 'run', NAME), 65534, 65534);
  expect(findDaemon(NAME).dir).not.toBe(join(dir, 'run', NAME));
  expect(findDaemon(join(dir, 'run', NAME)).dir).toBe(join(dir, 'run', NAME));
});
