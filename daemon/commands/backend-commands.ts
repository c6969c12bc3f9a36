// backend.list and backend.set_health, for backends and for directors created by programs, in Varnish's text and JSON
// formats. A pattern without a program name applies to the active one. There may be many thousands: lists are generated
// over several turns, and show the backends that existed at the start.

import { fnmatch } from '../../queries/fnmatch.ts';
import type { AdminHealth, DirectorListing } from '../contract/context.ts';
import { httpDate } from '../http1/date.ts';
import { turns } from '../turns/turns.ts';
import { bad, gathered, jsonReply, ok } from './reply.ts';
import type { WorkerHandler, WorkerHandlers, WorkerServices } from './worker-services.ts';

const HEAD = ['Backend name', 'Admin', 'Probe', 'Health', 'Last change'] as const;

/** A line of the text reply: cells of columns, or plain text. */
type Line = readonly string[] | string;

type Found = readonly [name: string, row: DirectorListing];

const list: WorkerHandler = async (worker, call) => {
  const details = call.options.includes('p');
  const found = await matching(worker, call.args[0]);
  const now = worker.clock.now();
  const { plainLists } = worker.changes;
  if (call.json) {
    const entries = jsonEntries(found, details, plainLists, now);
    return jsonReply(call, `\n  ${await gathered(entries, '', call.most)}`, 3);
  }
  const lines: Line[] = [];
  const widths = HEAD.map(() => 0);
  await turns.over(tableLines(found, details, now), (line) => {
    lines.push(line);
    if (typeof line === 'string') return;
    line.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 0, cell.length);
    });
  });
  return ok(await gathered(layOut(lines, widths, plainLists ? 3 : 4), '', call.most));
};

const setHealth: WorkerHandler = async (worker, { args: [pattern = '', state = ''] }) => {
  const health = state.toLowerCase() as AdminHealth;
  const found = await matching(worker, pattern);
  if (found.length === 0) return bad('No Backends matches');
  const now = worker.clock.now();
  // In one turn, so that no concurrent command interleaves.
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

async function matching(worker: WorkerServices, pattern: string | undefined): Promise<Found[]> {
  const full = fullPattern(worker.active?.name ?? '', pattern);
  const found: Found[] = [];
  await turns.over(worker.programs.directors(), ([name, { listed }]) => {
    if (listed !== null && fnmatch(full, name, false, false, false)) found.push([name, listed]);
  });
  return found;
}

function fullPattern(active: string, pattern: string | undefined): string {
  if (pattern === undefined || pattern === '') return `${active}.*`;
  if (pattern === '*') return '*.*';
  return pattern.includes('.') ? pattern : `${active}.${pattern}`;
}

/** The columns Admin, Probe and Health, computed once because a director counts its members. */
function health(
  row: DirectorListing,
  now: number,
): { admin: string; good: number; total: number; word: string } {
  const counts = row.counts(now);
  const word = row.measured(now) ? 'healthy' : 'sick';
  const auto = counts === null ? word : 'probe';
  return { ...(counts ?? NONE), admin: row.admin === 'auto' ? auto : row.admin, word };
}

function* tableLines(found: readonly Found[], details: boolean, now: number): Generator<Line> {
  yield HEAD;
  for (const [name, row] of found) {
    const { admin, good, total, word } = health(row, now);
    yield [name, admin, `${good}/${total}`, word, httpDate(row.changedAt)];
    if (!details) continue;
    for (const line of row.text(now)) yield line.includes('\t') ? line.split('\t') : line;
  }
}

/** @param located the addresses of backends are among the details */
function* jsonEntries(
  found: readonly Found[],
  details: boolean,
  located: boolean,
  now: number,
): Generator<string> {
  yield found.length === 0 ? '{\n  ' : '{\n    ';
  let before = '';
  for (const [name, row] of found) {
    const { admin, good, total, word } = health(row, now);
    const fields = [
      `"type": ${JSON.stringify(row.type)}`,
      `"admin_health": "${admin}"`,
      `"probe_message": [${good}, ${total}, "${word}"]`,
    ];
    yield `${before}${JSON.stringify(name)}: {\n      ${fields.join(',\n      ')}`;
    before = ',\n    ';
    const more = details ? row.json(now) : null;
    if (more !== null) {
      yield ',\n      "probe_details": ';
      yield* more;
    }
    if (details && located) {
      for (const [family, address] of Object.entries(row.addresses?.() ?? {}))
        yield `,\n      "${family}": ${JSON.stringify(address)}`;
    }
    yield `,\n      "last_change": ${row.changedAt.toFixed(3)}\n    }`;
  }
  yield '\n  }';
}

/** Pads columns to their widest cell, plus three spaces after the first and `gap` after the others. */
function* layOut(lines: readonly Line[], widths: readonly number[], gap: number): Generator<string> {
  for (const line of lines) {
    if (typeof line === 'string') {
      yield `${line}\n`;
      continue;
    }
    const cells = line.map((cell, i) =>
      i === line.length - 1 ? cell : cell.padEnd((widths[i] ?? 0) + (i === 0 ? 3 : gap)),
    );
    yield `${cells.join('')}\n`;
  }
}
