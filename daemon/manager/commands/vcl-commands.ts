// The vcl.* commands, with the columns and the JSON of vcl.list and vcl.deps.

import { CLI } from '../../../protocol/errors.ts';
import { bad, jsonReply, ok } from '../../commands/reply.ts';
import { comparisonText } from '../programs/comparison-text.ts';
import type { Dependencies, ProgramInfo } from '../programs/program-list.ts';
import type { ManagerHandler, ManagerHandlers } from './handler.ts';

const load: ManagerHandler = async (manager, call) => {
  const [name = '', file = '', state = 'auto'] = call.args;
  const source = manager.readProgram(file);
  const reply = await manager.programs.load(
    name,
    typeof source === 'string' ? bad(unreadable(file, source, manager.params.text('vcl_path'))) : source,
    state,
  );
  if (reply.status === CLI.OK) manager.programsChanged(`loaded ${name}`);
  return reply;
};

// The daemon does not know the operator's working directory, so that a relative name is searched in vcl_path only.
export function unreadable(file: string, why: string, path: string): string {
  const hint = /^\.{0,2}\//.test(file)
    ? ''
    : `Hint: it was looked for in ${path} (vcl_path); give the whole path of a file elsewhere, as $PWD/${file}\n`;
  return `Message from VCC-compiler:\nCannot read file '${file}' (${why})\n${hint}Running VCC-compiler failed, exited with 2\nVCL compilation failed`;
}

const inline: ManagerHandler = async (manager, call) => {
  const [name = '', text = '', state = 'auto'] = call.args;
  const reply = await manager.programs.load(name, { name: '<vcl.inline>', text }, state);
  if (reply.status === CLI.OK) manager.programsChanged(`loaded ${name}`);
  return reply;
};

const use: ManagerHandler = async (manager, call) => {
  const [name = ''] = call.args;
  const before = manager.programs.activeName();
  const reply = await manager.programs.use(name);
  if (manager.programs.activeName() !== before) manager.programsChanged(`using ${name}`);
  const replaced = manager.fleet?.programs?.replaced ?? null;
  if (replaced === null || reply.status !== CLI.OK) return reply;
  return ok(
    `${reply.body}\nFleet: on this node only, until the next fleet.use; the fleet has chosen ${replaced}\n`,
  );
};

const setState: ManagerHandler = (manager, call) =>
  manager.programs.setState(call.args[0] ?? '', call.args[1] ?? '');

const discard: ManagerHandler = async (manager, call) => {
  const reply = await manager.programs.discard(call.args);
  if (reply.status === CLI.OK) manager.programsChanged(`discarded ${call.args.join(' ')}`);
  return reply;
};

const label: ManagerHandler = async (manager, call) => {
  const [name = '', target = ''] = call.args;
  const reply = await manager.programs.label(name, target);
  if (reply.status === CLI.OK) manager.programsChanged(`${name} is a label of ${target}`);
  return reply;
};

const show: ManagerHandler = ({ programs }, { options, args: [name] }) => {
  const files = programs.files(name);
  if (files === null) return bad(name === undefined ? 'No active VCL' : `No VCL named '${name}'`);
  if (!options.includes('v')) return ok(files[0]?.text ?? '');
  return ok(
    files.map((f, i) => `// VCL.SHOW ${i} ${Buffer.byteLength(f.text)} ${f.name}\n${f.text}\n`).join(''),
  );
};

const list: ManagerHandler = async ({ programs, params }, call) => {
  const rows = await programs.list();
  return call.json
    ? jsonReply(call, rows.map(jsonProgram).join(','))
    : ok(formatList(rows, params.changes.plainLists));
};

const deps: ManagerHandler = ({ programs }, call) => {
  const rows = programs.deps();
  return call.json ? jsonReply(call, rows.map(jsonDependency).join(','), 1) : ok(formatDeps(rows));
};

const tryProgram: ManagerHandler = async (manager, call) => {
  const [name = '', file = ''] = call.args;
  const source = manager.readProgram(file);
  if (typeof source === 'string') return bad(unreadable(file, source, manager.params.text('vcl_path')));
  const compared = await manager.programs.compare(source);
  if ('status' in compared) return compared;
  const result = await manager.trials.run(compared.before, compared.after);
  if (typeof result === 'string') return bad(`Cannot try ${name}: ${result}`);
  return call.json
    ? jsonReply(call, JSON.stringify(result), 1)
    : ok(comparisonText(result, compared.active, name));
};

export const VCL_COMMANDS = {
  'vcl.deps': deps,
  'vcl.discard': discard,
  'vcl.inline': inline,
  'vcl.label': label,
  'vcl.list': list,
  'vcl.load': load,
  'vcl.show': show,
  'vcl.state': setState,
  'vcl.try': tryProgram,
  'vcl.use': use,
} satisfies Partial<ManagerHandlers>;

const LINE_WIDTH = 80;

/** The columns of vcl.list. A release other than 7.1 follows the name, as nothing does in Varnish. The target of a label, or
 * the number of a program's labels, comes last. */
function formatList(list: readonly ProgramInfo[], plain: boolean): string {
  const rows = list.map((p) => [
    p.status,
    p.state,
    p.temperature,
    (p.busy === null ? '-' : String(p.busy)).padStart(plain ? 0 : 6),
    p.name,
    ...(p.release === null || p.release === '7.1' ? [] : [`[${p.release}]`]),
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
  // Wide gaps if the table fits a terminal line.
  const gap = total + 3 * (columns - 1) <= LINE_WIDTH ? 3 : 1;
  return rows
    .map((row) => {
      let line = '';
      row.forEach((cell, i) => {
        line += i === row.length - 1 ? cell : cell.padEnd(width(i) + (i === 0 || plain ? gap : gap + 1));
      });
      return `${line}\n`;
    })
    .join('');
}

/** The number of programs that switch to a label. */
function switches(users: number): string {
  return users === 0 ? '' : ` (${users} return(vcl)${users > 1 ? "'s" : ''})`;
}

function jsonProgram(p: ProgramInfo): string {
  const members = [`"status": "${p.status}"`, `"state": "${p.state}"`, `"temperature": "${p.temperature}"`];
  if (p.busy !== null) members.push(`"busy": ${p.busy}`);
  members.push(`"name": ${JSON.stringify(p.name)}`);
  if (p.labels > 0) members.push(`"labels": ${p.labels}`);
  if (p.target !== null) {
    const refs = p.users === 0 ? '' : `,\n"refs": ${p.users}`;
    // Varnish indents this differently depending on whether the worker runs.
    const end = p.busy === null ? '    }' : '      }';
    members.push(`"label": {\n      "name": ${JSON.stringify(p.target)}${refs}\n${end}`);
  }
  // Not in Varnish, hence last.
  if (p.release !== null) members.push(`"varnish_release": "${p.release}"`);
  // Also: state and temperature in one word, as its releases before 7 print them.
  members.push(`"state_temperature": "${p.state}/${p.temperature}"`);
  return `\n  {\n    ${members.join(',\n    ')}\n}`;
}

/** One line per dependency, with the column gaps of vcl.list. */
function formatDeps(deps: readonly Dependencies[]): string {
  const left = Math.max(0, ...deps.map((d) => d.name.length));
  const right = Math.max(0, ...deps.flatMap((d) => d.deps.map((n) => n.length)));
  const width = left + (left + right + 3 <= LINE_WIDTH ? 3 : 1);
  return deps
    .flatMap((d) =>
      d.deps.length === 0 ? [`${d.name}\n`] : d.deps.map((n) => `${d.name.padEnd(width)}${n}\n`),
    )
    .join('');
}

function jsonDependency(d: Dependencies): string {
  return `\n  {\n    "name": ${JSON.stringify(d.name)},\n    "deps": [${
    d.deps.length === 0 ? '' : `\n      ${d.deps.map((n) => JSON.stringify(n)).join(',\n      ')}\n    `
  }]\n  }`;
}
