// The counters and URLs whose rates changed most between a window of time and the window before it, ranked by the
// factor of the change; changes within chance are left out.

import type { Movement } from '../counters/counter-trail.ts';
import { requestsOf } from '../counters/rate-history.ts';
import { earliest } from '../traffic/rankings.ts';
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

export interface Change {
  kind: 'counter' | 'url';
  name: string;
  /** Of a URL. */
  asked?: AskedUrl;
  /** Per second. */
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
  changes.sort((a, b) => b.factor - a.factor || (a.name < b.name ? -1 : 1));
  return {
    changes: changes.slice(0, MOST),
    counters: counted.seconds > 0,
    urls: covered,
  };
}

/** `seen`: observations behind both counts. */
function take(
  changes: Change[],
  what: Pick<Change, 'kind' | 'name' | 'asked'>,
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
