// What the operator has open: the view, a field being edited, a panel over it, a question. Plain data, so
// that a test sets it and a screen draws it; controller.ts changes it.

import type { Completion } from './completion.ts';
import type { ViewName } from './keymap.ts';
import type { Line } from './line-editor.ts';
import { INITIAL_LOG_VIEW, type LogView } from './log-view.ts';
import type { QueryCheck } from './query-check.ts';
import { EMPTY_RECALL, type Recall } from './recall.ts';
import { INITIAL_STAT_VIEW, type StatView } from './stat-view.ts';

export type FieldKind = 'command' | 'query' | 'filter' | 'search';

export interface Field {
  kind: FieldKind;
  line: Line;
  /** Of the command line; null elsewhere. */
  completion: Completion | null;
  /** Chosen candidate, -1 is none. */
  choice: number;
  /** Of the query bar. */
  check: QueryCheck | null;
}

export type Panel =
  | { kind: 'help'; scroll: number; filter: string }
  | { kind: 'output'; scroll: number; title: string; status: number; lines: readonly string[] };

export interface Notice {
  level: 'info' | 'warn' | 'bad';
  text: string;
}

export interface UiState {
  view: ViewName;
  field: Field | null;
  panel: Panel | null;
  /** A command line that waits for y or n. */
  confirm: string | null;
  /** A command that has not answered yet. */
  running: string | null;
  notice: Notice | null;
  log: LogView;
  stat: StatView;
  commands: Recall;
  queries: Recall;
  readonly: boolean;
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
    commands: EMPTY_RECALL,
    queries: EMPTY_RECALL,
    readonly,
  };
}
