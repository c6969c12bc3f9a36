// What the console's own commands of the palette do, and what taking a choice of a panel does.

import type { Controller } from '../controller.ts';
import { MergedSource } from '../merged-source.ts';
import type { Choice } from '../ui-state.ts';
import { VIEW_NAMES, type ViewName } from '../views.ts';

type PaletteAction = (controller: Controller, argument: string) => void;

export function chooseContext(c: Controller): void {
  const { names, name } = c.options.instances;
  const choices = names.map(
    (context): Choice => ({
      take: 'context',
      context,
      label: context,
      note: context === name ? 'shown' : '',
    }),
  );
  c.set({ panel: { kind: 'choices', scroll: names.indexOf(name), title: 'Instances', choices } });
}

export function takeChoice(c: Controller) {
  const { panel } = c.state;
  const choice = panel?.kind === 'choices' ? panel.choices[panel.scroll] : undefined;
  c.set({ panel: null, notice: null });
  if (choice === undefined) return;
  switch (choice.take) {
    case 'query':
      return c.applyQuery(choice.query);
    case 'context':
      return c.switchTo(choice.context);
    case 'part':
      if (choice.then.kind === 'line') return c.operator.submit(choice.then.line, null, choice.part);
      return void c.programs.load(choice.then.path, choice.part);
  }
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

function save(c: Controller, name: string, query: string | null) {
  if (!/^[\w.-]+$/.test(name)) return c.notify('bad', 'the name of a query is of letters, digits, . _ and -');
  const { queries } = c.options;
  if (query === null && queries.all()[name] === undefined) return c.notify('bad', `no query "${name}"`);
  queries.save(name, query).then(
    () =>
      c.notify(
        'info',
        query === null ? `forgot ${name}` : `kept as ${name}: ${query === '' ? 'everything' : query}`,
      ),
    (error: Error) => c.notify('warn', `for this session only: ${error.message}`),
  );
}

function setQuery(c: Controller, query: string) {
  const check = query === '' ? { ok: true as const } : c.options.checkQuery(query);
  if (!check.ok) return c.notify('bad', `${check.message} at ${check.from + 1}`);
  c.drill(query);
}

function use(c: Controller, name: string) {
  const query = c.options.queries.all()[name];
  if (query === undefined) return c.notify('bad', `no query "${name}"`);
  setQuery(c, query);
}

export const PALETTE_COMMANDS: Readonly<Record<string, PaletteAction>> = {
  ...Object.fromEntries(VIEW_NAMES.map((v): [ViewName, PaletteAction] => [v, (c) => c.show(v)])),
  ctx: (c, name) => (name === '' ? chooseContext(c) : c.switchTo(name)),
  merge,
  query: setQuery,
  'query.save': (c, name) => save(c, name, c.session.query),
  'query.use': use,
  'query.drop': (c, name) => save(c, name, null),
  export: (c, path) => (path === '' ? c.run('export') : void c.exportTo(path)),
  record: (c, path) => {
    const { instances } = c.options;
    if (instances.record === undefined) return c.notify('bad', 'nothing can be recorded here');
    instances.record(path).then(
      (text) => c.notify('info', text),
      (error: Error) => c.notify('bad', error.message),
    );
  },
  seek: (c, seconds) => {
    const { replay } = c.options.instances;
    const to = Number(seconds);
    if (replay === undefined) c.notify('warn', 'this is no recording');
    else if (seconds === '' || !(to >= 0)) c.notify('bad', 'seek needs seconds from the beginning');
    else replay.seek(to);
  },
  undo: (c) => c.operator.undo(),
  q: (c) => c.quit(),
  exit: (c) => c.quit(),
};
