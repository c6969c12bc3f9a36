// A host and a port: a director in front of one backend for each address that the host has at the moment. Addresses stay
// when the name cannot be looked up.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, DirectorListing, VclContext } from '../../contract/context.ts';
import type { RunTimeDecl } from '../../contract/program.ts';
import { DirectorRow, healthWord, type MemberRow, type RowSource } from '../directors/row.ts';
import { inUseOf, Refresh, type Times } from './follow-name.ts';
import type { Answer } from './names.ts';

/** A host is looked up by what its director says. */
export interface DomainOptions extends Times {
  /** `d(host:port)` */
  readonly name: string;
  /** `host:port`, and the names of the director and the program, for the log. */
  readonly place: string;
  readonly director: string;
  readonly program: string;
  /** The backend at an address. */
  readonly declAt: (address: string) => RunTimeDecl;
  readonly isAllowed: (address: string) => boolean;
  readonly ask: () => Promise<Answer>;
  /** Seconds until the next question. */
  readonly lifetime: (answer: Answer) => number;
  /** Finds or makes the backend. @throws ExtensionError */
  readonly backendAt: (decl: RunTimeDecl) => Director;
  /** Epoch seconds. */
  readonly now: () => number;
  readonly isWarm: boolean;
  /** A program that asked for it in vcl_init keeps it. */
  readonly isLasting: boolean;
}

/** Addresses of a name at most (chosen): each is a backend. */
const MOST = 100;

export class Domain implements Director, RowSource {
  readonly vclName: string;
  readonly listed: DirectorListing;
  readonly type = 'dynamic';
  readonly columns = ['Health'];
  /** Epoch seconds. */
  usedAt: number;
  readonly isLasting: boolean;
  readonly #options: DomainOptions;
  readonly #refresh: Refresh;
  #decls: readonly RunTimeDecl[] = [];
  /** Addresses of the last answer that the acl does not allow. */
  #refused: readonly string[] = [];
  #next = 0;

  constructor(options: DomainOptions) {
    const now = options.now();
    this.vclName = options.name;
    this.#options = options;
    this.usedAt = now;
    this.isLasting = options.isLasting;
    this.listed = new DirectorRow(this, now);
    this.#refresh = new Refresh(() => this.#ask(), options, options.isWarm);
  }

  async #ask(): Promise<number> {
    const answer = await this.#options.ask();
    const { isAllowed, declAt, lifetime } = this.#options;
    const addresses = [...new Set(answer.addresses)].slice(0, MOST);
    this.#refused = addresses.filter((address) => !isAllowed(address));
    this.#decls = addresses.filter(isAllowed).map(declAt);
    this.touch();
    return lifetime(answer);
  }

  /** The backends, which are kept by being asked for. */
  directors(): Director[] {
    return this.#decls.flatMap((decl) => this.#backend(decl) ?? []);
  }

  /** Null where the program has too many. */
  #backend(decl: RunTimeDecl): Director | null {
    try {
      return this.#options.backendAt(decl);
    } catch {
      return null;
    }
  }

  /** Keeps its backends. */
  touch(): void {
    this.directors();
  }

  healthy(now: number, ctx: VclContext | null = null): boolean {
    const { admin } = this.listed;
    if (admin !== 'auto') return admin === 'healthy';
    return this.directors().some((backend) => backend.healthy(now, ctx));
  }

  resolve(ctx: VclContext): Director | null {
    this.usedAt = this.#options.now();
    const backends = this.directors();
    for (let i = 0; i < backends.length; i++) {
      const backend = backends[(this.#next + i) % backends.length] as Director;
      if (!backend.healthy(ctx.now, ctx)) continue;
      this.#next = (this.#next + i + 1) % backends.length;
      return backend;
    }
    if (this.#refresh.first === null) this.#explain(ctx);
    return null;
  }

  /** Says why it has no backend. */
  #explain(ctx: VclContext): void {
    const { program, director, place } = this.#options;
    const { problem } = this.#refresh;
    const say = (words: string): void =>
      ctx.log.put(Tag.Error, `vmod-dynamic ${program} ${director} ${place} ${words}`);
    for (const address of this.#refused) say(`whitelist mismatch ${address}`);
    if (problem !== '') say(`getaddrinfo ${problem}`);
  }

  pending(): Promise<void> | null {
    return this.#refresh.first;
  }

  setWarm(warm: boolean): void {
    this.#refresh.setWarm(warm);
  }

  get inUse(): number {
    return inUseOf(this.directors());
  }

  end(): void {
    this.#refresh.end();
  }

  facts(): string[] {
    return [];
  }

  counts(now: number): { good: number; total: number } {
    const backends = this.directors();
    return { good: backends.filter((backend) => backend.healthy(now)).length, total: backends.length };
  }

  *rows(now: number): Generator<MemberRow> {
    for (const director of this.directors()) {
      const health = healthWord(director, now);
      yield { director, cells: [health], json: [`"health": "${health}"`] };
    }
  }
}
