// Derives what happened to Varnish's child process from two counter samples; Varnish sends no events.

import type { EventWord } from '../client/source.ts';

/** Counters of unexpected exits of the child. */
const DEATHS: readonly [string, string][] = [
  ['MGT.child_panic', 'panic'],
  ['MGT.child_died', 'by a signal'],
  ['MGT.child_stop', 'with an error'],
];

export class WorkerWatch {
  private before: ReadonlyMap<string, bigint> | null = null;

  forget(): void {
    this.before = null;
  }

  changes(now: ReadonlyMap<string, bigint>): [EventWord, string][] {
    const { before } = this;
    this.before = now;
    if (before === null) return [];
    const grew = (name: string): boolean => (now.get(name) ?? 0n) > (before.get(name) ?? 0n);
    const out: [EventWord, string][] = [];
    const death = DEATHS.find(([name]) => grew(name));
    if (death !== undefined) out.push(['died', death[1]]);
    else if (before.has('MAIN.uptime') && !now.has('MAIN.uptime')) out.push(['stopped', '']);
    if (grew('MGT.child_start')) out.push(['started', '']);
    return out;
  }
}
