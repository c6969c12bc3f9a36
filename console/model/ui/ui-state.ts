// The state of the interface: the view by its name, a field being edited, a panel over the view, a question. The state is
// a value that is replaced and never changed, so that React compares it and a test sets it.

import type { Field } from './field.ts';
import type { Size } from './layout.ts';
import { EMPTY_RECALL, type Recall } from './line-editor.ts';
import type { Panel } from './panel.ts';
import { INITIAL_SETTINGS, type Settings } from './settings.ts';

export interface Notice {
  level: 'info' | 'warn' | 'bad';
  text: string;
  /** Gone with the next key. */
  passing?: true;
}

/** A question to be answered with y or n. */
export interface Question {
  /** The command that y runs; after n the notice names it. */
  line: string;
  /** The effect of y, where the line is no command of the daemon. */
  act?: () => void;
  text: string;
  /** Id of the action that it would undo; 0 is none. */
  undoes: number;
  /** The one of two merged instances that it is for; '' otherwise. */
  part: string;
}

/** A change made from this console. */
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
  /** The instance shown at that time, and which of its parts the change was for. */
  instance: string;
  part: string;
}

/** State of a view of its own, such as a cursor or a filter. */
export interface StateSlot<S> {
  readonly initial: S;
  /** The part of it that survives a change to another instance. */
  carry(state: S): S;
}

export interface UiState {
  /** Name of the view that is shown. */
  view: string;
  /** Names of the views from which it was opened, the last at the end: Escape leads back. */
  from: readonly string[];
  field: Field | null;
  panel: Panel | null;
  confirm: Question | null;
  /** A command that has not been answered yet. */
  running: string | null;
  /** Ends a long action of the console: Escape calls it. */
  stop: (() => void) | null;
  notice: Notice | null;
  /** By slot: stateOf() reads it. */
  own: ReadonlyMap<StateSlot<unknown>, unknown>;
  /** Newest first. */
  actions: readonly Action[];
  commands: Recall;
  queries: Recall;
  readonly: boolean;
  mouse: boolean;
  settings: Settings;
}

export function stateOf<S>(ui: UiState, slot: StateSlot<S>): S {
  return ui.own.has(slot) ? (ui.own.get(slot) as S) : slot.initial;
}

/** Holds the state and the size of the terminal, and notifies of each change. */
export class UiStore {
  private readonly listeners = new Set<() => void>();
  size: Size = { columns: 80, rows: 24 };
  state: UiState;

  constructor(view: string, readonly: boolean) {
    this.state = {
      view,
      from: [],
      field: null,
      panel: null,
      confirm: null,
      running: null,
      stop: null,
      notice: null,
      own: new Map(),
      actions: [],
      commands: EMPTY_RECALL,
      queries: EMPTY_RECALL,
      readonly,
      mouse: false,
      settings: INITIAL_SETTINGS,
    };
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): UiState => this.state;

  set(change: Partial<UiState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  resize(size: Size): void {
    this.size = size;
    this.set({});
  }

  notify(level: Notice['level'], text: string): void {
    this.set({ notice: { level, text } });
  }

  stateOf<S>(slot: StateSlot<S>): S {
    return stateOf(this.state, slot);
  }

  setState<S>(slot: StateSlot<S>, state: S): void {
    this.set({ own: new Map(this.state.own).set(slot, state) });
  }
}
