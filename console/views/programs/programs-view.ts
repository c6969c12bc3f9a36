// The loaded programs and labels: active one, temperature, references; below, the backends and the first lines.

import { filePrompt } from '../../model/ui/field.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';
import { editProgram } from './program-edit.ts';
import { ProgramFlow } from './program-flow.ts';
import { NEEDS_LINE, PROGRAMS_LINE, programRows } from './program-rows.ts';

function promptLoad(c: ViewContext): void {
  const prompt = filePrompt(c.files, (path) => void new ProgramFlow(c).load(path), { changes: true });
  c.fields.prompt(prompt, 'load from file');
}

function promptLint(c: ViewContext): void {
  c.fields.prompt(
    filePrompt(c.files, (path) => void new ProgramFlow(c).lint(path)),
    'check file',
  );
}

function promptTrial(c: ViewContext): void {
  c.fields.prompt(
    filePrompt(c.files, (path) => void new ProgramFlow(c).tryFile(path)),
    'try file',
  );
}

const STATES = ['auto', 'warm', 'cold'];

function nextState(c: ViewContext, row: ListRow) {
  if (row.facts.state === 'label') return c.ui.notify('warn', 'a label has no state of its own');
  const next = STATES[(STATES.indexOf(row.facts.state ?? '') + 1) % STATES.length] as string;
  c.operator.submit(`vcl.state ${row.key} ${next}`);
}

export const PROGRAMS_VIEW: ListView = listView({
  name: 'programs',
  key: '5',
  title: 'Programs',
  short: 'Programs',
  brief: 'Prog',
  asks: [
    { line: PROGRAMS_LINE, every: 3 },
    { line: NEEDS_LINE, every: 10, optional: true },
  ],
  columns: [
    { title: 'PROGRAM', min: 20, grow: 2 },
    { title: 'STATUS', min: 10 },
    { title: 'STATE', min: 7 },
    { title: 'TEMPERATURE', min: 11, drop: 1 },
    { title: 'BUSY', min: 6, right: true },
    { title: 'LABELS', min: 18, grow: 1, drop: 2 },
  ],
  keys: [
    {
      keys: ['l'],
      command: 'programs.load',
      gives: 'vcl.load',
      help: 'Load a program from a file',
      hint: 'load',
      run: promptLoad,
    },
    {
      keys: ['u'],
      command: 'programs.use',
      gives: 'vcl.use',
      help: 'Use it, after showing its changes',
      hint: 'use',
      act: (c, row) => void new ProgramFlow(c).use(row.key),
    },
    {
      keys: ['e'],
      command: 'programs.edit',
      gives: 'vcl.load',
      help: 'Edit its source in $EDITOR; it is checked, compared and loaded',
      hint: 'edit',
      act: (c, row) => void editProgram(c, row.facts.target || row.key),
    },
    {
      keys: ['D'],
      command: 'programs.diff',
      spare: 'changes',
      help: 'Compare with the active program',
      act: (c, row) => void new ProgramFlow(c).diff(row.key),
    },
    {
      keys: ['delete', 'ctrl+d'],
      command: 'programs.discard',
      gives: 'vcl.discard',
      help: 'Discard it',
      hint: 'discard',
      act: (c, row) => new ProgramFlow(c).discard(row.key),
      line: ({ key, facts }) => (facts.status === 'active' ? null : `vcl.discard ${key}`),
    },
    {
      keys: ['L'],
      command: 'programs.lint',
      spare: 'check',
      help: 'Check a file without loading it',
      run: promptLint,
    },
    {
      keys: ['T'],
      command: 'programs.try',
      gives: 'vcl.try',
      spare: 'try',
      help: 'Try a file on the last requests: which decisions differ from the active program',
      run: promptTrial,
    },
    {
      keys: ['s'],
      command: 'programs.state',
      gives: 'vcl.state',
      spare: 'state',
      help: 'Next state: auto, warm, cold',
      act: nextState,
    },
  ],
  rows: programRows,
  remark: (session) => {
    const active = programRows(session).filter((r) => r.facts.status === 'active');
    return active.length === 0 ? 'none active' : `active: ${active.map((r) => r.key).join(', ')}`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no programs' : 'no connection'),
  // A label shows its target program.
  enter: (c, { key, facts }) => void new ProgramFlow(c).showSource(facts.target || key),
});
