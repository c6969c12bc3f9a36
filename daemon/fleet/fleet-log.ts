// Recent invalidations for the command fleet.log: those of other nodes, and our own, including those that were not
// stored. In memory of the manager.

import type { Invalidation } from '../contract/invalidation.ts';
import type { LoggedInvalidation } from './fleet-rows.ts';

/** Entries kept. */
const MAX_ENTRIES = 256;
/** Characters of a subject or a problem. */
const MAX_LENGTH = 500;

export class FleetLog {
  private readonly entries: LoggedInvalidation[] = [];

  /** @param event the event, or why the message is invalid
   * @param at milliseconds since 1970 */
  add(seq: number, at: number, from: string, event: Invalidation | string): void {
    const base = { seq, at: at / 1000, from };
    if (typeof event === 'string') {
      this.push({ ...base, by: '', kind: null, soft: false, subject: '', state: 'refused', problem: event });
    } else this.push({ ...base, ...shown(event), state: 'applied', problem: null });
  }

  /** Adds an invalidation of this node that is not known to be stored. */
  unconfirmed(from: string, event: Invalidation, state: 'lost' | 'unknown', problem: string): void {
    this.push({ seq: null, at: Date.now() / 1000, from, ...shown(event), state, problem });
  }

  /** The worker refused it. */
  refused(seq: number, problem: string): void {
    const at = this.entries.findLastIndex((entry) => entry.seq === seq);
    const entry = this.entries[at];
    if (entry !== undefined) this.entries[at] = { ...entry, state: 'refused', problem: cut(problem) };
  }

  /** Oldest first. */
  last(count: number): readonly LoggedInvalidation[] {
    return this.entries.slice(-count);
  }

  private push(entry: LoggedInvalidation): void {
    this.entries.push(entry);
    if (this.entries.length > MAX_ENTRIES) this.entries.shift();
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
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
