// The counters, URLs, statuses, clients, outcomes, errors, backends and causes of misses whose rates changed most between a
// window of time and the window before it, ranked by the factor of the change; changes within chance are left out.

import type { Movement } from '../counters/counter-trail.ts';
import { requestsOf } from '../counters/rate-history.ts';
import type { Tally, TrailKind } from '../traffic/fact-trail.ts';
import { earliest } from '../traffic/rankings.ts';
import type { Verdict } from '../traffic/unserved.ts';
import type { AskedUrl } from '../traffic/url-trail.ts';
import type { DaemonSession } from './daemon-session.ts';

/** Least count in both windows together, and least factor of a change (chosen). */
const FEW = 20;
const FACTOR = 1.25;
/** Added to both counts: a change from zero to a few is not infinite. */
const SMOOTH = 10;
/** Standard deviations beyond which a change is no chance. */
const CHANCE = 3;
const MOST = 40;

/** Fewest fetches with a time in both windows, and least factor of their mean (chosen). */
const FEW_TIMES = 10;
const TIME_FACTOR = 1.5;
/** Counters whose rates differ by less, before and now, move together (chosen). */
const ALIKE = 0.03;

export interface Change {
  /** `time`: the mean seconds to the first byte of a backend, in place of rates. `cause`: of misses and passes. */
  kind: 'counter' | 'url' | 'time' | 'cause' | Exclude<TrailKind, 'backend'>;
  name: string;
  /** Counters that move as this one does. */
  alike?: string[];
  /** Of a cause. */
  verdict?: Verdict;
  /** Of a URL. */
  asked?: AskedUrl;
  /** Per second, or seconds. */
  before: number;
  now: number;
  /** Factor of the increase or decrease, from 1 on. */
  factor: number;
}

export interface Changes {
  /** The largest factor first. */
  changes: Change[];
  /** Whether counters and URLs were observed for long enough; else they are left out. */
  counters: boolean;
  urls: boolean;
}

/** Counters that move together are one change: the one with the largest factor. */
function folded(changes: readonly Change[]): Change[] {
  const out: Change[] = [];
  for (const change of changes) {
    const same = change.kind !== 'counter' ? undefined : out.find((one) => isAlike(one, change));
    if (same === undefined) out.push(change);
    else same.alike = [...(same.alike ?? []), change.name];
  }
  return out;
}

function isAlike(a: Change, b: Change): boolean {
  const close = (x: number, y: number): boolean => Math.abs(x - y) <= ALIKE * Math.max(x, y);
  return a.kind === 'counter' && close(a.before, b.before) && close(a.now, b.now);
}

/** Redundant: their rates follow those of more specific counters. */
const LEFT_OUT = /^(THR|LCK|MGT)\./;

export function changesOf(session: DaemonSession, window: number): Changes {
  const counted = session.trail.movement(window);
  const changes: Change[] = [];
  for (const { name, now, before } of counted.moved) {
    const info = session.counters.get(name)?.info;
    if (info?.flag !== 'c' || info.format === 'd' || info.level === 'debug' || LEFT_OUT.test(name)) continue;
    take(changes, { kind: 'counter', name }, now, before, now + before, counted);
  }
  const movedBy = (when: 'now' | 'before'): number =>
    requestsOf((name) => counted.moved.find((one) => one.name === name)?.[when] ?? 0, session.version);
  const requests = { now: movedBy('now'), before: movedBy('before') };
  const urls = session.traffic.sample.urls;
  const now = session.lastDataAt;
  const covered = counted.seconds > 0 && urls.since > 0 && urls.since <= now - 1.5 * window;
  if (covered) {
    const late = urls.between(now - window, now + 1);
    const early = urls.between(now - 2 * window, now - window);
    // The sample's share of all requests changes with the load: its shares are applied to the counted requests.
    const scale = (n: number, of: number, all: number): number => (of === 0 ? 0 : (n / of) * all);
    for (const [name, newest] of new Map([...early.urls, ...late.urls])) {
      const [after, first] = [late.urls.get(name)?.requests ?? 0, early.urls.get(name)];
      const former = first?.requests ?? 0;
      const more = scale(after, late.requests, requests.now);
      const less = scale(former, early.requests, requests.before);
      const asked = { ...newest, since: earliest(newest.since, first?.since ?? 0) };
      take(changes, { kind: 'url', name, asked }, more, less, after + former, counted);
    }
  }
  if (covered) takeFacts(changes, session, window, requests, counted);
  changes.sort((a, b) => b.factor - a.factor || (a.name < b.name ? -1 : 1));
  return {
    changes: folded(changes).slice(0, MOST),
    counters: counted.seconds > 0,
    urls: covered,
  };
}

/** Statuses, clients, outcomes, errors, backends, and causes of misses: shares of the sample, scaled as those of URLs. */
function takeFacts(
  changes: Change[],
  { traffic: { sample }, lastDataAt }: DaemonSession,
  window: number,
  requests: { now: number; before: number },
  counted: Movement,
): void {
  const late = sample.facts.between(lastDataAt - window, lastDataAt + 1);
  const early = sample.facts.between(lastDataAt - 2 * window, lastDataAt - window);
  const scale = (n: number, of: number, all: number): number => (of === 0 ? 0 : (n / of) * all);
  for (const [name, { kind, key }] of new Map([...early.tallies, ...late.tallies])) {
    const [after, first] = [late.tallies.get(name), early.tallies.get(name)];
    if (kind === 'backend') {
      takeTime(changes, key, first, after);
      continue;
    }
    const now = scale(after?.n ?? 0, late.requests, requests.now);
    const before = scale(first?.n ?? 0, early.requests, requests.before);
    take(changes, { kind, name: key }, now, before, (after?.n ?? 0) + (first?.n ?? 0), counted);
  }
  const causes = new Map<string, { verdict: Verdict; now: number; before: number }>();
  for (const { at, verdict } of sample.unserved.last()) {
    if (verdict === null || at < lastDataAt - 2 * window) continue;
    const name = `${verdict.cause} ${verdict.detail}`;
    const cause = causes.get(name) ?? { verdict, now: 0, before: 0 };
    causes.set(name, cause);
    cause[at >= lastDataAt - window ? 'now' : 'before']++;
  }
  for (const [name, { verdict, now: n, before: m }] of causes)
    take(
      changes,
      { kind: 'cause', name, verdict },
      scale(n, late.requests, requests.now),
      scale(m, early.requests, requests.before),
      n + m,
      counted,
    );
}

function takeTime(changes: Change[], name: string, first: Tally | undefined, after: Tally | undefined): void {
  if (first === undefined || after === undefined) return;
  if (first.timed < FEW_TIMES || after.timed < FEW_TIMES) return;
  const [before, now] = [first.seconds / first.timed, after.seconds / after.timed];
  const ratio = Math.max(now, 1e-6) / Math.max(before, 1e-6);
  const factor = Math.max(ratio, 1 / ratio);
  if (factor >= TIME_FACTOR) changes.push({ kind: 'time', name, before, now, factor });
}

/** `seen`: observations behind both counts. */
function take(
  changes: Change[],
  what: Pick<Change, 'kind' | 'name' | 'asked' | 'verdict'>,
  now: number,
  before: number,
  seen: number,
  { seconds, secondsBefore }: Movement,
): void {
  if (seen < FEW) return;
  // Scaled to equal durations.
  const same = (before * seconds) / secondsBefore;
  if ((Math.abs(now - same) / (now + same)) * seen < CHANCE * Math.sqrt(seen)) return;
  const ratio = (now + SMOOTH) / (same + SMOOTH);
  const factor = Math.max(ratio, 1 / ratio);
  if (factor < FACTOR) return;
  changes.push({ ...what, before: before / secondsBefore, now: now / seconds, factor });
}
