// Connection limits of one control listener: few slots, for a short time, for clients that have not authenticated, and
// separate slots for those that have. When the unauthenticated slots are full, the address that holds most of them loses
// its oldest connection, so that no client can lock out another. Listeners do not share limits.

import type { AddressInfo, ListenOptions, Server } from 'node:net';

export interface DoorLimits {
  /** Connections at a time that have not been admitted yet, and that have. */
  unknown: number;
  known: number;
  /** Milliseconds until a connection must have been admitted. */
  greeting: number;
}

export interface Guest {
  /** Where it comes from; the same for all where that is not known. */
  readonly address: string;
  /** It has to go. `late`: it was not admitted in time; `room`: its place goes to another. */
  drop(why: 'late' | 'room'): void;
}

export class Door {
  private readonly limits: DoorLimits;
  private readonly unknown = new Map<Guest, NodeJS.Timeout>();
  private readonly known = new Set<Guest>();

  constructor(limits: DoorLimits) {
    this.limits = limits;
  }

  /** Everybody inside. */
  guests(): Guest[] {
    return [...this.unknown.keys(), ...this.known];
  }

  /** Whether nobody could be admitted now. */
  get isFull(): boolean {
    return this.known.size >= this.limits.known;
  }

  /** Somebody new, for whom there is always room. */
  enter(guest: Guest): void {
    while (this.unknown.size >= this.limits.unknown) this.makeRoom();
    const late = setTimeout(() => {
      if (this.unknown.delete(guest)) guest.drop('late');
    }, this.limits.greeting);
    late.unref();
    this.unknown.set(guest, late);
  }

  /** Lets a guest in for good; false when all places are taken. One that has left already has none. */
  admit(guest: Guest): boolean {
    const late = this.unknown.get(guest);
    if (late === undefined || this.isFull) return false;
    clearTimeout(late);
    this.unknown.delete(guest);
    this.known.add(guest);
    return true;
  }

  leave(guest: Guest): void {
    clearTimeout(this.unknown.get(guest));
    this.unknown.delete(guest);
    this.known.delete(guest);
  }

  private makeRoom(): void {
    const held = new Map<string, number>();
    for (const { address } of this.unknown.keys()) held.set(address, (held.get(address) ?? 0) + 1);
    const most = Math.max(...held.values());
    for (const [guest, late] of this.unknown) {
      if (held.get(guest.address) !== most) continue;
      clearTimeout(late);
      this.unknown.delete(guest);
      guest.drop('room');
      return;
    }
  }
}

/** Resolves with the port (0 for a path), rejects when it cannot listen; `later` hears errors that come afterwards. */
export function listen(
  server: Server,
  where: ListenOptions,
  later: (cause: Error) => void = () => {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', later);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
