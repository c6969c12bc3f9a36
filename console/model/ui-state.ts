// What the operator has open: the view, a field being edited, a panel over it, a question. Plain data, so
// that a test sets it and a screen draws it; controller.ts changes it.

import type { Completion } from './completion.ts';
import type { Line } from './line-editor.ts';
import { INITIAL_LIST, type ListState, type ToneLine } from './list-view.ts';
import { LIST_DEFINITIONS } from './lists/list-definitions.ts';
import { INITIAL_LOG_VIEW, type LogView } from './log-view.ts';
import type { PromptName } from './prompt-names.ts';
import type { QueryCheck } from './query-check.ts';
import { EMPTY_RECALL, type Recall } from './recall.ts';
import { INITIAL_STAT_VIEW, type StatView } from './stat-view.ts';
import type { ListViewName, ViewName } from './views.ts';

/** `filter` narrows what the open view lists, `search` looks through help or log, `prompt` asks for a value. */
export type FieldKind = 'command' | 'query' | 'filter' | 'search' | 'prompt';

export interface Field {
  kind: FieldKind;
  line: Line;
  /** Of the command line, the query bar and prompts for files; null elsewhere. */
  completion: Completion | null;
  /** Chosen candidate, -1 is none. */
  choice: number;
  /** Of the query bar, and of prompts that check what is typed. */
  check: QueryCheck | null;
  /** Which prompt, and what it is about: a parameter's name, a tag. */
  prompt: { name: PromptName; label: string; subject: string } | null;
}

/** What a choice does when it is taken. */
export type Choice = { label: string; note: string } & (
  | { take: 'query'; query: string }
  | { take: 'context'; context: string }
  /** The one of the instances shown as one that a change is for; '' for all of them. */
  | { take: 'part'; part: string; then: { kind: 'line'; line: string } | { kind: 'load'; path: string } }
);

export type Panel =
  | { kind: 'help'; scroll: number; filter: string }
  | { kind: 'text'; scroll: number; title: string; lines: readonly ToneLine[] }
  | { kind: 'choices'; scroll: number; title: string; choices: readonly Choice[] };

export interface Notice {
  level: 'info' | 'warn' | 'bad';
  text: string;
}

/** A command that waits for y or n. */
export interface Question {
  line: string;
  text: string;
  /** Id of the deed that it would undo; 0 is none. */
  undoes: number;
  /** The one of the instances shown as one that it is for; '' otherwise. */
  part: string;
}

/** A change made from here. */
export interface Deed {
  id: number;
  /** Epoch seconds. */
  at: number;
  line: string;
  status: number;
  answer: string;
  /** The command that takes it back; null when there is none. */
  undo: string | null;
  undone: boolean;
  /** The instance shown when it was done, and which of its parts it was for. */
  instance: string;
  part: string;
}

export interface UiState {
  view: ViewName;
  field: Field | null;
  panel: Panel | null;
  confirm: Question | null;
  /** A command that has not answered yet. */
  running: string | null;
  notice: Notice | null;
  log: LogView;
  stat: StatView;
  lists: Readonly<Record<ListViewName, ListState>>;
  /** What a list view shows of its rows, by view: only changed parameters, what Top ranks. */
  options: Readonly<Partial<Record<ViewName, string>>>;
  /** Newest first. */
  deeds: readonly Deed[];
  commands: Recall;
  queries: Recall;
  readonly: boolean;
  mouse: boolean;
}

export function initialUi(readonly: boolean): UiState {
  return {
    view: 'dashboard',
    field: null,
    panel: null,
    confirm: null,
    running: null,
    notice: null,
    log: INITIAL_LOG_VIEW,
    stat: INITIAL_STAT_VIEW,
    lists: Object.fromEntries(
      LIST_DEFINITIONS.map((d) => [d.view, { ...INITIAL_LIST, ...d.initial }]),
    ) as unknown as Record<ListViewName, ListState>,
    options: {},
    deeds: [],
    commands: EMPTY_RECALL,
    queries: EMPTY_RECALL,
    readonly,
    mouse: false,
  };
}
