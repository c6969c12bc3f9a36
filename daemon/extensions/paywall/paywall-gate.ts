// The decision of one gate for one request. In this order: unmarked content is free; an entitlement in the reader's
// cookie counts; then the service is asked about the session; a reader without a session has the free views of a
// period. Every failure ends in the outcome that the program configured, never in an open door.
//
// A reader who deletes the cookie starts again. One who sends an older cookie does not: all threads of the worker
// share the number of views spent under the cookie's id.

import { randomBytes } from 'node:crypto';
import type { SharedRow, SharedState, SharedTable } from '../../contract/shared-state.ts';
import { type Authority, digest } from './authority.ts';
import { type ReaderToken, readToken, sealToken } from './reader-token.ts';
import { type ServiceAnswer, ServiceFailure } from './service-call.ts';

export type OnError = 'deny' | 'allow' | 'metered';
export type Reason =
  | 'open'
  | 'entitled'
  | 'allowed'
  | 'metered'
  | 'spent'
  | 'denied'
  | 'login'
  | 'unavailable'
  | 'unknown';

export interface GateSettings {
  /** Name of the cookie. */
  name: string;
  key: Uint8Array;
  /** Free views in a period of `period` seconds. */
  free: number;
  period: number;
  onError: OnError;
}

export interface Asked {
  /** Cookie header, mark of the content and session of the reader; '' if absent. */
  cookie: string;
  protection: string;
  session: string;
  /** Epoch seconds. */
  now: number;
}

export interface Verdict {
  mayRead: boolean;
  reason: Reason;
  user: string;
  remaining: number;
  /** The reader's new cookie and its lifetime in seconds; null if the old one is still valid. */
  cookie: { text: string; seconds: number } | null;
  /** Reason why the service did not answer; null if it did, or was not asked. */
  failure: string | null;
}

/** Readers with stored views (chosen), by their ids of 16 characters: two numbers each, the start of the period in
 * epoch seconds and the number of views. */
const MOST_READERS = 10_000;
const SPENT = { numbers: 2, entries: MOST_READERS, bytes: 64 * MOST_READERS, forgetsOldest: true };
const PROTECTION = /^[a-z0-9_-]{1,32}$/;

export class Gate {
  private readonly settings: GateSettings;
  /** Null without a service. */
  private readonly authority: Authority | null;
  /** Spent views and their period by reader id. */
  private readonly spent: SharedTable;

  constructor(settings: GateSettings, authority: Authority | null, state: SharedState) {
    this.settings = settings;
    this.authority = authority;
    this.spent = state.table('paywall', SPENT);
  }

  close(): void {
    this.authority?.close();
  }

  check(given: Asked): Verdict | Promise<Verdict> {
    const asked = { ...given, protection: given.protection.trim().toLowerCase() };
    const { protection, session, now } = asked;
    const token = this.tokenOf(asked);
    if (protection === '') return this.verdict(token, true, 'open');
    if (!PROTECTION.test(protection)) return this.verdict(token, false, 'unknown');
    const e = token.entitlement;
    if (e !== null && e.until > now && e.protection === protection && e.session === digest(session))
      return this.verdict(token, true, 'entitled', e.user);
    if (session === '' || this.authority === null)
      return protection === 'metered' ? this.spend(token, now) : this.verdict(token, false, 'login');
    try {
      const answer = this.authority.ask({ session, protection });
      if (!(answer instanceof Promise)) return this.follow(asked, answer);
      return answer.then(
        (late) => this.follow(asked, late),
        (error) => this.unanswered(asked, error),
      );
    } catch (error) {
      return this.unanswered(asked, error);
    }
  }

  private follow(asked: Asked, { access, user, seconds }: ServiceAnswer): Verdict {
    // Read again: the same reader may have spent views while the service was asked.
    const token = this.tokenOf(asked);
    if (access === 'deny') return this.verdict(token, false, 'denied', user);
    if (access === 'metered') return this.spend(token, asked.now, user);
    const verdict = this.verdict(token, true, 'allowed', user);
    const life = Math.min(Math.floor(seconds), this.settings.period);
    if (life <= 0) return verdict;
    const until = Math.floor(asked.now) + life;
    const entitlement = { user, protection: asked.protection, until, session: digest(asked.session) };
    return { ...verdict, cookie: this.sealed({ ...token, entitlement }, asked.now) };
  }

  private unanswered(asked: Asked, error: unknown): Verdict {
    if (!(error instanceof ServiceFailure)) throw error;
    const token = this.tokenOf(asked);
    const { onError } = this.settings;
    const verdict =
      onError === 'metered'
        ? this.spend(token, asked.now)
        : this.verdict(token, onError === 'allow', 'unavailable');
    return { ...verdict, failure: error.message };
  }

  /** Spends one view of the period, if one is left. */
  private spend(token: ReaderToken, now: number, user = ''): Verdict {
    if (token.count >= this.settings.free) return this.verdict(token, false, 'spent', user);
    // Another thread may have counted a view since the token was read.
    const mayRead = this.spent.update(token.id, (row) => {
      this.follows(token, row, now);
      if (token.count >= this.settings.free) return false;
      if (token.count === 0) token.start = Math.floor(now);
      token.count++;
      row.numbers.splice(0, 2, token.start, token.count);
      return true;
    });
    if (!mayRead) return this.verdict(token, false, 'spent', user);
    return { ...this.verdict(token, true, 'metered', user), cookie: this.sealed(token, now) };
  }

  private verdict(token: ReaderToken, mayRead: boolean, reason: Reason, user = ''): Verdict {
    const remaining = Math.max(0, this.settings.free - token.count);
    return { mayRead, reason, user, remaining, cookie: null, failure: null };
  }

  /** The reader's token, updated from the shared state; a new one for a reader without. */
  private tokenOf({ cookie, now }: Asked): ReaderToken {
    const { name, key, period } = this.settings;
    const token = readToken(cookie, name, key, now);
    if (token === null)
      return { id: randomBytes(12).toString('base64url'), start: 0, count: 0, entitlement: null, expires: 0 };
    const known = this.spent.read(token.id);
    // Keeps the state of readers with an older cookie for longer.
    if (known !== null && this.follows(token, known, now)) this.spent.update(token.id, () => undefined);
    if (now >= token.start + period) token.count = 0;
    return token;
  }

  /** Updates a token from the shared state; returns whether it was older. */
  private follows(token: ReaderToken, { numbers }: SharedRow, now: number): boolean {
    const [start = 0, count = 0] = numbers;
    // The later period counts, and within a period the larger number.
    const isOlder = start > token.start || (start === token.start && count > token.count);
    if (isOlder && now < start + this.settings.period) Object.assign(token, { start, count });
    return isOlder;
  }

  private sealed(token: ReaderToken, now: number): Verdict['cookie'] {
    const { name, key, period } = this.settings;
    const ends = Math.max(token.count > 0 ? token.start + period : 0, token.entitlement?.until ?? 0);
    const seconds = Math.ceil(ends - now);
    return { text: sealToken({ ...token, expires: ends }, name, key), seconds };
  }
}
