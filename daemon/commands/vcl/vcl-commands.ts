// The vcl.* commands. daemon/manager/programs.ts does the work.

import { CLI } from '../../../protocol/errors.ts';
import type { ManagerHandler, ManagerHandlers } from '../manager-services.ts';
import { bad, jsonReply, ok } from '../reply.ts';
import { formatDeps, formatList, jsonDependency, jsonProgram } from './vcl-list.ts';

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

// The daemon does not know the directory its operator stands in: a relative name is looked for in vcl_path only.
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

const list: ManagerHandler = async ({ programs }, call) => {
  const rows = await programs.list();
  return call.json ? jsonReply(call, rows.map(jsonProgram).join(',')) : ok(formatList(rows));
};

const deps: ManagerHandler = ({ programs }, call) => {
  const rows = programs.deps();
  return call.json ? jsonReply(call, rows.map(jsonDependency).join(','), 1) : ok(formatDeps(rows));
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
  'vcl.use': use,
} satisfies Partial<ManagerHandlers>;
