// The keys of session tickets (RFC 5077, RFC 8446 section 4.6.1), which all threads and all workers of a daemon share: a
// client may resume its session on any of them. The newest key makes tickets; the others still open theirs, so that a
// change of keys costs no client a whole handshake.

import { randomBytes } from 'node:crypto';
import type { SecureContext } from 'node:tls';
import type { TicketKey } from './tls-settings.ts';

interface Key {
  readonly name: Buffer;
  readonly aes: Buffer;
  readonly hmac: Buffer;
}

const IV = 16;

/** The answers of the callback, as OpenSSL's: no such key, usable, usable but to be replaced by a new ticket. */
const UNKNOWN = 0;
const USABLE = 1;
const RENEW = 2;
const NO_BYTES = Buffer.alloc(16);

export class TicketKeys {
  private keys: readonly Key[] = [];
  private readonly listeners: (() => void)[] = [];

  /** @param keys the newest first */
  set(keys: readonly TicketKey[]): void {
    this.keys = keys.map(({ name, aes, hmac }) => ({
      name: Buffer.from(name, 'base64'),
      aes: Buffer.from(aes, 'base64'),
      hmac: Buffer.from(hmac, 'base64'),
    }));
    for (const changed of this.listeners) changed();
  }

  get newest(): Key | null {
    return this.keys[0] ?? null;
  }

  find(name: Buffer): Key | null {
    return this.keys.find((key) => key.name.equals(name)) ?? null;
  }

  /** Calls back after each change. */
  onChange(changed: () => void): void {
    this.listeners.push(changed);
  }
}

/** The runtime's own object, with the callback that it offers to no caller. */
interface TicketContext {
  enableTicketKeyCallback?: () => void;
  onticketkeycallback?: (name: Buffer, iv: Buffer, makes: boolean) => unknown[];
  setTicketKeys?: (keys: Buffer) => void;
}

/** Makes a context use these keys. Where the runtime has no callback, only the newest key opens tickets. */
export function followTickets(context: SecureContext, tickets: TicketKeys): void {
  const inner = context.context as TicketContext;
  if (typeof inner.enableTicketKeyCallback === 'function') {
    inner.onticketkeycallback = (name, _iv, makes) => answer(tickets, name, makes);
    inner.enableTicketKeyCallback();
    return;
  }
  const use = (): void => {
    const key = tickets.newest;
    if (key !== null) inner.setTicketKeys?.(Buffer.concat([key.name, key.hmac.subarray(0, 16), key.aes]));
  };
  tickets.onChange(use);
  use();
}

function answer(tickets: TicketKeys, name: Buffer, makes: boolean): unknown[] {
  const { newest } = tickets;
  const key = makes ? newest : tickets.find(name);
  // Without any key there are no tickets.
  if (key === null) return [UNKNOWN, NO_BYTES, NO_BYTES, NO_BYTES, NO_BYTES];
  const status = makes || key === newest ? USABLE : RENEW;
  return [status, key.hmac, key.aes, key.name, makes ? randomBytes(IV) : NO_BYTES];
}
