// Where the time of a request went: the steps between the timestamps of a transaction and of its backend request, on
// one scale. Pure; the screen draws each step as a bar.

import type { LogTransaction } from '../../../protocol/messages.ts';
import { Facts } from './why/request-facts.ts';

export interface TimelineStep {
  label: string;
  side: 'client' | 'backend';
  /** Seconds since the group began. */
  from: number;
  to: number;
}

/** What a step that ends at a timestamp was spent on. */
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

export function timeline(group: readonly LogTransaction[]): { steps: TimelineStep[]; total: number } {
  const steps: TimelineStep[] = [];
  let start = Number.POSITIVE_INFINITY;
  const raw: (TimelineStep & { base: number })[] = [];
  for (const tx of group) {
    if (tx.type !== 'request' && tx.type !== 'bereq') continue;
    const facts = new Facts(tx);
    const side = tx.type === 'request' ? 'client' : 'backend';
    let former = facts.at;
    if (former === 0) continue;
    start = Math.min(start, former);
    for (const [event, { at }] of facts.times) {
      if (event === 'Start') continue;
      raw.push({ label: WORDS[`${side} ${event}`] ?? event, side, from: former, to: at, base: 0 });
      former = at;
    }
  }
  for (const step of raw) {
    // A step that took no time says nothing.
    if (step.to - step.from < 1e-6) continue;
    steps.push({ label: step.label, side: step.side, from: step.from - start, to: step.to - start });
  }
  steps.sort((a, b) => a.from - b.from || a.to - b.to);
  return { steps, total: Math.max(0, ...steps.map((s) => s.to)) };
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
