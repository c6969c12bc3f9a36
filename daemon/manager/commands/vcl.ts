// The vcl.* commands: arguments and formats; what they do is programs.ts.

import { CLI } from '../../../protocol/errors.ts';
import { bad, type CliReply, type Command, jsonReply, ok } from '../core.ts';
import type { ProgramInfo } from '../program-host.ts';

export const vclLoad: Command = async (core, call) => {
  const [name = '', file = '', state = 'auto'] = call.args;
  const source = core.readProgram(file);
  const reply = await core.programs.load(
    name,
    typeof source === 'string' ? bad(unreadable(file, source, core.params.text('vcl_path'))) : source,
    state,
  );
  if (reply.status === CLI.OK) core.programsChanged(`loaded ${name}`);
  return reply;
};

// The daemon does not know the directory its operator stands in: a relative name is looked for in vcl_path only.
function unreadable(file: string, why: string, path: string): string {
  const hint = /^\.{0,2}\//.test(file)
    ? ''
    : `Hint: it was looked for in ${path} (vcl_path); give the whole path of a file elsewhere, as $PWD/${file}\n`;
  return `Message from VCC-compiler:\nCannot read file '${file}' (${why})\n${hint}Running VCC-compiler failed, exited with 2\nVCL compilation failed`;
}

export const vclInline: Command = async (core, call) => {
  const [name = '', text = '', state = 'auto'] = call.args;
  const reply = await core.programs.load(name, { name: '<vcl.inline>', text }, state);
  if (reply.status === CLI.OK) core.programsChanged(`loaded ${name}`);
  return reply;
};

export const vclUse: Command = async (core, call) => {
  const [name = ''] = call.args;
  const before = core.programs.activeName();
  const reply = await core.programs.use(name);
  if (core.programs.activeName() !== before) core.programsChanged(`using ${name}`);
  return reply;
};

export const vclState: Command = (core, call) =>
  core.programs.setState(call.args[0] ?? '', call.args[1] ?? '');

export const vclDiscard: Command = async (core, call) => {
  const reply = await core.programs.discard(call.args);
  if (reply.status === CLI.OK) core.programsChanged(`discarded ${call.args.join(' ')}`);
  return reply;
};

export const vclLabel: Command = (core, call) => core.programs.label(call.args[0] ?? '', call.args[1] ?? '');

export const vclShow: Command = (core, call): CliReply => {
  const args = [...call.args];
  const verbose = args[0] === '-v';
  if (verbose) args.shift();
  if (args.length > 1) return bad(`Too many parameters: '${args[1]}'`);
  const files = core.programs.files(args[0]);
  if (files === null) return bad(args[0] === undefined ? 'No active VCL' : `No VCL named '${args[0]}'`);
  if (!verbose) return ok(files[0]?.text ?? '');
  return ok(
    files.map((f, i) => `// VCL.SHOW ${i} ${Buffer.byteLength(f.text)} ${f.name}\n${f.text}\n`).join(''),
  );
};

export const vclList: Command = async (core, call) => {
  const list = await core.programs.list();
  if (call.json) return jsonReply(call, list.map(jsonProgram).join(','));
  return ok(formatList(list));
};

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

function jsonProgram(p: ProgramInfo): string {
  const fields = [`"status": "${p.status}"`, `"state": "${p.state}"`, `"temperature": "${p.temperature}"`];
  if (p.busy !== null) fields.push(`"busy": ${p.busy}`);
  fields.push(`"name": ${JSON.stringify(p.name)}`);
  if (p.labels > 0) fields.push(`"labels": ${p.labels}`);
  if (p.target !== null) {
    const refs = p.users === 0 ? '' : `,\n"refs": ${p.users}`;
    // As in Varnish, which lays it out in two ways: one while the worker runs and one while it does not.
    const end = p.busy === null ? '    }' : '      }';
    fields.push(`"label": {\n      "name": ${JSON.stringify(p.target)}${refs}\n${end}`);
  }
  return `\n  {\n    ${fields.join(',\n    ')}\n}`;
}

/** One line a dependency, the columns as far apart as those of vcl.list. */
function formatDeps(deps: readonly { name: string; deps: readonly string[] }[]): string {
  const left = Math.max(0, ...deps.map((d) => d.name.length));
  const right = Math.max(0, ...deps.flatMap((d) => d.deps.map((n) => n.length)));
  const width = left + (left + right + 3 <= LINE_WIDTH ? 3 : 1);
  return deps
    .flatMap((d) =>
      d.deps.length === 0 ? [`${d.name}\n`] : d.deps.map((n) => `${d.name.padEnd(width)}${n}\n`),
    )
    .join('');
}

export const vclDeps: Command = (core, call) => {
  const deps = core.programs.deps();
  if (call.json) {
    const rows = deps.map(
      (d) =>
        `\n  {\n    "name": ${JSON.stringify(d.name)},\n    "deps": [${
          d.deps.length === 0 ? '' : `\n      ${d.deps.map((n) => JSON.stringify(n)).join(',\n      ')}\n    `
        }]\n  }`,
    );
    return jsonReply(call, rows.join(','), 1);
  }
  return ok(formatDeps(deps));
};
