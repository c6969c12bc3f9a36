// `.resolve = 30s`: resolves a backend's name repeatedly while its program is warm. The addresses stay when the name
// cannot be resolved or has not changed; the operator gets a message about changes and about the first of several
// failures.

import { isDeepStrictEqual } from 'node:util';
import type { BackendDecl } from '../contract/program.ts';
import type { OriginAddress } from './address.ts';
import { Deadline } from './deadline.ts';
import { isNamed, type NameLookup, resolveBackend, systemLookup } from './resolve.ts';

/** The backend whose addresses are refreshed. */
export interface Named {
  readonly decl: BackendDecl;
  readonly displayName: string;
  addresses: readonly OriginAddress[];
}

export interface AddressRefreshEnvironment {
  readonly params: { readonly prefer_ipv6: number };
  readonly names?: NameLookup;
  note(text: string): void;
}

/** Least seconds between two lookups (chosen), to spare the name server. */
const SHORTEST = 0.1;

/** Null for a backend without `.resolve`. */
export function addressRefresh(named: Named, env: AddressRefreshEnvironment): AddressRefresh | null {
  return named.decl.resolve === undefined || named.decl.resolve <= 0 || !isNamed(named.decl)
    ? null
    : new AddressRefresh(named, env, named.decl.resolve);
}

export class AddressRefresh {
  private readonly named: Named;
  private readonly env: AddressRefreshEnvironment;
  private readonly interval: number;
  private readonly timer = new Deadline(() => void this.renew());
  private running = false;
  private failing = false;

  constructor(named: Named, env: AddressRefreshEnvironment, interval: number) {
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
    // After the lookup, so that a slow name server never has two at the same time.
    this.timer.start(this.interval);
  }
}

function show(at: OriginAddress): string {
  if (at.kind === 'unix') return at.path;
  return at.address.includes(':') ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`;
}
