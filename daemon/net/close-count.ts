// Counts session ends by their reason.

import { CLOSE_REASONS, type CloseReason } from '../../protocol/tables/close-reasons.ts';
import type { MainCounters } from '../stats/counters.ts';

const IS_ERROR = new Map<string, boolean>(CLOSE_REASONS.map((row) => [row.name, row.error]));

type CloseCounter = Extract<keyof MainCounters, `sc_${string}`>;

export function countClose(stats: MainCounters, reason: CloseReason): void {
  const field = `sc_${reason.toLowerCase()}` as CloseCounter;
  stats[field]++;
  if (IS_ERROR.get(reason) === true) stats.sess_closed_err++;
  if (reason !== 'REM_CLOSE') stats.sess_closed++;
}
