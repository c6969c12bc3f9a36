// Undoing changes: one row per command, with the query for the former state and the command that restores it. Commands
// without a row cannot be undone, and the action log shows that.

import { quoteWord } from '../../../protocol/cli-quoting.ts';
import { answerItems, textField } from '../session/admin-store.ts';
import { parameterText, sameValue } from '../session/parameter-value.ts';
import { wholeProgram } from '../session/program-files.ts';

export interface UndoRow {
  command: string;
  /** The command whose answer holds the former state, or null when none is needed. */
  ask(words: readonly string[]): string | null;
  /** The command that undoes; null when there is nothing to go back to. */
  undo(words: readonly string[], body: string): string | null;
}

const programs = (body: string): { name: string; status: string; state: string; label: string }[] =>
  answerItems(body).map((item) => ({
    name: textField(item, 'name'),
    status: textField(item, 'status'),
    state: textField(item, 'state'),
    label: textField((item as { label?: unknown }).label, 'name'),
  }));

const formerParameter = (words: readonly string[], body: string): string | null => {
  const item = answerItems(body)[0] as { value?: unknown } | undefined;
  const name = words[1] ?? '';
  if (item === undefined || textField(item, 'name') !== name) return null;
  const value = parameterText(item.value);
  if (sameValue(value, textField(item, 'default'))) return `param.reset ${name}`;
  return `param.set ${name} ${quoteWord(value)}`;
};

export const UNDO: readonly UndoRow[] = [
  { command: 'param.set', ask: (w) => `param.show -j ${w[1] ?? ''}`, undo: formerParameter },
  { command: 'param.reset', ask: (w) => `param.show -j ${w[1] ?? ''}`, undo: formerParameter },
  {
    command: 'vcl.use',
    ask: () => 'vcl.list -j',
    undo: (words, body) => {
      const former = programs(body).find((p) => p.status === 'active')?.name;
      return former === undefined || former === words[1] ? null : `vcl.use ${former}`;
    },
  },
  {
    command: 'vcl.state',
    ask: () => 'vcl.list -j',
    undo: (words, body) => {
      const former = programs(body).find((p) => p.name === words[1]);
      return former === undefined || former.state === words[2]
        ? null
        : `vcl.state ${former.name} ${former.state}`;
    },
  },
  {
    command: 'vcl.label',
    ask: () => 'vcl.list -j',
    undo: (words, body) => {
      const former = programs(body).find((p) => p.name === words[1]);
      return former === undefined ? `vcl.discard ${words[1]}` : `vcl.label ${former.name} ${former.label}`;
    },
  },
  { command: 'vcl.load', ask: () => null, undo: (words) => `vcl.discard ${words[1]}` },
  { command: 'vcl.inline', ask: () => null, undo: (words) => `vcl.discard ${words[1]}` },
  {
    command: 'vcl.discard',
    ask: (words) =>
      words.length === 2 && /^[\w.-]+$/.test(words[1] ?? '') ? `vcl.show -v ${words[1]}` : null,
    undo: (words, body) => {
      const source = wholeProgram(body);
      return source === null ? null : inlineCommand(words[1] ?? '', source);
    },
  },
  {
    command: 'backend.set_health',
    ask: (words) => `backend.list -j ${quoteWord(words[1] ?? '')}`,
    undo: (words, body) => {
      const table = answerItems(body)[0];
      const entries = typeof table === 'object' && table !== null ? Object.entries(table) : [];
      const [name, value] = entries[0] ?? [];
      // A pattern may have matched several states: no one command restores them.
      if (name === undefined || entries.length !== 1) return null;
      const former = textField(value, 'admin_health');
      const state = former === 'sick' ? 'sick' : hasProbe(value) && former === 'healthy' ? 'healthy' : 'auto';
      return state === words[2] ? null : `backend.set_health ${name} ${state}`;
    },
  },
];

function hasProbe(value: unknown): boolean {
  const message = (value as { probe_message?: unknown }).probe_message;
  return Array.isArray(message) && Number(message[1]) > 0;
}

/** A command with a program's source as its here-document, with a delimiter that is not in the source. */
export function inlineCommand(name: string, source: string): string {
  let mark = 'END_OF_PROGRAM';
  while (source.includes(mark)) mark += '_';
  return `vcl.inline ${name} << ${mark}\n${source.replace(/\n?$/, '\n')}${mark}`;
}

/** Dry runs of commands: they count the objects that would be hit. */
export const DRY_RUNS: Readonly<Record<string, string>> = { ban: 'ban.count', 'ban.soft': 'ban.count' };
