// Certificates that are obtained and renewed by themselves. Looks at each set of names when something is due for it, holds
// the right to work on it meanwhile, and gives certificates and answers to challenges to its host. A failure is an event in
// the authority's words, and decides when the next attempt is.

import { AccountSession, type AcmeSettings, type Session } from './account-session.ts';
import { AcmeFailure } from './acme-failure.ts';
import type { AcmeFetch } from './acme-fetch.ts';
import type { AcmeEntry, AcmeHost, AcmeStatus, AcmeTime } from './acme-interface.ts';
import type { ChallengeAnswers } from './challenge-board.ts';
import { entryKey } from './entry-names.ts';
import type { EntryState } from './entry-state.ts';
import type { AcmeStates, Lease } from './local-states.ts';
import { NOT_VALIDATED, OrderRun } from './order-run.ts';
import { chosenWithin, dueTime, nextAttempt, nextRenewalCheck, orderLimit } from './schedule.ts';

export interface AcmeManagerParts {
  readonly settings: AcmeSettings;
  readonly wanted: readonly AcmeEntry[];
  readonly states: AcmeStates;
  readonly answers: ChallengeAnswers;
  readonly host: AcmeHost;
  readonly time: AcmeTime;
  readonly fetch: AcmeFetch;
}

/** A listener, or all of them, where a certificate is presented. */
interface Place {
  readonly id: string;
  readonly entry: AcmeEntry;
}

interface Managed {
  readonly names: readonly string[];
  readonly places: readonly Place[];
  running: boolean;
  ordering: boolean;
  /** Epoch milliseconds before which it is left alone: others work on it, or it could not be installed. */
  restsUntil: number;
  /** The chain that workers present; '' for none. */
  installed: string;
}

/** Orders under way at a time (chosen). */
const MOST_RUNS = 4;
/** Milliseconds between looks at what cannot be done just now (chosen). */
const REST = 10_000;
/** The longest time between two looks at everything (chosen): clocks are set, and machines sleep. */
const LONGEST_NAP = 600_000;
const SHORTEST_NAP = 100;
/** Milliseconds that an end waits for a step under way (chosen). */
const LEAVING = 1000;
/** Failures after which an order is given up that nothing more is known of (chosen). */
const MOST_FAILURES = 10;

export class AcmeManager {
  private readonly parts: AcmeManagerParts;
  private readonly account: AccountSession;
  private readonly managed: readonly Managed[];
  private readonly stopped = new AbortController();
  private readonly runs = new Set<Promise<void>>();
  private cancel: () => void = () => {};

  constructor(parts: AcmeManagerParts) {
    this.parts = parts;
    const { settings, states, fetch, time, wanted } = parts;
    this.account = new AccountSession(settings, states, fetch, () => time.now());
    this.managed = managedOf(settings.directory, wanted);
  }

  /** Installs what there is from former times. Never rejects: what cannot be installed is an event. */
  async restore(): Promise<void> {
    for (const each of this.managed) await this.install(each);
  }

  /** Begins to obtain and renew. */
  start(): void {
    this.look();
  }

  /** A worker serves: nothing need wait for one any more. */
  workerServes(): void {
    for (const each of this.managed) each.restsUntil = 0;
    this.look();
  }

  /** Something may have changed. */
  look(): void {
    if (this.stopped.signal.aborted) return;
    this.cancel();
    const now = this.parts.time.now();
    let next = now + LONGEST_NAP;
    for (const each of this.managed) {
      if (each.running) continue;
      const due = Math.max(this.dueTime(each), each.restsUntil);
      if (due > now) next = Math.min(next, due);
      else if (this.runs.size < MOST_RUNS) this.begin(each);
    }
    this.cancel = this.parts.time.after(Math.max(SHORTEST_NAP, next - now), () => this.look());
  }

  status(): AcmeStatus[] {
    const now = this.parts.time.now();
    return this.managed.flatMap((each) => {
      const { certificate, lastError } = this.parts.states.entry(each.names);
      const presented = certificate !== null && certificate.chain === each.installed;
      const valid = presented && certificate.notAfter > now;
      const failed = lastError?.kind === 'refused' ? 'refused' : 'waiting';
      return each.places.map(({ id, entry }) => ({
        id,
        frontend: entry.frontend,
        names: each.names,
        state: each.ordering
          ? ('ordering' as const)
          : valid
            ? ('valid' as const)
            : (failed as 'refused' | 'waiting'),
        notAfter: certificate === null ? null : Math.round(certificate.notAfter / 1000),
        next: Math.round(Math.max(now, dueTime(this.parts.states.entry(each.names), now)) / 1000),
        problem: lastError?.text ?? null,
      }));
    });
  }

  /** Asks again soon for a certificate, or for all of them (`all`), unless the authority has asked for patience. Resolves
   * with whether there is any of that id. */
  async retry(id: string): Promise<boolean> {
    const { states, time } = this.parts;
    const wanted = this.managed.filter(
      ({ places }) => id === 'all' || places.some((place) => place.id === id),
    );
    for (const { names } of wanted) {
      const state = states.entry(names);
      const isLimited = state.lastError?.kind === 'limited';
      if (state.notBefore > time.now() && !isLimited) await states.saveEntry({ ...state, notBefore: 0 });
    }
    this.look();
    return wanted.length > 0;
  }

  /** Ends; an order under way is continued by the next process. */
  async close(): Promise<void> {
    this.stopped.abort();
    this.cancel();
    let cancel = (): void => {};
    const enough = new Promise<void>((resolve) => {
      cancel = this.parts.time.after(LEAVING, resolve);
    });
    await Promise.race([Promise.allSettled([...this.runs]), enough]);
    cancel();
  }

  /** When something is to be done: an installation, a reading of the renewal information, an order. */
  private dueTime(each: Managed): number {
    const { states, time } = this.parts;
    const state = states.entry(each.names);
    const { certificate, order, renewalCheckAt } = state;
    if ((certificate?.chain ?? '') !== each.installed) return 0;
    const due = dueTime(state, time.now());
    const checks = order === null && (certificate?.renewalId ?? null) !== null;
    return checks ? Math.min(due, renewalCheckAt) : due;
  }

  private begin(each: Managed): void {
    each.running = true;
    const run = this.attend(each).finally(() => {
      each.running = false;
      this.runs.delete(run);
      this.look();
    });
    this.runs.add(run);
  }

  /** Does what is due. Never rejects. */
  private async attend(each: Managed): Promise<void> {
    const { states, host, time } = this.parts;
    const rest = (): void => {
      each.restsUntil = time.now() + REST;
    };
    if (!(await this.install(each)) || this.dueTime(each) > time.now()) return;
    if (!host.isServing()) return rest();
    let lease: Lease | null = null;
    try {
      lease = await states.lease(each.names);
      if (lease === null) return rest();
      await this.work(each, lease);
    } catch (cause) {
      if (this.stopped.signal.aborted || lease?.signal.aborted === true) return rest();
      await this.failed(each, cause);
    } finally {
      await lease?.release();
    }
  }

  private async work(each: Managed, lease: Lease): Promise<void> {
    const { states, time, host, answers, settings } = this.parts;
    // Another node may have done it by now.
    if (this.dueTime(each) > time.now()) return;
    const session = await this.account.open();
    if (dueTime(states.entry(each.names), time.now()) > time.now()) {
      await this.readRenewal(each, session);
      if (dueTime(states.entry(each.names), time.now()) > time.now()) return;
    }
    const owner = entryKey(settings.directory, each.names);
    const run = new OrderRun(states.entry(each.names), {
      ...session,
      challengeTypes: host.challengeTypes(),
      check: () => {
        this.stopped.signal.throwIfAborted();
        lease.signal.throwIfAborted();
      },
      save: (state) => states.saveEntry(state),
      answer: (challenges) => answers.answer(owner, challenges),
      checkLimit: (state) => this.checkLimit(state),
      now: () => time.now(),
      pause: (milliseconds) => this.pause(milliseconds, lease.signal),
    });
    each.ordering = true;
    try {
      await run.run();
      await this.install(each);
      const until = new Date(run.state.certificate?.notAfter ?? 0).toISOString();
      host.happened(`Certificate for ${shown(each.names)} obtained, valid until ${until}`, false);
    } finally {
      each.ordering = false;
      await answers.withdraw(owner).catch(() => {});
    }
  }

  /** A failure to read it changes nothing: the certificate is renewed after two thirds of its life. */
  private async readRenewal(each: Managed, { client }: Session): Promise<void> {
    const { states, time, host } = this.parts;
    const state = states.entry(each.names);
    const id = state.certificate?.renewalId ?? null;
    if (id === null) return;
    try {
      const read = await client.renewal(id);
      const window = read?.value ?? null;
      const renewal = window === null ? null : chosenWithin(window, state.renewal, time.random());
      const renewalCheckAt = nextRenewalCheck(read?.notBefore ?? null, time.now());
      await states.saveEntry({ ...state, renewal, renewalCheckAt });
      if (window === null || window.explanation === '' || renewal?.at === state.renewal?.at) return;
      host.happened(`The authority moves the renewal for ${shown(each.names)}: ${window.explanation}`, false);
    } catch (cause) {
      if (!(cause instanceof AcmeFailure)) throw cause;
      await states.saveEntry({ ...state, renewalCheckAt: nextRenewalCheck(cause.notBefore, time.now()) });
    }
  }

  private checkLimit({ names, certificate }: EntryState): void {
    const { states, time } = this.parts;
    const life = certificate === null ? null : certificate.notAfter - certificate.notBefore;
    const limit = orderLimit(states.all(), names, life, time.now());
    if (limit !== null) throw new AcmeFailure('limited', limit.why, '', limit.until);
  }

  private async failed(each: Managed, cause: unknown): Promise<void> {
    const { states, time, host } = this.parts;
    const failure =
      cause instanceof AcmeFailure ? cause : new AcmeFailure('unavailable', (cause as Error).message);
    const { kind, type, message, notBefore } = failure;
    const state = states.entry(each.names);
    const failures = state.failures + 1;
    const next = nextAttempt(kind, failures, notBefore, time.now(), time.random());
    // Without an answer the order may exist, and one that was refused does not.
    const isOver =
      kind === 'refused' ||
      (kind === 'limited' && state.order?.url === null) ||
      failures % MOST_FAILURES === 0;
    try {
      if (type === 'accountDoesNotExist') await this.account.forget();
      await states.saveEntry({
        ...state,
        order: isOver ? null : state.order,
        failures,
        refusals: state.refusals + (type === NOT_VALIDATED ? 1 : 0),
        notBefore: next,
        lastError: { at: time.now(), kind, text: message },
      });
    } catch (problem) {
      each.restsUntil = next;
      host.happened(`Cannot store the state for ${shown(each.names)}: ${(problem as Error).message}`, true);
    }
    const until = new Date(next).toISOString();
    host.happened(`No certificate for ${shown(each.names)}: ${message}; next attempt at ${until}`, true);
  }

  /** Whether what there is, if anything, is presented. */
  private async install(each: Managed): Promise<boolean> {
    const { states, host, time } = this.parts;
    const { certificate } = states.entry(each.names);
    if (certificate === null || certificate.chain === each.installed) return true;
    const { chain, key } = certificate;
    try {
      for (const place of each.places) await host.install({ ...place, chain, key });
      each.installed = chain;
      return true;
    } catch (cause) {
      each.restsUntil = time.now() + REST;
      host.happened(
        `The certificate for ${shown(each.names)} is not presented: ${(cause as Error).message}`,
        true,
      );
      return false;
    }
  }

  private pause(milliseconds: number, lost: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        for (const signal of [this.stopped.signal, lost]) signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.parts.time.after(milliseconds, done);
      for (const signal of [this.stopped.signal, lost]) signal.addEventListener('abort', done);
    });
  }
}

/** One for each set of names: listeners that want the same names share a certificate. */
function managedOf(directory: string, wanted: readonly AcmeEntry[]): Managed[] {
  const sets = new Map<string, { names: readonly string[]; places: Place[] }>();
  const ids = new Set<string>();
  for (const entry of wanted) {
    const { frontend, names } = entry;
    const key = entryKey(directory, names);
    const set = sets.get(key) ?? { names, places: [] };
    sets.set(key, set);
    if (set.places.some((place) => place.entry.frontend === frontend)) continue;
    const first = entry.id ?? `auto:${names[0] ?? ''}${frontend === null ? '' : `@${frontend}`}`;
    let id = first;
    for (let i = 2; ids.has(id); i++) id = `${first}+${i}`;
    ids.add(id);
    set.places.push({ id, entry });
  }
  return [...sets.values()].map((set) => ({
    ...set,
    running: false,
    ordering: false,
    restsUntil: 0,
    installed: '',
  }));
}

/** Names in a message. */
const MOST_SHOWN = 3;

function shown(names: readonly string[]): string {
  const first = names.slice(0, MOST_SHOWN).join(', ');
  return names.length <= MOST_SHOWN ? first : `${first} and ${names.length - MOST_SHOWN} more`;
}
