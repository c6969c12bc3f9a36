// State shared by the nodes of a fleet: the account, the states of all sets of names, and the answers to challenges, in
// the fleet's bucket. The state directory has a copy, with which a node serves when the bus is away. A node works on a
// certificate only while it has the lease, and asks an authority to validate when the others give the answers, too.

import type { AcmeChallenges } from '../tls/tls-settings.ts';
import { fields } from './acme-failure.ts';
import type { AcmeTime } from './acme-interface.ts';
import type { ChallengeAnswers, ChallengeBoard } from './challenge-board.ts';
import { directoryKey, entryKey } from './entry-names.ts';
import { type EntryState, readEntryState, writeEntryState } from './entry-state.ts';
import type { FleetStore } from './fleet-store.ts';
import { Leases } from './leases.ts';
import {
  type AccountState,
  type AcmeStates,
  type Lease,
  type LocalStates,
  readAccount,
  writeAccount,
} from './local-states.ts';
import type { Sealing } from './sealing.ts';

export interface FleetStatesParts {
  readonly local: LocalStates;
  readonly store: FleetStore;
  readonly sealing: Sealing;
  readonly board: ChallengeBoard;
  readonly time: AcmeTime;
  /** A state has come from another node. */
  changed(): void;
  /** Reports a problem for operators. */
  warn(text: string): void;
}

/** Milliseconds that the other nodes have to give an answer before the authority is asked to validate (chosen). */
const SPREADING = 15_000;
const POLL = 50;
/** Answers of other nodes' orders that are given here (chosen). */
const MOST_ORDERS = 50;

const ENTRY = 'entry.';
const CHALLENGES = 'challenges.';
const SEEN = 'seen.';

export class FleetStates implements AcmeStates, ChallengeAnswers {
  private readonly parts: FleetStatesParts;
  private readonly leases: Leases;
  /** Revisions of what was read or written here last, by key. */
  private readonly revisions = new Map<string, number>();
  /** Revisions of the answers that workers give here, by key. */
  private readonly answered = new Map<string, number>();
  /** Keys of the bucket when it was last looked at. */
  private present: ReadonlySet<string> = new Set();
  /** Keys whose values cannot be opened; each is reported once. */
  private readonly closed = new Set<string>();
  private following: Promise<void> = Promise.resolve();

  constructor(parts: FleetStatesParts) {
    this.parts = parts;
    this.leases = new Leases(parts.store, parts.time);
    parts.store.follow(() => {
      this.leases.observe();
      this.following = this.following
        .then(() => this.update())
        .catch((cause: Error) => parts.warn(cause.message));
    });
  }

  get account(): AccountState | null {
    return this.parts.local.account;
  }

  async saveAccount(account: AccountState): Promise<AccountState> {
    const { local } = this.parts;
    // The first node to store a key makes it the fleet's.
    const former = this.sharedAccount();
    const isOthers = former !== null && former.key !== account.key;
    if (!isOthers && (await this.stored(this.accountKey, writeAccount(account))) !== null)
      return local.saveAccount(account);
    const shared = await this.arrivedAccount();
    return local.saveAccount(shared.key === account.key ? account : shared);
  }

  entry(names: readonly string[]): EntryState {
    return this.parts.local.entry(names);
  }

  async saveEntry(state: EntryState): Promise<void> {
    const { local } = this.parts;
    await this.put(ENTRY + entryKey(local.directory, state.names), writeEntryState(state));
    await local.saveEntry(state);
  }

  all(): readonly EntryState[] {
    return this.parts.local.all();
  }

  async lease(names: readonly string[]): Promise<Lease | null> {
    const { local, store } = this.parts;
    const key = entryKey(local.directory, names);
    await this.following;
    if (this.closed.has(ENTRY + key) || this.closed.has(this.accountKey)) return null;
    const lease = await this.leases.take(key);
    if (lease === null) return null;
    try {
      // The former holder may have stored more before it lost the lease.
      await this.following;
      const account = this.sharedAccount();
      if (account !== null && JSON.stringify(account) !== JSON.stringify(local.account))
        await local.saveAccount(account);
      // Obtained while the bus had no entry for it.
      if (store.contents?.has(ENTRY + key) === false && local.entry(names).certificate !== null)
        await this.saveEntry(local.entry(names));
      return lease;
    } catch (cause) {
      await lease.release();
      throw cause;
    }
  }

  /** Gives answers on all nodes. Resolves when those that are there do, or after a while without them. */
  async answer(owner: string, challenges: AcmeChallenges): Promise<void> {
    const { board, store, time, warn } = this.parts;
    const key = CHALLENGES + owner;
    const revision = await this.put(key, JSON.stringify({ v: 1, ...challenges }));
    this.answered.set(key, revision);
    await board.answer(owner, challenges);
    const end = time.now() + SPREADING;
    let silent = this.silent(key, revision);
    while (silent.length > 0 && time.now() < end) {
      await this.pause(POLL);
      silent = this.silent(key, revision);
    }
    if (silent.length > 0)
      warn(`${silent.join(', ')} may not answer the authority's challenges: no confirmation came`);
    if (store.contents === null) throw new Error('the connection to the bus was lost');
  }

  async withdraw(owner: string): Promise<void> {
    const key = CHALLENGES + owner;
    this.answered.delete(key);
    await this.parts.board.withdraw(owner);
    const revision = this.revisionOf(key);
    if (revision > 0) await this.parts.store.store(key, null, revision);
    this.revisions.delete(key);
  }

  /** Leaves: answers of this node are not waited for any more. */
  async close(): Promise<void> {
    const { store } = this.parts;
    const key = SEEN + store.node;
    if (store.contents?.has(key) === true) await store.store(key, null, this.revisionOf(key));
  }

  /** Other nodes that take part and do not give an answer yet. */
  private silent(key: string, revision: number): string[] {
    const { store } = this.parts;
    return store.others().filter((node) => {
      const seen = store.contents?.get(SEEN + node);
      if (seen === undefined) return false;
      return Number(fields(jsonOf(seen.data))[key] ?? 0) < revision;
    });
  }

  /** Takes over what other nodes have stored. */
  private async update(): Promise<void> {
    const { store, local, changed } = this.parts;
    const { contents } = store;
    if (contents === null) return;
    // The bucket may have been made again, and counts from the beginning then.
    for (const key of this.present) if (!contents.has(key)) this.revisions.delete(key);
    this.present = new Set(contents.keys());
    let adopted = false;
    for (const [key, { revision }] of contents) {
      if (!key.startsWith(ENTRY) || revision <= (this.revisions.get(key) ?? 0)) continue;
      this.revisions.set(key, revision);
      const json = this.opened(key);
      const state = json === null ? null : readEntryState(json);
      if (state === null || ENTRY + entryKey(local.directory, state.names) !== key) continue;
      await local.saveEntry(state);
      adopted = true;
    }
    await this.updateAnswers();
    if (adopted) changed();
  }

  private async updateAnswers(): Promise<void> {
    const { store, board } = this.parts;
    const contents = store.contents ?? new Map();
    for (const key of this.answered.keys()) {
      if (contents.has(key) || this.revisions.has(key)) continue;
      this.answered.delete(key);
      await board.withdraw(key.slice(CHALLENGES.length));
    }
    for (const [key, { revision }] of contents) {
      if (!key.startsWith(CHALLENGES) || revision <= (this.answered.get(key) ?? 0)) continue;
      if (this.answered.size >= MOST_ORDERS && !this.answered.has(key)) continue;
      const answers = answersOf(this.opened(key));
      if (answers === null) continue;
      await board.answer(key.slice(CHALLENGES.length), answers);
      this.revisions.delete(key);
      this.answered.set(key, revision);
    }
    await this.confirm();
  }

  /** Tells the others which answers are given here. */
  private async confirm(): Promise<void> {
    const { store } = this.parts;
    const key = SEEN + store.node;
    const json = JSON.stringify(Object.fromEntries(this.answered));
    const present = store.contents?.get(key);
    if (present !== undefined && Buffer.from(present.data).toString() === json) return;
    const result = await store.store(key, Buffer.from(json), present?.revision ?? 0);
    if (result.state === 'refused' || result.state === 'unanswered')
      this.parts.warn(
        `The challenges that are answered here cannot be sent to the other nodes: ${result.detail}`,
      );
  }

  private sharedAccount(): AccountState | null {
    const json = this.opened(this.accountKey);
    return json === null ? null : readAccount(json);
  }

  /** The account that another node has just stored. */
  private async arrivedAccount(): Promise<AccountState> {
    const { time } = this.parts;
    for (const end = time.now() + SPREADING; time.now() < end; ) {
      const shared = this.sharedAccount();
      if (shared !== null) return shared;
      await this.pause(POLL);
    }
    throw new Error('the account that another node of the fleet has stored cannot be read');
  }

  private async put(key: string, json: string): Promise<number> {
    const revision = await this.stored(key, json);
    if (revision === null) throw new Error('another node of the fleet has changed it');
    return revision;
  }

  /** Stores a value in place of the one that is known here; resolves with its revision, or with null if another node has
   * changed it. */
  private async stored(key: string, json: string): Promise<number | null> {
    const { store, sealing } = this.parts;
    const result = await store.store(key, sealing.seal(key, json), this.revisionOf(key));
    if (result.state === 'stored') {
      this.revisions.set(key, result.revision);
      return result.revision;
    }
    this.revisions.delete(key);
    if (result.state === 'changed') return null;
    throw new Error(`the fleet's bucket cannot be changed: ${result.detail}`);
  }

  private pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.parts.time.after(milliseconds, resolve));
  }

  private revisionOf(key: string): number {
    return Math.max(this.revisions.get(key) ?? 0, this.parts.store.contents?.get(key)?.revision ?? 0);
  }

  private opened(key: string): string | null {
    const { store, sealing, warn } = this.parts;
    const entry = store.contents?.get(key);
    if (entry === undefined) return null;
    const json = sealing.open(key, entry.data);
    if (json !== null) this.closed.delete(key);
    else if (!this.closed.has(key)) {
      this.closed.add(key);
      warn(
        `${key} in the fleet's bucket was sealed with another secret: give all nodes the same file with --fleet-secret`,
      );
    }
    return json;
  }

  private get accountKey(): string {
    return `account.${directoryKey(this.parts.local.directory)}`;
  }
}

function answersOf(json: string | null): AcmeChallenges | null {
  if (json === null) return null;
  const { v, http, alpn } = fields(jsonOf(Buffer.from(json)));
  return v === 1 ? ({ http: fields(http), alpn: fields(alpn) } as AcmeChallenges) : null;
}

function jsonOf(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return null;
  }
}
