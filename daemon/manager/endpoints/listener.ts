// Connection limits of one control listener: few slots, for a short time, for clients that have not authenticated, and
// separate slots for those that have. When the unauthenticated slots are full, the address that holds most of them loses
// its oldest connection, so that no client can lock out another. Listeners do not share limits.

import type { AddressInfo, ListenOptions, Server } from 'node:net';

export interface ListenerLimits {
  /** Concurrent connections before and after authentication. */
  pending: number;
  admitted: number;
  /** Milliseconds until a connection must be authenticated. */
  greeting: number;
}

export interface Client {
  /** The remote address; the same text for all clients if it is unknown. */
  readonly address: string;
  /** Closes the connection. `late`: not authenticated in time; `room`: its slot is needed. */
  drop(why: 'late' | 'room'): void;
}

export class Listener {
  private readonly limits: ListenerLimits;
  private readonly pending = new Map<Client, NodeJS.Timeout>();
  private readonly admitted = new Set<Client>();

  constructor(limits: ListenerLimits) {
    this.limits = limits;
  }

  /** All connections. */
  clients(): Client[] {
    return [...this.pending.keys(), ...this.admitted];
  }

  /** Whether all authenticated slots are taken. */
  get isFull(): boolean {
    return this.admitted.size >= this.limits.admitted;
  }

  /** Adds a new connection, if necessary in place of another. */
  add(client: Client): void {
    while (this.pending.size >= this.limits.pending) this.makeRoom();
    const late = setTimeout(() => {
      if (this.pending.delete(client)) client.drop('late');
    }, this.limits.greeting);
    late.unref();
    this.pending.set(client, late);
  }

  /** Moves a client to the authenticated slots; false if they are full, or if the client has left. */
  admit(client: Client): boolean {
    const late = this.pending.get(client);
    if (late === undefined || this.isFull) return false;
    clearTimeout(late);
    this.pending.delete(client);
    this.admitted.add(client);
    return true;
  }

  remove(client: Client): void {
    clearTimeout(this.pending.get(client));
    this.pending.delete(client);
    this.admitted.delete(client);
  }

  private makeRoom(): void {
    const held = new Map<string, number>();
    for (const { address } of this.pending.keys()) held.set(address, (held.get(address) ?? 0) + 1);
    const most = Math.max(...held.values());
    for (const [client, late] of this.pending) {
      if (held.get(client.address) !== most) continue;
      clearTimeout(late);
      this.pending.delete(client);
      client.drop('room');
      return;
    }
  }
}

/** Listens; resolves with the port (0 for a path), rejects if that fails. `onError` receives later errors: without a
 * free descriptor every accept() fails, which must not end the daemon. */
export function listen(
  server: Server,
  where: ListenOptions,
  onError: (cause: Error) => void = () => {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', onError);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
