// The parameters: value, unit, default, what differs; below, the long description with bounds and notes.

import { answerItems, textField } from '../admin-store.ts';
import type { ListRow, ToneLine } from '../list-view.ts';
import type { ListDefinition } from './list-definition.ts';

const LINE = 'param.show -j';

/** What each flag asks of the operator. */
const FLAGS: Readonly<Record<string, string>> = {
  obj_sticky: 'looked at when an object is made: objects in the cache keep what they have',
  delayed_effect: 'takes effect after a while',
  must_restart: 'takes effect when the worker is restarted',
  must_reload: 'takes effect when the program is loaded again',
  experimental: 'experimental: its meaning may change',
  build_options: 'depends on how the daemon was built',
};

export const PARAMETERS_LIST: ListDefinition = {
  view: 'parameters',
  asks: [{ line: LINE, every: 10 }],
  columns: [
    { title: 'PARAMETER', min: 26, grow: 2 },
    { title: 'VALUE', min: 12, grow: 1 },
    { title: 'UNIT', min: 8, drop: 1 },
    { title: 'DEFAULT', min: 12, grow: 1 },
    { title: 'NOTES', min: 16, grow: 1, drop: 2 },
  ],
  rows: (session, option) =>
    answerItems(session.admin.body(LINE))
      .map(row)
      .filter((r) => option !== 'changed' || r.facts.changed === 'yes'),
  remark: (session, option) => {
    const changed = PARAMETERS_LIST.rows(session, 'changed').length;
    return option === 'changed'
      ? 'only what was changed'
      : changed === 0
        ? 'all default'
        : `${changed} changed`;
  },
  empty: (session, option) =>
    option === 'changed'
      ? 'every parameter has its default'
      : session.connection.state === 'up'
        ? 'no parameters yet'
        : 'no connection',
};

/** A value as the daemon takes it back: JSON has numbers and booleans where the daemon has words. */
export function parameterText(value: unknown): string {
  if (value === true) return 'on';
  if (value === false) return 'off';
  return value === null || value === undefined ? '' : String(value);
}

function row(item: unknown): ListRow {
  const name = textField(item, 'name');
  const fallback = textField(item, 'default');
  const unit = textField(item, 'units');
  const told = parameterText((item as { value?: unknown } | null)?.value);
  const changed = !sameValue(told, fallback);
  // The default is written as operators write it (48k), the value as a number: where they are the same, as the former.
  const value = changed ? told : fallback;
  const flags = (item as { flags?: unknown }).flags;
  const notes = Array.isArray(flags) ? flags.map(String) : [];
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

/** 64k and 65536, 120 and 120.000 are one value. */
export function sameValue(a: string, b: string): boolean {
  return a === b || (sizeOf(a) !== null && sizeOf(a) === sizeOf(b));
}

function sizeOf(text: string): number | null {
  const m = /^(-?\d+(?:\.\d+)?)([bkmgtp]?)b?$/i.exec(text.trim());
  if (m === null) return null;
  const power = ['', 'k', 'm', 'g', 't', 'p'].indexOf((m[2] ?? '').toLowerCase().replace('b', ''));
  return Number(m[1]) * 1024 ** Math.max(0, power);
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
    [{ text: 'Default  ', tone: 'muted' }, { text: fallback }],
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
