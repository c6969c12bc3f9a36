// `.resolve = 30s`: asks for the addresses of a backend's name again and again while its program is warm. A name that
// cannot be resolved keeps the addresses it had, and so does one whose answer is the same; the operator is told of
// changes and of the first failure in a row.

import { isDeepStrictEqual } from 'node:util';
import type { BackendDecl } from '../contract/program.ts';
import type { OriginAddress } from './address.ts';
import { Deadline } from './deadline.ts';
import { isNamed, type NameLookup, resolveBackend, systemLookup } from './resolve.ts';

/** Whose addresses are renewed. */
export interface Named {
  readonly decl: BackendDecl;
  readonly displayName: string;
  addresses: readonly OriginAddress[];
}

export interface RenewalEnvironment {
  readonly params: { readonly prefer_ipv6: number };
  readonly names?: NameLookup;
  note(text: string): void;
}

/** Seconds between two questions, at least: a name server is not to be asked more often. */
const SHORTEST = 0.1;

/** Null for a backend that asks for none. */
export function renewal(named: Named, env: RenewalEnvironment): Renewal | null {
  return named.decl.resolve === undefined || named.decl.resolve <= 0 || !isNamed(named.decl)
    ? null
    : new Renewal(named, env, named.decl.resolve);
}

export class Renewal {
  private readonly named: Named;
  private readonly env: RenewalEnvironment;
  private readonly interval: number;
  private readonly timer = new Deadline(() => void this.renew());
  private running = false;
  private failing = false;

  constructor(named: Named, env: RenewalEnvironment, interval: number) {
    this.named = named;
    this.env = env;
    this.interval = Math.max(SHORTEST, interval);
  }

  start(): void {
    this.running = true;
    this.timer.start(this.interval);
  }

  stop(): void {
    this.running = false;
    this.timer.stop();
  }

  private async renew(): Promise<void> {
    const { named, env } = this;
    const found = await resolveBackend(named.decl, env.params.prefer_ipv6 !== 0, env.names ?? systemLookup);
    if (!this.running) return;
    if (typeof found === 'string') {
      if (!this.failing) env.note(`${found}: ${named.displayName} keeps its addresses`);
      this.failing = true;
    } else {
      this.failing = false;
      if (!isDeepStrictEqual(found, named.addresses)) {
        named.addresses = found;
        env.note(`Backend ${named.displayName} is now at ${found.map(show).join(', ')}`);
      }
    }
    // Only now: a slow name server is not asked twice at the same time.
    this.timer.start(this.interval);
  }
}

function show(at: OriginAddress): string {
  if (at.kind === 'unix') return at.path;
  return at.address.includes(':') ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`;
}
