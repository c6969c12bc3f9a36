// The command line, and the console's own commands in it, one row each: completion, help and documentation read them. An
// admin command of the same name would be hidden, so the names are the console's own. Views add theirs.

import { commandWord } from '../session/admin-line.ts';
import { answerItems, textField } from '../session/admin-store.ts';
import { MergedSource } from '../session/merged-source.ts';
import { type CompletionTables, complete } from './completion.ts';
import { askToOverwrite, exportTo } from './copy-export.ts';
import { filePrompt } from './field.ts';
import { type Line, remember } from './line-editor.ts';
import { showView, switchInstance } from './navigation.ts';
import { choicePanel } from './panel.ts';
import { namedQueries } from './saved-queries.ts';
import type { PaletteRow, View, ViewContext } from './view.ts';

const PROGRAMS = 'vcl.list -j';

export function openCommandLine(c: ViewContext, line: Line): void {
  // For the names of programs in the completion.
  void c.session.admin.ask(PROGRAMS);
  c.fields.open(
    {
      kind: 'command',
      recall: 'commands',
      complete: ({ text, cursor }) => complete(text, cursor, completionTables(c)),
      accept: (text) => submitLine(c, text),
    },
    line,
  );
}

/** Runs a line: a command of the console or an admin command. */
export function submitLine(c: ViewContext, line: string) {
  const text = line.trim();
  if (text === '') return c.ui.set({ field: null });
  c.ui.set({ field: null, commands: remember(c.ui.state.commands, text) });
  const word = commandWord(text);
  const own = paletteRows(c.views).find((row) => row.name === word);
  if (own !== undefined) return own.run(c, text.slice(word.length).trim());
  c.operator.submit(text);
}

export function completionTables(c: ViewContext): CompletionTables {
  const { session, tables, instances } = c;
  const known = session.source.commands;
  return {
    commands: [
      ...tables.commands.filter((row) => known === undefined || known.has(row.name)),
      ...paletteRows(c.views),
    ],
    params: tables.params,
    programs: answerItems(session.admin.body(PROGRAMS)).map((item) => textField(item, 'name')),
    backends: session.backends.map((b) => b.name),
    instances: instances.names,
    files: (prefix) => c.files.complete(prefix),
    local: session.source.local === true,
    queries: namedQueries(c.queries).map((one) => one.name),
  };
}

export function promptExport(c: ViewContext): void {
  c.fields.prompt(
    filePrompt(c.files, (path) => exportTo(c, path)),
    'export to',
  );
}

export function chooseInstance(c: ViewContext): void {
  const { names, name } = c.instances;
  const choices = names.map((one) => ({
    label: one,
    note: one === name ? 'shown' : '',
    take: () => switchInstance(c, one),
  }));
  c.ui.set({ panel: choicePanel('Instances', choices, names.indexOf(name)) });
}

function merge(c: ViewContext, argument: string) {
  const [first = '', second = ''] = argument.split(/\s+/);
  const { instances } = c;
  const a = instances.opener(first);
  const b = instances.opener(second);
  if (a === undefined || b === undefined || first === second)
    return c.ui.notify('bad', `merge needs two of ${instances.names.join(', ')}`);
  const name = `${first}+${second}`;
  instances.add({
    name,
    open: () => new MergedSource({ name: first, source: a() }, { name: second, source: b() }),
  });
  switchInstance(c, name);
}

function record(c: ViewContext, path: string) {
  const { files, instances, ui } = c;
  const { record } = instances;
  if (record === undefined) return ui.notify('bad', 'this cannot be recorded');
  const act = (): void => {
    record(path === '' ? '' : files.absolute(path)).then(
      (text) => ui.notify('info', text),
      (error: Error) => ui.notify('bad', error.message),
    );
  };
  // The end of a recording writes to the path that its beginning was given.
  if (path === '' || instances.recording?.() === true || !files.exists(path)) return act();
  askToOverwrite(c, `record ${path}`, path, act);
}

function seek({ ui, instances: { replay } }: ViewContext, seconds: string): void {
  const to = Number(seconds);
  if (replay === undefined) ui.notify('warn', 'not a recording');
  else if (seconds === '' || !(to >= 0)) ui.notify('bad', 'seek needs seconds from the start');
  else replay.seek(to);
}

const COMMANDS: readonly PaletteRow[] = [
  {
    name: 'ctx',
    syntax: 'ctx [<name>]',
    help: 'Change to another instance, or choose one.',
    run: (c, name) => (name === '' ? chooseInstance(c) : switchInstance(c, name)),
  },
  { name: 'merge', syntax: 'merge <name> <name>', help: 'Show two instances as one.', run: merge },
  {
    name: 'export',
    syntax: 'export <file>',
    help: 'Write what the view shows: text, or NDJSON for .json.',
    run: (c, path) => (path === '' ? promptExport(c) : exportTo(c, path)),
  },
  {
    name: 'record',
    syntax: 'record <file>',
    help: 'Record this session to a file; without a file, stop recording.',
    run: record,
  },
  {
    name: 'seek',
    syntax: 'seek <seconds>',
    help: 'In a recording: seek to this many seconds from its start.',
    run: seek,
  },
  {
    name: 'bell',
    syntax: 'bell',
    help: 'Terminal bell for problems: on or off (remembered).',
    run: ({ ui }) => {
      const bell = !ui.state.settings.bell;
      ui.set({ settings: { ...ui.state.settings, bell } });
      ui.notify('info', bell ? 'bell on: rings for problems' : 'bell off');
    },
  },
  {
    name: 'undo',
    syntax: 'undo',
    help: 'Undo the last change that can be undone.',
    run: (c) => c.operator.undo(),
  },
  { name: 'q', syntax: 'q', help: 'Quit the console; the daemon keeps running.', run: (c) => c.host.quit() },
  { name: 'exit', syntax: 'exit', help: '', hidden: true, run: (c) => c.host.quit() },
];

/** All of them; each view is shown by its name. */
export function paletteRows(views: readonly View[]): PaletteRow[] {
  return [
    ...COMMANDS,
    ...views.flatMap((view) => view.commands),
    ...views.map((view) => ({
      name: view.name,
      syntax: view.name,
      help: `Show the view ${view.title}.`,
      run: (c: ViewContext) => showView(c, view),
    })),
  ];
}
