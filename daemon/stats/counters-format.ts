// The counters file: a head, the full counter names joined by newlines, then the values as unsigned 64-bit
// little-endian words in the order of the names. The first value word is the time of writing in milliseconds since
// 1970. A changed set of names makes a new file, renamed over the old one; values are written in place, and a reader
// may see some of them one publication newer than others.

import {
  type CounterRow,
  EDGE_COUNTERS,
  FLEET_COUNTERS,
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  SMD_COUNTERS,
  THR_COUNTERS,
  TLS_CERT_COUNTERS,
  TLS_COUNTERS,
  VBE_COUNTERS,
  VCP_COUNTERS,
  WAITER_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';

export const COUNTERS_FILE = 'counters';
export const COUNTERS_MAGIC = 0x3143_4c50; // "PLC1"
/** Magic, bytes of names (padded to 8), number of names, reserved. */
export const COUNTERS_HEAD = 16;

const GROUPS = new Map<string, readonly CounterRow[]>([
  ['MGT', MGT_COUNTERS],
  ['MAIN', MAIN_COUNTERS],
  ['SMA', SMA_COUNTERS],
  ['SMD', SMD_COUNTERS],
  ['EDGE', EDGE_COUNTERS],
  ['FLEET', FLEET_COUNTERS],
  ['TLS', [...TLS_COUNTERS, ...TLS_CERT_COUNTERS]],
  ['VBE', VBE_COUNTERS],
  ['VCP', VCP_COUNTERS],
  ['WAITER', WAITER_COUNTERS],
  ['THR', THR_COUNTERS],
  ['WRK', WRK_COUNTERS],
]);
/** Rows by group and name. */
const ROWS = new Map(
  [...GROUPS].map(([group, rows]) => [group, new Map(rows.map((row) => [row.name, row] as const))] as const),
);

/** The table row of a full counter name such as VBE.boot.default.req. */
export function counterRow(fullName: string): CounterRow | undefined {
  const group = fullName.slice(0, fullName.indexOf('.'));
  return ROWS.get(group)?.get(fullName.slice(fullName.lastIndexOf('.') + 1));
}
