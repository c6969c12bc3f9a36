// The state of the interface: the view, a field being edited, a panel over it, a question. A value that is replaced and
// never changed, so that a test sets it and a screen draws it; controller.ts replaces it.

import type { Field } from './field.ts';
import { EMPTY_RECALL, type Recall } from './line-editor.ts';
import type { Panel } from './panel.ts';
import type { View } from './view.ts';

export interface Notice {
  level: 'info' | 'warn' | 'bad';
  text: string;
}

/** A command that waits for y or n. */
export interface Question {
  line: string;
  /** What yes does where the line is no command of the daemon. */
  act?: () => void;
  text: string;
  /** Id of the action that it would undo; 0 is none. */
  undoes: number;
  /** The one of the instances shown as one that it is for; '' otherwise. */
  part: string;
}

/** A change made from here. */
export interface Action {
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

/** What a view holds of its own: a cursor, a filter. */
export interface StateSlot<S> {
  readonly initial: S;
  /** What remains of it when another instance is shown. */
  carry(state: S): S;
}

export interface UiState {
  view: View;
  /** The views through which one came to it by opening what is in them, the last at the end: Escape leads back. */
  from: readonly View[];
  field: Field | null;
  panel: Panel | null;
  confirm: Question | null;
  /** A command that has not answered yet. */
  running: string | null;
  notice: Notice | null;
  /** What views hold of their own: stateOf() reads it. */
  own: ReadonlyMap<StateSlot<unknown>, unknown>;
  /** Newest first. */
  actions: readonly Action[];
  commands: Recall;
  queries: Recall;
  readonly: boolean;
  mouse: boolean;
}

export function initialUi(view: View, readonly: boolean): UiState {
  return {
    view,
    from: [],
    field: null,
    panel: null,
    confirm: null,
    running: null,
    notice: null,
    own: new Map(),
    actions: [],
    commands: EMPTY_RECALL,
    queries: EMPTY_RECALL,
    readonly,
    mouse: false,
  };
}

export function stateOf<S>(ui: UiState, slot: StateSlot<S>): S {
  return ui.own.has(slot) ? (ui.own.get(slot) as S) : slot.initial;
}
