// Optional columns of the log list: the client request's host, client and agent, and the backend fetched from. They
// are between method and URL; on a narrow screen they shrink, then other columns go, then the last of them.

import type { LogEntry } from '../../model/log/log-entry.ts';
import { readTraffic } from '../../model/traffic/traffic-facts.ts';

export const LOG_COLUMNS = [
  { name: 'host', title: 'HOST', cells: 20 },
  { name: 'client', title: 'CLIENT', cells: 16 },
  { name: 'backend', title: 'BACKEND', cells: 16 },
  { name: 'agent', title: 'USER AGENT', cells: 24 },
] as const;

export type LogColumn = (typeof LOG_COLUMNS)[number]['name'];

/** Minimum width of an optional column, and of the URL. */
const LEAST = 10;
const LEAST_URL = 12;

/** Column widths; 0 for absent ones. */
export interface LogWidths {
  method: number;
  more: readonly { name: LogColumn; title: string; cells: number }[];
  url: number;
  body: number;
  took: number;
  vxid: number;
}

/** Width of the mark, time, handling, status, and the blank after the URL. */
const BEFORE = 29;
const METHOD = 8;
const BODY = 9;
const TOOK = 9;
const VXID = 11;

/** For the optional columns, a narrow screen drops the body size and then the method. */
export function logWidths(chosen: ReadonlySet<LogColumn>, width: number): LogWidths {
  const vxid = width >= 92 ? VXID : 0;
  const full = width >= 72 ? BODY : 0;
  let best: LogWidths | null = null;
  for (const [method, body] of [
    [METHOD, full],
    [METHOD, 0],
    [0, 0],
  ] as const) {
    const room = Math.max(8, width - BEFORE - method - body - TOOK - vxid);
    const one = { method, ...fittingColumns(chosen, room), body, took: TOOK, vxid };
    if (best === null || one.more.length > best.more.length) best = one;
    if (best.more.length === chosen.size) break;
  }
  return best as LogWidths;
}

/** As many of them as fit at minimum width, in table order; the rest is the URL's. */
function fittingColumns(chosen: ReadonlySet<LogColumn>, room: number): Pick<LogWidths, 'more' | 'url'> {
  const fitting = LOG_COLUMNS.filter(({ name }) => chosen.has(name)).slice(
    0,
    Math.max(0, Math.floor((room - LEAST_URL) / LEAST)),
  );
  let left = room - LEAST_URL - fitting.length * LEAST;
  const more = fitting.map(({ name, title, cells }) => {
    const extra = Math.min(cells - LEAST, left);
    left -= extra;
    return { name, title, cells: LEAST + extra };
  });
  return { more, url: room - more.reduce((sum, { cells }) => sum + cells, 0) };
}

/** Column texts of a group; '' if the log has none. */
export function columnTexts(entry: LogEntry): Readonly<Record<LogColumn, string>> {
  const facts = readTraffic(entry.transactions);
  const request = facts.find(({ kind }) => kind === 'request');
  const backend = facts.find((one) => one.kind === 'fetch' && one.backend !== '')?.backend ?? '';
  return {
    host: request?.host ?? '',
    client: request?.client ?? '',
    backend,
    agent: request?.agent ?? '',
  };
}
