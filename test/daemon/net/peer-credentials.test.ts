// The kernel's word on who connected, asked over a real Unix socket.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SocketWire } from '../../../daemon/net/client-wire.ts';
import { PeerReader, wantsPeers } from '../../../daemon/net/peer-credentials.ts';
import type { Core } from '../../../daemon/transaction/core.ts';
import { installed } from '../../harness/processes.ts';

/** Runs `use` with the server's end of a connection. */
async function connected<T>(use: (socket: Socket) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'peer-'));
  const path = join(dir, 's');
  const server = createServer();
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const client = connect(path).on('error', () => undefined);
  try {
    return await use((await accepted).on('error', () => undefined));
  } finally {
    client.destroy();
    server.close();
    rmSync(dir, { recursive: true });
  }
}

describe.skipIf(process.platform !== 'linux' || !installed('perl'))('the peer of a Unix socket', () => {
  it('is this process', async () => {
    const peer = await connected((socket) => new PeerReader().read(new SocketWire(socket)));
    expect(peer).toEqual({ uid: process.getuid?.(), gid: process.getgid?.() });
  });

  it('is found for many at once', async () => {
    const reader = new PeerReader();
    const peers = await connected((socket) =>
      Promise.all(Array.from({ length: 9 }, () => reader.read(new SocketWire(socket)))),
    );
    expect(peers.filter((p) => p?.uid === process.getuid?.())).toHaveLength(9);
  });

  it('leaves the socket as it was', async () => {
    const echoed = await connected(async (socket) => {
      await new PeerReader().read(new SocketWire(socket));
      return new Promise<boolean>((resolve) => socket.write('x', (error) => resolve(error == null)));
    });
    expect(echoed).toBe(true);
  });
});

describe('a peer that cannot be known', () => {
  const wire = (fd: number, isGone = false): { fd: number; isGone: boolean } => ({ fd, isGone });

  it.each([
    ['no descriptor', wire(-1)],
    ['a standard one', wire(2)],
    ['one that is closed', wire(1_000_000)],
    ['one that another may have by now', wire(20, true)],
  ])('%s', async (_what, gone) => {
    expect(await new PeerReader().read(gone)).toBeNull();
  });
});

describe('who asks', () => {
  const program = (...imports: string[]): object => ({
    program: { compiled: { imports } },
    labels: new Map(),
  });
  const core = (active: object | null): Core => ({ active }) as unknown as Core;

  it('is a program that imports unix, or one that its labels point to', () => {
    expect(wantsPeers(core(null))).toBe(false);
    expect(wantsPeers(core(program('std')))).toBe(false);
    expect(wantsPeers(core(program('std', 'unix')))).toBe(true);
    const labels = new Map([['l', { target: program('unix') }]]);
    expect(wantsPeers(core({ ...program('std'), labels }))).toBe(true);
  });
});
