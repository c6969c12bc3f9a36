// A receipt of the fleet in words: for headers and log records, for the reason of a 504, and for the reply to a command.

import type { FleetReceipt } from './invalidation.ts';

/** "stored 4711, applied by 2 of 3 nodes, not yet by c" */
export function fleetReply({ state, seq, applied, nodes, behind, detail }: FleetReceipt): string {
  if (state === 'lost') return `not stored: ${detail}`;
  if (state === 'unknown') return `perhaps stored: ${detail}`;
  const missing = behind.length === 0 ? '' : `, not yet by ${behind.join(' ')}`;
  return `stored ${seq}, applied by ${applied} of ${nodes} ${nodes === 1 ? 'node' : 'nodes'}${missing}`;
}

/** What is certain without an acknowledgement. */
export function fleetFailure({ state }: FleetReceipt): string {
  return state === 'lost'
    ? 'Applied here, not stored for the fleet'
    : 'Applied here, perhaps stored for the fleet';
}
