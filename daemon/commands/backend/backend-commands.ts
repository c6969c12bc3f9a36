// backend.list and backend.set_health, over backends and over the directors that programs make, in Varnish's text
// and JSON. A pattern without a program means the active one.

import { fnmatch } from '../../../queries/fnmatch.ts';
import type { AdminHealth, DirectorListing } from '../../contract/context.ts';
import { httpDate } from '../../http1/date.ts';
import { bad, jsonReply, ok } from '../reply.ts';
import type { WorkerHandler, WorkerHandlers, WorkerServices } from '../worker-services.ts';

const HEAD = ['Backend name', 'Admin', 'Probe', 'Health', 'Last change'] as const;

/** A line of the text reply: cells in columns, or text as it is. */
type Line = readonly string[] | string;

const list: WorkerHandler = (worker, call) => {
  const details = call.options.includes('p');
  const found = matching(worker, call.args[0]);
  const now = worker.clock.now();
  if (call.json) return jsonReply(call, `\n  ${jsonEntries(found, details, now)}`, 3);
  const lines: Line[] = [HEAD];
  for (const [name, row] of found) {
    const { good, total } = row.counts(now) ?? NONE;
    lines.push([
      name,
      adminWord(row, now),
      `${good}/${total}`,
      healthWord(row, now),
      httpDate(row.changedAt),
    ]);
    if (!details) continue;
    for (const line of row.text(now).split('\n').slice(0, -1)) {
      lines.push(line.includes('\t') ? line.split('\t') : line);
    }
  }
  return ok(layOut(lines));
};

const setHealth: WorkerHandler = (worker, { args: [pattern = '', state = ''] }) => {
  const health = state.toLowerCase() as AdminHealth;
  const found = matching(worker, pattern);
  if (found.length === 0) return bad('No Backends matches');
  const now = worker.clock.now();
  for (const [, row] of found) {
    if (row.admin === health) continue;
    row.admin = health;
    row.changedAt = now;
  }
  return ok();
};

export const BACKEND_COMMANDS = {
  'backend.list': list,
  'backend.set_health': setHealth,
} satisfies Partial<WorkerHandlers>;

const NONE = { good: 0, total: 0 };

function matching(
  worker: WorkerServices,
  pattern: string | undefined,
): [name: string, row: DirectorListing][] {
  const full = fullPattern(worker.active?.name ?? '', pattern);
  const found: [string, DirectorListing][] = [];
  for (const [name, { listed }] of worker.programs.directors()) {
    if (listed !== null && fnmatch(full, name, false, false, false)) found.push([name, listed]);
  }
  return found;
}

function fullPattern(active: string, pattern: string | undefined): string {
  if (pattern === undefined || pattern === '') return `${active}.*`;
  if (pattern === '*') return '*.*';
  return pattern.includes('.') ? pattern : `${active}.${pattern}`;
}

function adminWord(row: DirectorListing, now: number): string {
  if (row.admin !== 'auto') return row.admin;
  return row.counts(now) === null ? healthWord(row, now) : 'probe';
}

function healthWord(row: DirectorListing, now: number): string {
  return row.measured(now) ? 'healthy' : 'sick';
}

function jsonEntries(found: [string, DirectorListing][], details: boolean, now: number): string {
  const rows = found.map(([name, row]) => {
    const { good, total } = row.counts(now) ?? NONE;
    const more = details ? row.json(now) : null;
    const fields = [
      `"type": ${JSON.stringify(row.type)}`,
      `"admin_health": "${adminWord(row, now)}"`,
      `"probe_message": [${good}, ${total}, "${healthWord(row, now)}"]`,
      ...(more === null ? [] : [`"probe_details": ${more}`]),
      `"last_change": ${row.changedAt.toFixed(3)}`,
    ];
    return `${JSON.stringify(name)}: {\n      ${fields.join(',\n      ')}\n    }`;
  });
  return rows.length === 0 ? '{\n  \n  }' : `{\n    ${rows.join(',\n    ')}\n  }`;
}

/** Columns padded to their widest cell, then three blanks after the first and four after the others. */
function layOut(lines: readonly Line[]): string {
  const widths = HEAD.map(() => 0);
  for (const line of lines) {
    if (typeof line === 'string') continue;
    line.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  }
  const text = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd((widths[i] ?? 0) + (i === 0 ? 3 : 4))))
      .join('');
  return lines.map((line) => `${typeof line === 'string' ? line : text(line)}\n`).join('');
}
