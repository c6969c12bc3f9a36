// Two that answer for a name: the system's resolver, or the name servers themselves, whose answers say how long
// they hold. Few are asked at once, since names may come from requests.

import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

export interface Answer {
  readonly addresses: readonly string[];
  /** Seconds; null if unknown. */
  readonly ttl: number | null;
}

/** A target of a service (RFC 2782). */
export interface Target {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** Both reject with an error that has a code. */
export interface Names {
  addresses(name: string): Promise<Answer>;
  targets(service: string): Promise<readonly Target[]>;
}

/** Questions at once (chosen): half of the worker's thread pool answers those to the system. */
const AT_ONCE = 16;
/** Questions that wait (chosen). */
const MOST = 2000;
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA']);

class Gate {
  readonly #most: number;
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(most: number = AT_ONCE) {
    this.#most = most;
  }

  async through<T>(ask: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#most) {
      if (this.#queue.length >= MOST) throw Object.assign(new Error('too many queries'), { code: 'EBUSY' });
      await new Promise<void>((go) => this.#queue.push(go));
    } else this.#running++;
    try {
      return await ask();
    } finally {
      // The place passes on to the next one.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

const gate = new Gate();

/** The system's resolver: it knows /etc/hosts, and no lifetimes. */
export const systemNames: Names = {
  addresses: (name) =>
    gate.through(async () => {
      const found = await lookup(name, { all: true });
      return { addresses: found.map(({ address }) => address), ttl: null };
    }),
  targets: async () => {
    throw new Error('a service needs a resolver');
  },
};

/** Facts of one resolver object. */
export interface ServerOptions {
  /** Questions at once. */
  readonly parallel: number;
  /** Seconds for a try; null for the default. */
  readonly timeout: number | null;
  /** Whether names that no server knows may be those of the system. */
  readonly alsoLocal: boolean;
}

/** Asks the name servers that the system names. */
export class ServerNames implements Names {
  readonly #resolver: Resolver;
  readonly #gate: Gate;
  readonly #alsoLocal: boolean;

  constructor({ parallel, timeout, alsoLocal }: ServerOptions) {
    this.#resolver = new Resolver(
      timeout === null ? {} : { timeout: Math.max(1, Math.round(timeout * 1000)) },
    );
    this.#gate = new Gate(Math.max(1, parallel));
    this.#alsoLocal = alsoLocal;
  }

  async addresses(name: string): Promise<Answer> {
    if (isIP(name) !== 0) return { addresses: [name], ttl: null };
    const [four, six] = await this.#gate.through(() =>
      Promise.allSettled([
        this.#resolver.resolve4(name, { ttl: true }),
        this.#resolver.resolve6(name, { ttl: true }),
      ]),
    );
    const found = [four, six].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    if (found.length > 0)
      return {
        addresses: found.map(({ address }) => address),
        ttl: Math.min(...found.map(({ ttl }) => ttl)),
      };
    const failed = four.status === 'rejected' ? four.reason : six.status === 'rejected' ? six.reason : null;
    if (this.#alsoLocal && NOT_THERE.has(failed?.code)) return systemNames.addresses(name);
    throw failed ?? Object.assign(new Error('no address'), { code: 'ENODATA' });
  }

  targets(service: string): Promise<readonly Target[]> {
    return this.#gate.through(() => this.#resolver.resolveSrv(service));
  }
}
