// Counts session ends by their reason.

import { CLOSE_REASONS, type CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { MainCounters } from '../stats/counters.ts';

const IS_ERROR = new Map<string, boolean>(CLOSE_REASONS.map((row) => [row.name, row.error]));

type CloseCounter = Extract<keyof MainCounters, `sc_${string}`>;

/** Ends of a session that waits for a request: nothing is left to close in an orderly way, and Varnish does not count
 * them as closed. */
const ENDS_WAITING: ReadonlySet<CloseReason> = new Set(['RX_TIMEOUT', 'RX_CLOSE_IDLE', 'RX_OVERFLOW']);

/** @param inPreamble the session ends before its first request could begin */
export function countClose(stats: MainCounters, reason: CloseReason, inPreamble: boolean): void {
  const field = `sc_${reason.toLowerCase()}` as CloseCounter;
  stats[field]++;
  if (IS_ERROR.get(reason) === true) stats.sess_closed_err++;
  if (reason !== 'REM_CLOSE' && !inPreamble && !ENDS_WAITING.has(reason)) stats.sess_closed++;
}
