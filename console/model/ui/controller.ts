// Turns keys into changes of the interface and into requests to the daemon. It holds the one UiState and
// replaces it, never mutates it; what a key does is in its row, fields are in field-keeper.ts, changes of the
// daemon in operator.ts. It knows nothing of terminals, and the views only by their interface; a test drives it with
// key names.

import type { AskForPage } from '../../client/page-client.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import type { Instances } from '../session/instances.ts';
import type { CompletionTables } from './completion.ts';
import { FieldKeeper } from './fields.ts';
import { helpLines, mostLeft, panelLines } from './folded-lines.ts';
import { SCROLL_KEYS } from './global-keys.ts';
import type { HostFiles } from './host-files.ts';
import { Keymap } from './keymap.ts';
import { bodyRows, helpColumns, panelTextCells, panelTextRows, type Size, type Step } from './layout.ts';
import { insert } from './line-editor.ts';
import { Operator } from './operator.ts';
import type { QueryChecker, QueryCompleter } from './query-check.ts';
import type { SavedQueries } from './saved-queries.ts';
import { initialUi, type Notice, type StateSlot, stateOf, type UiState } from './ui-state.ts';
import type { View } from './view.ts';

/** A key as the terminal layer names it: `name` is canonical (ctrl+b, pageup, a), `text` what it types. */
export interface KeyPress {
  name: string;
  text: string;
}

export interface ControllerOptions {
  /** In the order of Tab; the first is shown at the start. */
  views: readonly View[];
  instances: Instances;
  readonly: boolean;
  tables: Pick<CompletionTables, 'commands' | 'params'>;
  checkQuery: QueryChecker;
  completeQuery: QueryCompleter;
  keymap?: Keymap;
  files: HostFiles;
  queries: SavedQueries;
  /** A request to where the daemon listens. */
  askForPage: AskForPage;
  /** What only the terminal layer can do. */
  onQuit(): void;
  onRedraw(): void;
  onSuspend(): void;
  /** Gives the terminal to the operator's editor; resolves with its status, or why it could not be run. */
  onEdit(path: string): Promise<number | string>;
  onCopy(text: string): void;
  onMouse(on: boolean): void;
}

export class Controller {
  readonly options: ControllerOptions;
  readonly keymap: Keymap;
  readonly operator: Operator;
  readonly fields: FieldKeeper;
  private readonly listeners = new Set<() => void>();
  size: Size = { columns: 80, rows: 24 };
  state: UiState;

  constructor(options: ControllerOptions) {
    this.options = options;
    this.keymap = options.keymap ?? new Keymap(options.views);
    this.state = initialUi(options.views[0] as View, options.readonly);
    this.operator = new Operator(this, options.tables.commands);
    this.fields = new FieldKeeper(this);
  }

  get session(): DaemonSession {
    return this.options.instances.current;
  }

  get instance(): string {
    return this.options.instances.name;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = (): UiState => this.state;

  resize(size: Size): void {
    this.size = size;
    this.set({});
  }

  key(press: KeyPress): void {
    const quick = this.fields.splitEscape(press);
    if (quick !== null) {
      this.single({ name: 'escape', text: '' });
      this.single(quick);
    } else this.single(press);
  }

  private single(press: KeyPress) {
    const { state } = this;
    if (press.name === 'ctrl+c' && state.field === null && state.confirm === null)
      return this.options.onQuit();
    if (state.confirm !== null) return this.answer(press);
    if (state.field !== null) return this.fields.key(state.field, press);
    const { keymap } = this;
    const ofPanel = state.panel === null ? undefined : keymap.inPanel(press.name);
    const passes = state.panel?.kind === 'text' && state.panel.passesKeys === true && press.name !== 'escape';
    if (passes && (ofPanel === undefined || ofPanel.command === 'back'))
      this.set({ panel: null, notice: null });
    else if (state.panel !== null) return ofPanel?.run(this);
    keymap.inView(state.view, press.name)?.run(this);
  }

  /** While a question stands, what it is about can be read: keys that scroll do, y does it, all else does not. */
  private answer(press: KeyPress) {
    const row = this.state.panel === null ? undefined : this.keymap.inPanel(press.name);
    if (row !== undefined && SCROLLS.has(row.command)) return row.run(this);
    this.operator.answer(press.name === 'y' || press.name === 'Y');
  }

  /** Pasted text goes into a field, and nowhere else: a paste must not press keys. */
  paste(text: string): void {
    const { field } = this.state;
    if (field !== null) this.fields.edit(field, insert(field.line, text));
  }

  /** A line of the palette: a command of the console or an admin command. */
  submit(line: string): void {
    this.fields.submit(line);
  }

  quit(): void {
    this.options.onQuit();
  }

  notify(level: Notice['level'], text: string): void {
    this.set({ notice: { level, text } });
  }

  set(change: Partial<UiState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  /** The views that apply to the daemon that is shown, and the one that is open. */
  get tabs(): readonly View[] {
    return this.options.views.filter((view) => view === this.state.view || view.applies(this.session));
  }

  /** Shows a view, with nothing over it. */
  show(view: View, from: readonly View[] = []): void {
    view.open(this);
    this.session.admin.watch(view.asks);
    this.set({ view, from, panel: null, field: null, notice: null });
  }

  /** Shows what lies behind something in the view that is shown. */
  showBehind(view: View): void {
    const { from, view: here } = this.state;
    this.show(view, [...from, here]);
  }

  stateOf<S>(slot: StateSlot<S>): S {
    return stateOf(this.state, slot);
  }

  setState<S>(slot: StateSlot<S>, state: S): void {
    this.set({ own: new Map(this.state.own).set(slot, state) });
  }

  scroll(what: Step): void {
    const { panel } = this.state;
    if (panel === null) return;
    const lines = this.panelLines();
    const page = panelTextRows(this.size, bodyRows(this.size));
    const steps: Record<Step, number> = {
      up: -1,
      down: 1,
      pageup: -page,
      pagedown: page,
      home: -lines,
      end: lines,
    };
    // Of choices the selected one moves, of text the window.
    const last = panel.kind === 'choices' ? lines - 1 : Math.max(0, lines - page);
    const scroll = Math.max(0, Math.min(last, panel.scroll + steps[what]));
    this.set({ panel: { ...panel, scroll } });
  }

  /** Moves the text of a panel sideways, where it has more than is to be seen. */
  scrollSideways(by: number): void {
    const { panel } = this.state;
    if (panel?.kind !== 'text') return;
    const left = Math.min((panel.left ?? 0) + by, mostLeft(panel, panelTextCells(this.size)));
    const { left: _, ...unmoved } = panel;
    this.set({ panel: left > 0 ? { ...unmoved, left } : unmoved });
  }

  private panelLines(): number {
    const { panel } = this.state;
    if (panel === null) return 0;
    if (panel.kind === 'text') return panelLines(panel, panelTextCells(this.size)).length;
    if (panel.kind === 'choices') return panel.choices.length;
    const sections = this.keymap.help(this.state.view, panel.filter);
    return helpLines(sections, helpColumns(this.size).help).length;
  }

  copy(text: string, what: string) {
    if (text === '') return this.notify('warn', 'nothing to copy');
    this.options.onCopy(text);
    this.notify('info', `copied ${what}`);
  }

  /** Writes what the view shows to a file; asks first where there is one already. */
  exportTo(path: string) {
    const act = () => void this.writeExport(path);
    if (!this.options.files.exists(path)) return act();
    this.askToOverwrite(`export ${path}`, path, act);
  }

  /** `line` is what is not done after a no. */
  askToOverwrite(line: string, path: string, act: () => void): void {
    const text = `${path} is there already: overwrite it?`;
    this.set({ confirm: { line, text, undoes: 0, part: '', act }, notice: null });
  }

  private async writeExport(path: string): Promise<void> {
    try {
      const text = this.state.view.export(this, /\.(nd)?jsonl?$/.test(path));
      await this.options.files.write(path, text);
      const lines = text.split('\n').length - 1;
      this.notify('info', `${lines} lines written to ${path}`);
    } catch (error) {
      this.notify('bad', `${path}: ${(error as Error).message}`);
    }
  }

  /** Another instance becomes the one shown. */
  switchTo(name: string) {
    const problem = this.options.instances.switchTo(name);
    if (problem !== null) return this.notify('bad', problem);
    const own = new Map([...this.state.own].map(([slot, state]) => [slot, slot.carry(state)]));
    this.set({ own, panel: null, field: null });
    this.show(this.state.view);
    this.notify('info', `showing ${name}`);
  }
}

const SCROLLS: ReadonlySet<string> = new Set(SCROLL_KEYS.map((row) => row.command));
