// Listening sockets that the service manager passes, as sd_listen_fds(3) describes: it keeps them open while the daemon is
// restarted, so that new connections wait in the kernel instead of being refused. TCP only; a Unix socket is bound again.
// One that the daemon has taken is never closed: it could not be bound again.

import { SocketAddress } from 'node:net';
import type { ListenerSpec } from '../../link.ts';
import type { BoundHandle, HandleFactory } from '../../runtime-handles.ts';

/** Of the first descriptor (SD_LISTEN_FDS_START). */
const FIRST = 3;

export class PassedSockets {
  /** By address and port. */
  readonly #handles = new Map<string, BoundHandle>();
  readonly #taken = new Set<BoundHandle>();

  /** Takes LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES out of the environment: they are not for the worker. */
  constructor(env: NodeJS.ProcessEnv, pid: number, factory: HandleFactory | null) {
    const { LISTEN_PID, LISTEN_FDS } = env;
    for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name];
    if (factory === null || Number(LISTEN_PID) !== pid) return;
    const end = FIRST + (Number.parseInt(LISTEN_FDS ?? '', 10) || 0);
    for (let fd = FIRST; fd < end; fd++) {
      const handle = factory(null, 0, -1, fd, 0);
      if (typeof handle === 'number') continue;
      const name: { address?: string; port?: number } = {};
      const error = handle.getsockname?.(name) ?? -1;
      if (error === 0 && name.address !== undefined && name.port !== undefined)
        this.#handles.set(keyOf(name.address, name.port), handle);
    }
  }

  /** The socket of an address, or null if none was passed. */
  take({ path, host = '', port = 0 }: ListenerSpec): BoundHandle | null {
    if (path !== undefined) return null;
    const handle = this.#handles.get(keyOf(host, port)) ?? null;
    if (handle !== null) this.#taken.add(handle);
    return handle;
  }

  has(handle: BoundHandle): boolean {
    return this.#taken.has(handle);
  }

  /** Addresses that no listener has: connections to them are never accepted. */
  unused(): string[] {
    return [...this.#handles].flatMap(([address, handle]) => (this.#taken.has(handle) ? [] : [address]));
  }
}

/** An address in its canonical form: IPv6 has several. */
function keyOf(address: string, port: number): string {
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  const shown = new SocketAddress({ address, family }).address;
  return family === 'ipv6' ? `[${shown}]:${port}` : `${shown}:${port}`;
}
