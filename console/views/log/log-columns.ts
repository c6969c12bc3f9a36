// Columns that the log's list has when they are chosen: of the client's request its host, client and agent, and the backend
// that it was fetched from. They stand between method and URL; on a screen without room for all the last ones give way.

import type { LogEntry } from '../../model/log-entry.ts';
import { readTraffic } from '../../model/traffic-facts.ts';

export const LOG_COLUMNS = [
  { name: 'host', title: 'HOST', cells: 20 },
  { name: 'client', title: 'CLIENT', cells: 16 },
  { name: 'backend', title: 'BACKEND', cells: 16 },
  { name: 'agent', title: 'USER AGENT', cells: 24 },
] as const;

export type LogColumn = (typeof LOG_COLUMNS)[number]['name'];

/** Cells that are left to the URL, whatever is chosen. */
const LEAST_URL = 16;

/** Those of the chosen ones that fit into a row beside a URL of so many cells, in the order of the table. */
export function fittingColumns(
  chosen: ReadonlySet<LogColumn>,
  url: number,
): { columns: readonly (typeof LOG_COLUMNS)[number][]; url: number } {
  const columns: (typeof LOG_COLUMNS)[number][] = [];
  let room = url;
  for (const column of LOG_COLUMNS) {
    if (!chosen.has(column.name) || room - column.cells < LEAST_URL) continue;
    columns.push(column);
    room -= column.cells;
  }
  return { columns, url: room };
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
