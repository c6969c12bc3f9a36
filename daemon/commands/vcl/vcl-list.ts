// The replies of vcl.list and vcl.deps: columns for readers, JSON for programs.

import type { ProgramState, ProgramStatus } from '../../link.ts';

/** One line of vcl.list. */
export interface ProgramInfo {
  name: string;
  status: 'active' | 'available' | 'discarded';
  state: ProgramState | 'label';
  temperature: ProgramStatus['temperature'];
  /** Transactions that run it; null while no worker runs. */
  busy: number | null;
  /** Labels that point to it. */
  labels: number;
  target: string | null;
  /** Of a label: programs that switch to it. */
  users: number;
}

/** A program and the programs that it needs. */
export interface Dependencies {
  name: string;
  deps: readonly string[];
}

const LINE_WIDTH = 80;

/** The columns of vcl.list; a label's arrow and a program's count of labels come last. */
export function formatList(list: readonly ProgramInfo[]): string {
  const rows = list.map((p) => [
    p.status,
    p.state,
    p.temperature,
    (p.busy === null ? '-' : String(p.busy)).padStart(6),
    p.name,
    ...(p.target !== null
      ? ['->', p.target + switches(p.users)]
      : p.labels > 0
        ? ['<-', `(${p.labels} label${p.labels > 1 ? 's' : ''})`]
        : []),
  ]);
  const width = (column: number): number => Math.max(...rows.map((r) => r[column]?.length ?? 0));
  const columns = Math.max(0, ...rows.map((r) => r.length));
  let total = 0;
  for (let i = 0; i < columns; i++) total += width(i);
  // Generous gaps where a line of a terminal has room for them.
  const gap = total + 3 * (columns - 1) <= LINE_WIDTH ? 3 : 1;
  return rows
    .map((row) => {
      let line = '';
      row.forEach((cell, i) => {
        line += i === row.length - 1 ? cell : cell.padEnd(width(i) + (i === 0 ? gap : gap + 1));
      });
      return `${line}\n`;
    })
    .join('');
}

/** How many programs switch to a label. */
function switches(users: number): string {
  return users === 0 ? '' : ` (${users} return(vcl)${users > 1 ? "'s" : ''})`;
}

export function jsonProgram(p: ProgramInfo): string {
  const members = [`"status": "${p.status}"`, `"state": "${p.state}"`, `"temperature": "${p.temperature}"`];
  if (p.busy !== null) members.push(`"busy": ${p.busy}`);
  members.push(`"name": ${JSON.stringify(p.name)}`);
  if (p.labels > 0) members.push(`"labels": ${p.labels}`);
  if (p.target !== null) {
    const refs = p.users === 0 ? '' : `,\n"refs": ${p.users}`;
    // As in Varnish, which lays it out in two ways: one while the worker runs and one while it does not.
    const end = p.busy === null ? '    }' : '      }';
    members.push(`"label": {\n      "name": ${JSON.stringify(p.target)}${refs}\n${end}`);
  }
  // Not in Varnish, and after all that is: both in one word, as its releases before 7 print them.
  members.push(`"state_temperature": "${p.state}/${p.temperature}"`);
  return `\n  {\n    ${members.join(',\n    ')}\n}`;
}

/** One line a dependency; the columns are as far apart as those of vcl.list. */
export function formatDeps(deps: readonly Dependencies[]): string {
  const left = Math.max(0, ...deps.map((d) => d.name.length));
  const right = Math.max(0, ...deps.flatMap((d) => d.deps.map((n) => n.length)));
  const width = left + (left + right + 3 <= LINE_WIDTH ? 3 : 1);
  return deps
    .flatMap((d) =>
      d.deps.length === 0 ? [`${d.name}\n`] : d.deps.map((n) => `${d.name.padEnd(width)}${n}\n`),
    )
    .join('');
}

export function jsonDependency(d: Dependencies): string {
  return `\n  {\n    "name": ${JSON.stringify(d.name)},\n    "deps": [${
    d.deps.length === 0 ? '' : `\n      ${d.deps.map((n) => JSON.stringify(n)).join(',\n      ')}\n    `
  }]\n  }`;
}
