// A host and a port: a director in front of one backend for each address that the host has at the moment. Addresses stay
// when the name cannot be looked up.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import type { RunTimeDecl } from '../../contract/program.ts';
import { healthWord, type MemberRow } from '../directors/row.ts';
import { type FollowOptions, NameDirector } from './follow-name.ts';
import type { Answer } from './names.ts';

export interface DomainOptions extends FollowOptions {
  /** `host:port`, and the names of the director and the program, for the log. */
  readonly place: string;
  readonly director: string;
  readonly program: string;
  /** The backend at an address. */
  readonly declAt: (address: string) => RunTimeDecl;
  readonly isAllowed: (address: string) => boolean;
  readonly ask: () => Promise<Answer>;
  /** Seconds until the next lookup. */
  readonly lifetime: (answer: Answer) => number;
  /** Finds or makes the backend. @throws ExtensionError */
  readonly backendAt: (decl: RunTimeDecl) => Director;
}

/** Addresses of a name at most (chosen): each is a backend. */
const MOST = 100;

export class Domain extends NameDirector<DomainOptions> {
  readonly columns = ['Health'];
  #decls: readonly RunTimeDecl[] = [];
  /** Addresses of the last lookup that the acl does not allow. */
  #refused: readonly string[] = [];
  #next = 0;

  protected async lookUp(): Promise<number> {
    const answer = await this.options.ask();
    const { isAllowed, declAt, lifetime } = this.options;
    const addresses = [...new Set(answer.addresses)].slice(0, MOST);
    this.#refused = addresses.filter((address) => !isAllowed(address));
    this.#decls = addresses.filter(isAllowed).map(declAt);
    this.touch();
    return lifetime(answer);
  }

  /** The backends; asking for them keeps them. */
  directors(): Director[] {
    return this.#decls.flatMap((decl) => this.#backend(decl) ?? []);
  }

  /** Null where the program has too many. */
  #backend(decl: RunTimeDecl): Director | null {
    try {
      return this.options.backendAt(decl);
    } catch {
      return null;
    }
  }

  touch(): void {
    this.directors();
  }

  resolve(ctx: VclContext): Director | null {
    this.usedAt = this.options.now();
    const backends = this.directors();
    for (let i = 0; i < backends.length; i++) {
      const backend = backends[(this.#next + i) % backends.length] as Director;
      if (!backend.healthy(ctx.now, ctx)) continue;
      this.#next = (this.#next + i + 1) % backends.length;
      return backend;
    }
    if (this.refresh.first === null) this.#explain(ctx);
    return null;
  }

  /** Logs why it has no backend. */
  #explain(ctx: VclContext): void {
    const { program, director, place } = this.options;
    const { problem } = this.refresh;
    const say = (words: string): void =>
      ctx.log.put(Tag.Error, `vmod-dynamic ${program} ${director} ${place} ${words}`);
    for (const address of this.#refused) say(`whitelist mismatch ${address}`);
    if (problem !== '') say(`getaddrinfo ${problem}`);
  }

  pending(): Promise<void> | null {
    return this.refresh.first;
  }

  *rows(now: number): Generator<MemberRow> {
    for (const director of this.directors()) {
      const health = healthWord(director, now);
      yield { director, cells: [health], json: [`"health": "${health}"`] };
    }
  }
}
