// Columns that the log's list has when they are chosen: of the client's request its host, client and agent, and the backend
// that it was fetched from. They stand between method and URL; on a screen without room they are narrower, other columns give
// way for them, and in the end the last ones.

import type { LogEntry } from '../../model/log-entry.ts';
import { readTraffic } from '../../model/traffic-facts.ts';

export const LOG_COLUMNS = [
  { name: 'host', title: 'HOST', cells: 20 },
  { name: 'client', title: 'CLIENT', cells: 16 },
  { name: 'backend', title: 'BACKEND', cells: 16 },
  { name: 'agent', title: 'USER AGENT', cells: 24 },
] as const;

export type LogColumn = (typeof LOG_COLUMNS)[number]['name'];

/** Cells that a chosen column has at the least, and that are left to the URL, whatever is chosen. */
const LEAST = 10;
const LEAST_URL = 12;

/** Cells of the columns in a row; those with 0 are not there. */
export interface LogWidths {
  method: number;
  more: readonly { name: LogColumn; title: string; cells: number }[];
  url: number;
  body: number;
  took: number;
  vxid: number;
}

/** Of the mark, the time, the handling and the status, and the blank behind the URL. */
const BEFORE = 29;
const METHOD = 8;
const BODY = 9;
const TOOK = 9;
const VXID = 11;

/** For what was chosen the size of the body gives way on a narrow screen, and then the method. */
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

/** As many of the chosen ones as have their least room, in the order of the table; what is left is the URL's. */
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

/** What stands in the columns of a group; '' where the log says nothing of it. */
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
