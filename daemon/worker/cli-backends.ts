// backend.list and backend.set_health.

import type { AdminHealth, Backend } from '../backend/backend.ts';
import { httpDate } from '../http1/date.ts';
import { fnmatch } from '../vcl/runtime/fnmatch.ts';
import { jsonReply } from './cli-json.ts';
import type { Reply, Worker } from './worker.ts';

const HEAD = ['Backend name', 'Admin', 'Probe', 'Health', 'Last change'] as const;

export function listBackends(worker: Worker, args: string[], json: boolean, argv: string[]): Reply {
  const details = args[0] === '-p';
  const rest = details ? args.slice(1) : args;
  if (rest.length > 1) return { status: 106, body: 'Too many arguments' };
  const backends = matching(worker, rest[0]);
  const now = worker.clock.now();
  if (json) {
    const rows = backends.map((b) => {
      const health = b.healthy(now) ? 'healthy' : 'sick';
      const probe = `[0, 0, ${JSON.stringify(b.probed ? 'healthy' : 'sick')}]`;
      const lines = [
        '"type": "backend"',
        `"admin_health": ${JSON.stringify(b.admin === 'auto' ? health : b.admin)}`,
        `"probe_message": ${probe}`,
        ...(details ? ['"probe_details": {}'] : []),
        `"last_change": ${b.changedAt.toFixed(3)}`,
      ];
      return `${JSON.stringify(b.displayName)}: {\n      ${lines.join(',\n      ')}\n    }`;
    });
    return jsonReply(3, argv, worker, `{\n    ${rows.join(',\n    ')}\n  }`);
  }
  const rows = backends.map((b) => [
    b.displayName,
    b.admin === 'auto' ? (b.healthy(now) ? 'healthy' : 'sick') : b.admin,
    '0/0',
    b.probed ? 'healthy' : 'sick',
    httpDate(b.changedAt),
  ]);
  return { status: 200, body: table([[...HEAD], ...rows]) };
}

export function setHealth(worker: Worker, args: string[]): Reply {
  const [pattern = '', state = ''] = args;
  const health = healthOf(state);
  if (health === null) return { status: 106, body: `Invalid state ${state}` };
  const backends = matching(worker, pattern);
  if (backends.length === 0) return { status: 106, body: 'No Backends matches' };
  const now = worker.clock.now();
  for (const backend of backends) backend.setAdmin(health, now);
  return { status: 200, body: '' };
}

function healthOf(text: string): AdminHealth | null {
  const lower = text.toLowerCase();
  return lower === 'auto' || lower === 'healthy' || lower === 'sick' ? lower : null;
}

/** Backends whose name matches; a pattern without a program means the active one. */
function matching(worker: Worker, pattern: string | undefined): Backend[] {
  const active = worker.programs.active?.name ?? '';
  const full = pattern === undefined ? '*.*' : pattern.includes('.') ? pattern : `${active}.${pattern}`;
  return [...worker.programs.backends()].filter(
    (b) => b.decl.none !== true && fnmatch(full, b.displayName, false, false, false),
  );
}

/** Columns padded to their widest cell, then three blanks behind the first and four behind the others. */
function table(rows: string[][]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  const last = HEAD.length - 1;
  const line = (row: string[]): string =>
    row
      .map((cell, i) => (i === last ? cell : cell.padEnd((widths[i] as number) + (i === 0 ? 3 : 4))))
      .join('');
  return rows.map((row) => `${line(row)}\n`).join('');
}
