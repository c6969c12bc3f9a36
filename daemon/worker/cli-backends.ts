// backend.list and backend.set_health, over backends and over the directors that programs make, in Varnish's text
// and JSON. A pattern without a program means the active one.

import { fnmatch } from '../../queries/fnmatch.ts';
import type { AdminHealth, DirectorListing } from '../contract/context.ts';
import { httpDate } from '../http1/date.ts';
import { jsonReply } from './cli-json.ts';
import type { Reply, Worker } from './worker.ts';

const HEAD = ['Backend name', 'Admin', 'Probe', 'Health', 'Last change'] as const;

/** A line of the text answer: cells in columns, or text as it is. */
type Line = readonly string[] | string;

export function listBackends(worker: Worker, args: string[], asJson: boolean, argv: string[]): Reply {
  let details = false;
  let json = asJson;
  let at = 0;
  for (; args[at]?.startsWith('-') === true; at++) {
    for (const flag of (args[at] as string).slice(1)) {
      if (flag === 'p') details = true;
      else if (flag === 'j') json = true;
      else return { status: 106, body: `Invalid flag ${flag}` };
    }
  }
  if (args.length - at > 1) return { status: 106, body: 'Too many arguments' };
  const found = matching(worker, args[at]);
  const now = worker.clock.now();
  if (json) return jsonReply(3, argv, worker, jsonEntries(found, details, now));
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
  return { status: 200, body: layOut(lines) };
}

export function setHealth(worker: Worker, args: string[]): Reply {
  const [pattern = '', state = ''] = args;
  const health = healthOf(state);
  if (health === null) return { status: 106, body: `Invalid state ${state}` };
  const found = matching(worker, pattern);
  if (found.length === 0) return { status: 106, body: 'No Backends matches' };
  const now = worker.clock.now();
  for (const [, row] of found) {
    if (row.admin === health) continue;
    row.admin = health;
    row.changedAt = now;
  }
  return { status: 200, body: '' };
}

const NONE = { good: 0, total: 0 };

function healthOf(text: string): AdminHealth | null {
  const lower = text.toLowerCase();
  return lower === 'auto' || lower === 'healthy' || lower === 'sick' ? lower : null;
}

function matching(worker: Worker, pattern: string | undefined): [name: string, row: DirectorListing][] {
  const full = fullPattern(worker.programs.active?.name ?? '', pattern);
  const found: [string, DirectorListing][] = [];
  for (const [name, { listed }] of worker.programs.directors()) {
    if (listed !== undefined && fnmatch(full, name, false, false, false)) found.push([name, listed]);
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

/** Columns padded to their widest cell, then three blanks behind the first and four behind the others. */
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
