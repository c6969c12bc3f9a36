// Names that requests bring, as addresses: each is asked for at most once at a time and once in its time, few are kept
// and few asked for at once. The resolver runs beside the worker, on no more than half of its helper threads.

import { lookup } from 'node:dns/promises';
import { ExtensionError } from '../../contract/failure.ts';

export type Resolver = (name: string) => Promise<readonly string[]>;

/** The system's resolver. */
export const systemResolver: Resolver = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);

/** Names kept, and asked for at once (chosen). */
const MOST = 1000;
const AT_ONCE = 16;

interface Known {
  addresses: readonly string[];
  /** Milliseconds on the clock of Date. */
  askedAt: number;
}

export class FreshNames {
  private readonly resolver: Resolver;
  /** The one asked for last at the end. */
  private readonly known = new Map<string, Known>();
  private readonly asked = new Map<string, Promise<readonly string[]>>();

  constructor(resolver: Resolver) {
    this.resolver = resolver;
  }

  /**
   * The addresses of a name; after a failed lookup those that it had.
   * @param seconds how old an answer may be
   * @throws ExtensionError when there are none, or too many names are asked for
   */
  addresses(name: string, seconds: number): readonly string[] | Promise<readonly string[]> {
    const known = this.known.get(name);
    if (known !== undefined && Date.now() - known.askedAt < seconds * 1000) return known.addresses;
    return this.asked.get(name) ?? this.ask(name, known);
  }

  private ask(name: string, known: Known | undefined): Promise<readonly string[]> {
    if (this.asked.size >= AT_ONCE)
      throw new ExtensionError(`${AT_ONCE} names are being looked up, not "${name}"`);
    const answer = this.resolver(name)
      .catch((error: NodeJS.ErrnoException) => {
        if (known !== undefined) return known.addresses;
        throw new ExtensionError(`"${name}" has no address (${error.code ?? error.message})`);
      })
      .then((addresses) => {
        this.keep(name, addresses);
        return addresses;
      })
      .finally(() => this.asked.delete(name));
    this.asked.set(name, answer);
    return answer;
  }

  private keep(name: string, addresses: readonly string[]): void {
    this.known.delete(name);
    this.known.set(name, { addresses, askedAt: Date.now() });
    if (this.known.size <= MOST) return;
    for (const oldest of this.known.keys()) {
      this.known.delete(oldest);
      return;
    }
  }
}
