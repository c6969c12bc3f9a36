// The last invalidations that this node has heard of, for the command fleet.log: those of others, its own, and those of its
// own that nobody stored. In memory, and of one manager.

import type { Invalidation } from '../contract/invalidation.ts';
import type { LoggedInvalidation } from './fleet-rows.ts';

/** As many as are kept. */
const MOST_HEARD = 256;
/** Characters of a subject or a problem. */
const LONGEST = 500;

export class FleetLog {
  private readonly entries: LoggedInvalidation[] = [];

  /** @param event or why it is none
   * @param at milliseconds since 1970 */
  add(seq: number, at: number, from: string, event: Invalidation | string): void {
    const base = { seq, at: at / 1000, from };
    if (typeof event === 'string') {
      this.push({ ...base, by: '', kind: null, soft: false, subject: '', state: 'refused', problem: event });
    } else this.push({ ...base, ...shown(event), state: 'applied', problem: null });
  }

  /** Its own, of which nobody knows that it is stored. */
  unconfirmed(from: string, event: Invalidation, state: 'lost' | 'unknown', problem: string): void {
    this.push({ seq: null, at: Date.now() / 1000, from, ...shown(event), state, problem });
  }

  /** The worker would not take it. */
  refused(seq: number, problem: string): void {
    const at = this.entries.findLastIndex((entry) => entry.seq === seq);
    const entry = this.entries[at];
    if (entry !== undefined) this.entries[at] = { ...entry, state: 'refused', problem: cut(problem) };
  }

  /** The oldest first. */
  last(count: number): readonly LoggedInvalidation[] {
    return this.entries.slice(-count);
  }

  private push(entry: LoggedInvalidation): void {
    this.entries.push(entry);
    if (this.entries.length > MOST_HEARD) this.entries.shift();
  }
}

function shown({
  kind,
  soft,
  subject,
  origin,
}: Invalidation): Pick<LoggedInvalidation, 'by' | 'kind' | 'soft' | 'subject'> {
  return { by: origin, kind: kind === 'tags' ? 'keys' : kind, soft, subject: cut(subject) };
}

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
