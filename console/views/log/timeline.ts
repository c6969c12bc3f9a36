// Where the time of a request went: the steps between timestamps of a transaction and its backend request, on one
// scale. Pure; the screen draws a bar per step. A fragment is one bar: with esi_parallel several run at once, and
// their steps would hide the page's.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { type Fragment, fragmentsOf, handlingName, idsBelow } from './why/fragments.ts';
import { Facts } from './why/request-facts.ts';

export interface TimelineStep {
  label: string;
  side: 'client' | 'backend' | 'fragment';
  /** Include depth of a fragment; 0 for the page. */
  depth: number;
  /** Seconds since the start of the group. */
  from: number;
  to: number;
}

/** The work that ends at a timestamp. */
const WORDS: Readonly<Record<string, string>> = {
  'client Req': 'request read',
  'client ReqBody': 'request body',
  'client Waitinglist': 'waited for another fetch',
  'client Fetch': 'waited for the backend',
  'client Process': 'processing',
  'client Resp': 'sent to the client',
  'client PipeSess': 'piped',
  'client Restart': 'until the restart',
  'client Reset': 'until the reset',
  'backend Fetch': 'program (backend_fetch)',
  'backend Connected': 'connection',
  'backend Bereq': 'request sent',
  'backend Beresp': 'waited for the first byte',
  'backend Process': 'program (backend_response)',
  'backend BerespBody': 'body fetched',
  'backend Retry': 'until the retry',
  'backend Error': 'until the failure',
};

/** A fetch that failed before its request was sent has the time of an answer, too. */
const NOT_SENT = 'no connection, not sent';

/** Maximum bars of fragments, longest first: a page may have hundreds. */
const MOST_FRAGMENTS = 24;

export function timeline(group: readonly LogTransaction[]): {
  steps: TimelineStep[];
  total: number;
  /** Number of fragments without a bar. */
  hidden: number;
} {
  const steps: TimelineStep[] = [];
  let start = Number.POSITIVE_INFINITY;
  const raw: TimelineStep[] = [];
  const fragments = fragmentsOf(group);
  const theirs = idsBelow(group);
  for (const tx of group) {
    if ((tx.type !== 'request' && tx.type !== 'bereq') || theirs.has(tx.vxid)) continue;
    const facts = new Facts(tx);
    const side = tx.type === 'request' ? 'client' : 'backend';
    let former = facts.at;
    if (former === 0) continue;
    start = Math.min(start, former);
    for (const [event, { at }] of facts.times) {
      if (event === 'Start') continue;
      const unsent = side === 'backend' && event === 'Beresp' && !facts.times.has('Bereq');
      const label = unsent ? NOT_SENT : (WORDS[`${side} ${event}`] ?? event);
      raw.push({ label, side, from: former, to: at, depth: 0 });
      former = at;
    }
  }
  const drawn = fragments.toSorted((a, b) => b.to - b.from - (a.to - a.from)).slice(0, MOST_FRAGMENTS);
  for (const f of drawn) {
    if (f.from === 0) continue;
    start = Math.min(start, f.from);
    const handling = f.handling === '' ? '' : ` (${handlingName(f.handling)})`;
    raw.push({ label: `${f.url}${handling}`, side: 'fragment', depth: depthOf(f), from: f.from, to: f.to });
  }
  for (const step of raw) {
    // Steps that took no time are skipped.
    if (step.to - step.from < 1e-6) continue;
    steps.push({ ...step, from: step.from - start, to: step.to - start });
  }
  steps.sort((a, b) => a.from - b.from || a.depth - b.depth || a.to - b.to);
  const total = Math.max(0, ...steps.map((s) => s.to));
  return { steps, total, hidden: fragments.length - drawn.length };
}

function depthOf(fragment: Fragment): number {
  return fragment.within === null ? 1 : 1 + depthOf(fragment.within);
}

/** A bar in `width` cells: blanks, marks, blanks. At least one mark. */
export function timelineBar(
  step: TimelineStep,
  total: number,
  width: number,
): { lead: number; length: number } {
  if (total <= 0 || width <= 0) return { lead: 0, length: Math.max(0, width) };
  const lead = Math.min(width - 1, Math.floor((step.from / total) * width));
  const length = Math.max(1, Math.min(width - lead, Math.round(((step.to - step.from) / total) * width)));
  return { lead, length };
}
