// The backends that extensions make for one program while it runs. They are listed, counted and probed like declared
// ones. Those made in vcl_init live as long as the program; the others are removed when they have not been used for a
// while. Their number is limited, because clients may determine it: the one that has been idle for longest makes room
// for a new one.
//
// Each thread makes its own, with a row shared by description, which also gives them one name. A thread reports those
// it uses to the program, so that the first thread has them as well.

import type { Director } from '../contract/context.ts';
import { ExtensionError } from '../contract/failure.ts';
import type { BackendDecl, RunTimeDecl } from '../contract/program.ts';
import { newVbeCounters } from '../stats/counter-fields.ts';
import { Backend } from './backend.ts';
import type { BackendEnvironment } from './backend-surroundings.ts';
import { literalAddress } from './resolve.ts';
import type { BackendRow } from './shared-backends.ts';
import type { TlsClient } from './tls-client.ts';

/** Run-time backends per program (chosen). */
const MOST = 1000;
/** Seconds without use after which one is removed, and between two checks (chosen). */
const IDLE = 300;
const LOOK = 30;

/** The program that the backends belong to. */
export interface BackendOwner {
  readonly name: string;
  readonly directors: Map<string, Director>;
  readonly backends: Map<string, Backend>;
  /** A backend was made and added to both maps; or removed. */
  made(backend: Backend): void;
  gone(backend: Backend): void;
  /** The shared row of the backend with this key; other backends may have the same name. Null with one thread. */
  rowOf(key: string, name: string): BackendRow | null;
  /** This thread uses the backend, which may expire: called when it was made, and again at each check. */
  kept(key: string): void;
}

interface Entry {
  readonly backend: Backend;
  lasting: boolean;
  /** Epoch seconds of the last use seen, and the number of requests by then. */
  usedAt: number;
  requests: number;
}

export class RunTimeBackends {
  private readonly owner: BackendOwner;
  private readonly env: BackendEnvironment;
  private readonly entries = new Map<string, Entry>();
  private timer: NodeJS.Timeout | null = null;

  constructor(owner: BackendOwner, env: BackendEnvironment) {
    this.owner = owner;
    this.env = env;
  }

  /**
   * The backend of this description, made when there is none.
   * @param lasting whether it lives as long as the program
   * @throws ExtensionError for a host that is not an address, an invalid port, and one backend too many
   */
  at(decl: RunTimeDecl, lasting: boolean): Director {
    const key = JSON.stringify(decl);
    let entry = this.entries.get(key);
    if (entry === undefined) {
      entry = this.make(decl, key);
      this.entries.set(key, entry);
      if (!lasting) this.owner.kept(key);
    }
    entry.usedAt = this.env.now();
    if (lasting) entry.lasting = true;
    return entry.backend;
  }

  /** Removes backends that have not been used for a while. */
  look(): void {
    const now = this.env.now();
    for (const [key, entry] of this.entries) {
      const { backend } = entry;
      if (entry.lasting || backend.inUseHere > 0 || backend.counters.req !== entry.requests) {
        entry.usedAt = now;
        entry.requests = backend.counters.req;
      } else if (now - entry.usedAt >= IDLE) {
        this.entries.delete(key);
        this.drop(backend);
        continue;
      }
      if (!entry.lasting) this.owner.kept(key);
    }
    if (this.entries.size === 0) this.stop();
  }

  /** Removes all backends when the program ends. */
  close(): void {
    this.stop();
    for (const { backend } of this.entries.values()) this.drop(backend);
    this.entries.clear();
  }

  private stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private make(given: RunTimeDecl, key: string): Entry {
    const { owner, env } = this;
    const address = literalAddress(given);
    if (address === null) throw new ExtensionError(`"${given.host ?? ''}" is not a backend address`);
    if (typeof address === 'string') throw new ExtensionError(address);
    if (this.entries.size >= MOST && !this.makeRoom())
      throw new ExtensionError(`${MOST} backends were made at run time and all are in use, no more are made`);
    const name = placeOf(given);
    const row = owner.rowOf(key, name);
    const { shownAs: _, tlsAs, ...rest } = given;
    const decl: BackendDecl = { ...rest, name: this.freeName(name, row?.number ?? 1) };
    const now = env.now();
    const via = given.via === undefined ? null : (owner.backends.get(given.via) ?? null);
    const counters = newVbeCounters();
    const own = tlsAs === undefined ? null : this.tlsAs(tlsAs);
    if (own !== null) decl.tls = own.settings;
    const tls = own ?? via?.tls ?? null;
    const backend = new Backend(decl, owner.name, [address], counters, env, now, row, tls, via);
    owner.backends.set(decl.name, backend);
    owner.directors.set(decl.name, backend);
    owner.made(backend);
    this.timer ??= setInterval(() => this.look(), LOOK * 1000).unref();
    return { backend, lasting: false, usedAt: now, requests: 0 };
  }

  private tlsAs({ backend, name }: { backend: string; name: string }): TlsClient {
    const tls = this.owner.backends.get(backend)?.tls ?? null;
    if (tls === null) throw new ExtensionError(`backend ${backend} has no TLS`);
    return tls.named(name);
  }

  /** Removes the backend whose last use is the longest ago; false when all are in use. */
  private makeRoom(): boolean {
    let idle: [string, Entry] | null = null;
    for (const row of this.entries) {
      const [, entry] = row;
      const isFree = !entry.lasting && entry.backend.inUseHere === 0;
      if (isFree && (idle === null || entry.usedAt < idle[1].usedAt)) idle = row;
    }
    if (idle === null) return false;
    this.entries.delete(idle[0]);
    this.drop(idle[1].backend);
    return true;
  }

  private drop(backend: Backend): void {
    const { owner } = this;
    backend.setWarm(false);
    backend.end();
    owner.backends.delete(backend.vclName);
    owner.directors.delete(backend.vclName);
    owner.gone(backend);
  }

  /** Appends a number where other backends have the same name. */
  private freeName(name: string, from: number): string {
    let free = from === 1 ? name : `${name}(${from})`;
    for (let n = from + 1; this.owner.directors.has(free); n++) free = `${name}(${n})`;
    return free;
  }
}

function placeOf({ host = '', port = '80', path, shownAs }: RunTimeDecl): string {
  return (
    shownAs ?? path ?? (host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`)
  );
}
