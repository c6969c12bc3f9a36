// The parameters: value, unit, default, differences; below, the long description with bounds and notes.

import { quoteWord } from '../../../protocol/cli-quoting.ts';
import { bareName } from '../../model/session/admin-line.ts';
import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { parameterText, sameValue } from '../../model/session/parameter-value.ts';
import type { FieldKind } from '../../model/ui/field.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { checkParameter } from './parameter-check.ts';

const LINE = 'param.show -j';

/** Advice to the operator for each flag. */
const FLAGS: Readonly<Record<string, string>> = {
  obj_sticky: 'applied when an object is created: objects in the cache keep their value',
  delayed_effect: 'takes effect with a delay',
  must_restart: 'takes effect when the worker is restarted',
  must_reload: 'takes effect when the program is loaded again',
  experimental: 'experimental: its meaning may change',
  not_implemented: 'has no effect on this system',
  wizard: 'change only on advice',
  build_options: 'depends on how the daemon was built',
};

/** CLI status: reply truncated at cli_limit. */
const TRUNCATED = 201;

export const PARAMETERS_VIEW: ListView = listView({
  name: 'parameters',
  key: '6',
  title: 'Parameters',
  short: 'Params',
  brief: 'Par',
  asks: [{ line: LINE, every: 10 }],
  columns: [
    { title: 'PARAMETER', min: 26, grow: 2 },
    { title: 'VALUE', min: 12, grow: 1 },
    { title: 'UNIT', min: 8, drop: 1 },
    { title: 'DEFAULT', min: 12, grow: 1 },
    { title: 'NOTES', min: 16, grow: 1, drop: 2 },
  ],
  rows: rowsOf,
  remark: (session, option) => {
    const changed = rowsOf(session, 'changed').length;
    return option === 'changed' ? 'only changed ones' : changed === 0 ? 'all default' : `${changed} changed`;
  },
  empty: (session, option) =>
    session.admin.answer(LINE)?.status === TRUNCATED
      ? 'the answer was cut off: raise cli_limit'
      : option === 'changed'
        ? 'all parameters have their defaults'
        : session.connection.state === 'up'
          ? 'no parameters yet'
          : 'no connection',
  keys: [
    {
      keys: ['s'],
      command: 'parameters.set',
      gives: 'param.set',
      help: 'Set it',
      hint: 'set',
      act: promptValue,
    },
    {
      keys: ['delete', 'ctrl+d'],
      command: 'parameters.reset',
      gives: 'param.set',
      help: 'Reset to the default',
      hint: 'reset',
      line: ({ key, facts }) => (facts.changed === 'yes' ? `param.reset ${key}` : null),
      act: (c, row) =>
        row.facts.changed === 'yes'
          ? c.operator.submit(`param.reset ${row.key}`)
          : c.ui.notify('info', `${row.key} already has its default value`),
    },
    {
      keys: ['c'],
      command: 'parameters.changed',
      spare: 'changed',
      help: 'Show only parameters with another value than the default',
      run: (c) => {
        const { option } = c.ui.stateOf(PARAMETERS_VIEW.state);
        PARAMETERS_VIEW.act(c, { type: 'option', option: option === 'changed' ? '' : 'changed' });
      },
    },
  ],
  enter: promptValue,
});

const valuePrompt = (c: ViewContext): FieldKind => ({
  kind: 'prompt',
  changes: true,
  // Another product's bounds are unknown here.
  verdict: (text, name) =>
    c.session.source.product === undefined ? checkParameter(bareName(name), text) : { ok: true },
  accept: (text, name) => c.operator.submit(`param.set ${name} ${quoteWord(text.trim())}`),
});

function promptValue(c: ViewContext, row: ListRow): void {
  const unit = row.facts.unit === '' ? '' : ` [${row.facts.unit}]`;
  c.fields.prompt(valuePrompt(c), `${row.key}${unit}`, row.key, row.facts.value);
}

function rowsOf(session: DaemonSession, option: string): ListRow[] {
  return answerItems(session.admin.body(LINE))
    .map(row)
    .filter((r) => option !== 'changed' || r.facts.changed === 'yes');
}

function row(item: unknown): ListRow {
  const name = textField(item, 'name');
  const fallback = textField(item, 'default');
  const unit = textField(item, 'units');
  const current = parameterText((item as { value?: unknown } | null)?.value);
  const changed = !sameValue(current, fallback);
  // The default is written in units (48k), the value as a number: equal values are shown as the former.
  const value = changed ? current : fallback;
  const { flags, implemented } = item as { flags?: unknown; implemented?: unknown };
  const notes = [
    ...(implemented === false ? ['not_implemented'] : []),
    ...(Array.isArray(flags) ? flags.map(String) : []),
  ];
  return {
    key: name,
    facts: { name, value, default: fallback, unit, changed: changed ? 'yes' : '' },
    cells: [
      { text: name, tone: 'strong' },
      { text: value === '' ? '""' : value, tone: changed ? 'warn' : 'text', by: sortable(value) },
      { text: unit, tone: 'muted' },
      { text: changed ? fallback : 'is default', tone: changed ? 'muted' : 'faint', by: changed ? 0 : 1 },
      { text: notes.join(' '), tone: 'faint' },
    ],
    detail: () => details(item, value, unit, fallback, changed, notes),
  };
}

function sortable(value: string): number | string {
  const number = Number(value);
  return value !== '' && !Number.isNaN(number) ? number : value;
}

function details(
  item: unknown,
  value: string,
  unit: string,
  fallback: string,
  changed: boolean,
  notes: readonly string[],
): readonly ToneLine[] {
  const bound = (name: string, label: string): ToneLine[] => {
    const text = textField(item, name);
    return text === '' ? [] : [[{ text: label, tone: 'muted' }, { text }]];
  };
  const lines: ToneLine[] = [
    [
      { text: 'Value    ', tone: 'muted' },
      { text: value === '' ? '""' : value, tone: changed ? 'warn' : 'text' },
      { text: unit === '' ? '' : ` ${unit}`, tone: 'muted' },
    ],
    // Without a text it is the empty one only where that is the value: other releases may not tell it.
    [{ text: 'Default  ', tone: 'muted' }, { text: fallback === '' && !changed ? '""' : fallback }],
    ...bound('minimum', 'Minimum  '),
    ...bound('maximum', 'Maximum  '),
    [],
    ...textField(item, 'description')
      .split('\n')
      .map((text): ToneLine => [{ text: text.replaceAll('\t', '   ') }]),
  ];
  for (const flag of notes) lines.push([{ text: `Note: ${FLAGS[flag] ?? flag}.`, tone: 'warn' }]);
  return lines;
}
