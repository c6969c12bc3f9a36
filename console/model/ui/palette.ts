// The console's own commands for the palette, one row each: completion, help and documentation read them. An admin
// command of the same name would be hidden, so the names are the console's own. Views add theirs.

import { MergedSource } from '../session/merged-source.ts';
import type { Controller } from './controller.ts';
import { filePrompt } from './field.ts';
import type { Choice } from './panel.ts';
import type { View } from './view.ts';

export interface PaletteRow {
  readonly name: string;
  readonly syntax: string;
  readonly help: string;
  /** Neither completed nor documented: another name of the same. */
  readonly hidden?: true;
  run(controller: Controller, argument: string): void;
}

const EXPORT_PROMPT = filePrompt((c, path) => c.exportTo(path));

export function promptExport(c: Controller): void {
  c.fields.prompt(EXPORT_PROMPT, 'export to');
}

export function chooseContext(c: Controller): void {
  const { names, name } = c.options.instances;
  const choices = names.map(
    (context): Choice => ({
      label: context,
      note: context === name ? 'shown' : '',
      take: () => c.switchTo(context),
    }),
  );
  c.set({ panel: { kind: 'choices', scroll: names.indexOf(name), title: 'Instances', choices } });
}

function merge(c: Controller, argument: string) {
  const [first = '', second = ''] = argument.split(/\s+/);
  const { instances } = c.options;
  const a = instances.opener(first);
  const b = instances.opener(second);
  if (a === undefined || b === undefined || first === second)
    return c.notify('bad', `merge needs two of ${instances.names.join(', ')}`);
  const name = `${first}+${second}`;
  instances.add({
    name,
    open: () => new MergedSource({ name: first, source: a() }, { name: second, source: b() }),
  });
  c.switchTo(name);
}

function record(c: Controller, path: string) {
  const { instances } = c.options;
  const { files } = c.options;
  const { record } = instances;
  if (record === undefined) return c.notify('bad', 'nothing can be recorded here');
  const act = (): void => {
    record(path === '' ? '' : files.absolute(path)).then(
      (text) => c.notify('info', text),
      (error: Error) => c.notify('bad', error.message),
    );
  };
  // The end of a recording writes where its beginning was told to.
  if (path === '' || instances.recording?.() === true || !files.exists(path)) return act();
  c.askToOverwrite(`record ${path}`, path, act);
}

function seek(c: Controller, seconds: string): void {
  const { replay } = c.options.instances;
  const to = Number(seconds);
  if (replay === undefined) c.notify('warn', 'this is no recording');
  else if (seconds === '' || !(to >= 0)) c.notify('bad', 'seek needs seconds from the beginning');
  else replay.seek(to);
}

const COMMANDS: readonly PaletteRow[] = [
  {
    name: 'ctx',
    syntax: 'ctx [<name>]',
    help: 'Change to another instance, or choose one.',
    run: (c, name) => (name === '' ? chooseContext(c) : c.switchTo(name)),
  },
  { name: 'merge', syntax: 'merge <name> <name>', help: 'Show two instances as one.', run: merge },
  {
    name: 'export',
    syntax: 'export <file>',
    help: 'Write what the view shows: text, or NDJSON for .json.',
    run: (c, path) => (path === '' ? promptExport(c) : c.exportTo(path)),
  },
  {
    name: 'record',
    syntax: 'record <file>',
    help: 'Record this session; once more without a file ends it.',
    run: record,
  },
  {
    name: 'seek',
    syntax: 'seek <seconds>',
    help: 'In a recording: go to so many seconds from its beginning.',
    run: seek,
  },
  {
    name: 'undo',
    syntax: 'undo',
    help: 'Undo the last change that can be undone.',
    run: (c) => c.operator.undo(),
  },
  { name: 'q', syntax: 'q', help: 'Leave the console; the daemon runs on.', run: (c) => c.quit() },
  { name: 'exit', syntax: 'exit', help: '', hidden: true, run: (c) => c.quit() },
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
      run: (c: Controller) => c.show(view),
    })),
  ];
}
