// Turns keys into changes of the interface and into requests to the daemon. It holds the one UiState and
// replaces it, never mutates it; what a command does is in actions.ts. It knows nothing of terminals or React; a test drives it with key names.

import { ACTIONS, type ActionTarget, type Step } from './actions.ts';
import {
  type CompletionTables,
  commandWord,
  commonPrefix,
  complete,
  isChanging,
  isDestructive,
} from './completion.ts';
import { type CommandName, helpSections, lookupKey, type ViewName } from './keymap.ts';
import { bodyRows, logListRows, panelTextRows, type Size, statListRows } from './layout.ts';
import { editKey, insert, type Line, lineOf } from './line-editor.ts';
import { type LogAction, reduceLog } from './log-view.ts';
import type { QueryChecker, QueryCompleter } from './query-check.ts';
import { remember, walk } from './recall.ts';
import type { Session } from './session.ts';
import { reduceStat, type StatAction } from './stat-view.ts';
import { type Field, type FieldKind, initialUi, type Notice, type UiState } from './ui-state.ts';

/** A key as the terminal layer names it: `name` is canonical (ctrl+b, pageup, a), `text` what it types. */
export interface KeyPress {
  name: string;
  text: string;
}

export interface ControllerOptions {
  session: Session;
  readonly: boolean;
  tables: Pick<CompletionTables, 'commands' | 'params'>;
  checkQuery: QueryChecker;
  completeQuery: QueryCompleter;
  /** What only the terminal layer can do. */
  onQuit(): void;
  onRedraw(): void;
  onSuspend(): void;
}

export class Controller implements ActionTarget {
  readonly session: Session;
  private readonly options: ControllerOptions;
  private programs: string[] = [];
  private readonly listeners = new Set<() => void>();
  size: Size = { columns: 80, rows: 24 };
  state: UiState;

  constructor(options: ControllerOptions) {
    this.options = options;
    this.session = options.session;
    this.state = initialUi(options.readonly);
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
    const quick = this.splitEscape(press);
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
    if (state.field !== null) return this.fieldKey(state.field, press);
    const command = lookupKey(state.panel === null ? state.view : 'panel', press.name);
    if (command !== undefined) this.run(command);
  }

  /** Escape and a key typed in quick succession look like Alt and that key. No Alt binding exists outside
   * of fields, so there it is the two keys; in a field it is, unless it edits. */
  private splitEscape(press: KeyPress): KeyPress | null {
    if (!press.name.startsWith('alt+')) return null;
    const { field } = this.state;
    if (field !== null && editKey(field.line, press.name) !== undefined) return null;
    const name = press.name.slice(4);
    return { name, text: name === 'space' ? ' ' : [...name].length === 1 ? name : '' };
  }

  /** Pasted text goes into a field, and nowhere else: a paste must not press keys. */
  paste(text: string): void {
    if (this.state.field !== null) this.edit(this.state.field, insert(this.state.field.line, text));
  }

  run(command: CommandName): void {
    ACTIONS[command](this);
  }

  /** Runs an admin command, with its question first when it cannot be undone. */
  submit(line: string) {
    const text = line.trim();
    if (text === '') return this.set({ field: null });
    const commands = remember(this.state.commands, text);
    this.set({ field: null, commands });
    const word = commandWord(text);
    if (word === 'q' || word === 'exit') return this.options.onQuit();
    if (this.state.readonly && isChanging(text)) return this.notify('warn', `read-only: ${word} is disabled`);
    if (isDestructive(text, this.options.tables.commands)) return this.set({ confirm: text, notice: null });
    this.execute(text);
  }

  quit(): void {
    this.options.onQuit();
  }

  redraw(): void {
    this.options.onRedraw();
  }

  suspend(): void {
    this.options.onSuspend();
  }

  notify(level: Notice['level'], text: string): void {
    this.set({ notice: { level, text } });
  }

  private get banner(): boolean {
    return this.session.cutOff;
  }

  set(change: Partial<UiState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  show(view: ViewName): void {
    if (view === 'log' && !this.session.following)
      this.session.follow(this.session.query, this.session.grouping);
    this.set({ view, panel: null, field: null, notice: null });
  }

  log(action: LogAction): void {
    const log = reduceLog(this.state.log, action, this.session.log, logListRows(this.size, this.banner));
    this.set({ log });
  }

  stat(action: StatAction): void {
    const height = statListRows(this.size, this.banner);
    this.set({ stat: reduceStat(this.state.stat, action, this.session.counters.all(), height) });
  }

  move(what: Step) {
    const stats = this.state.view === 'stats';
    const page = stats ? statListRows(this.size, this.banner) : logListRows(this.size, this.banner);
    const act = (action: StatAction & LogAction) => (stats ? this.stat(action) : this.log(action));
    switch (what) {
      case 'up':
        return act({ type: 'move', rows: -1 });
      case 'down':
        return act({ type: 'move', rows: 1 });
      case 'pageup':
        return act({ type: 'move', rows: -page });
      case 'pagedown':
        return act({ type: 'move', rows: page });
      case 'home':
        return act({ type: 'home' });
      default:
        return act({ type: 'end' });
    }
  }

  scroll(what: Step) {
    const { panel } = this.state;
    if (panel === null) return;
    const lines = panel.kind === 'help' ? this.helpLines(panel.filter) : panel.lines.length;
    const page = panelTextRows(this.size, this.banner, bodyRows(this.size, this.banner));
    const steps: Record<Step, number> = {
      up: -1,
      down: 1,
      pageup: -page,
      pagedown: page,
      home: -lines,
      end: lines,
    };
    const scroll = Math.max(0, Math.min(Math.max(0, lines - page), panel.scroll + steps[what]));
    this.set({ panel: { ...panel, scroll } });
  }

  searchPanel(): void {
    const { panel } = this.state;
    if (panel?.kind === 'help') this.open('search', lineOf(panel.filter));
  }

  private helpLines(filter: string): number {
    return helpSections(this.state.view, filter).reduce((n, s) => n + s.rows.length + 2, -1);
  }

  open(kind: FieldKind, line: Line): void {
    this.edit({ kind, line, completion: null, choice: -1, check: null }, line);
  }

  private fieldKey(field: Field, press: KeyPress) {
    const { name } = press;
    if (name === 'escape' || name === 'ctrl+c' || name === 'ctrl+g') {
      if (field.kind === 'filter') this.stat({ type: 'filter', text: '' });
      if (field.kind === 'search') this.search('');
      return this.set({ field: null });
    }
    if (name === 'enter') return this.accept(field);
    if (name === 'tab' || name === 'shift+tab') return this.completeField(field, name === 'tab' ? 1 : -1);
    if (name === 'up' || name === 'down') {
      if (field.kind === 'filter' || field.kind === 'search') return;
      const which = field.kind === 'command' ? 'commands' : 'queries';
      const step = walk(this.state[which], field.line, name === 'up' ? 1 : -1);
      this.set({ [which]: step.recall });
      return this.edit(field, step.line);
    }
    if (name === 'backspace' && field.line.text === '' && field.kind !== 'query')
      return this.set({ field: null });
    const edited = editKey(field.line, name);
    if (edited !== undefined) return this.edit(field, edited);
    if (press.text !== '') this.edit(field, insert(field.line, press.text));
  }

  /** Every change of a field's text comes through here: completion, verdict and live filters follow it. */
  private edit(field: Field, line: Line): void {
    const next: Field = { ...field, line, choice: -1 };
    if (field.kind === 'command') next.completion = complete(line.text, line.cursor, this.tables());
    if (field.kind === 'query') {
      next.check = line.text.trim() === '' ? { ok: true } : this.options.checkQuery(line.text);
      next.completion = { ...this.options.completeQuery(line.text, line.cursor), usage: '' };
    }
    if (field.kind === 'filter') this.stat({ type: 'filter', text: line.text });
    if (field.kind === 'search') this.search(line.text);
    this.set({ field: next, notice: null });
  }

  private search(filter: string): void {
    if (this.state.panel?.kind === 'help') this.set({ panel: { ...this.state.panel, filter, scroll: 0 } });
  }

  private accept(field: Field) {
    switch (field.kind) {
      case 'command':
        return this.submit(field.line.text);
      case 'query':
        if (field.check !== null && !field.check.ok) return;
        return this.applyQuery(field.line.text.trim());
      default:
        return this.set({ field: null });
    }
  }

  applyQuery(query: string): void {
    this.session.log.addGap(query === '' ? 'all transactions' : `query: ${query}`);
    this.session.follow(query, this.session.grouping);
    const log = reduceLog(
      this.state.log,
      { type: 'end' },
      this.session.log,
      logListRows(this.size, this.banner),
    );
    this.set({ field: null, queries: remember(this.state.queries, query), log });
  }

  /** Tab: first the common part, then one candidate after the other. */
  private completeField(field: Field, step: 1 | -1) {
    const completion = field.completion;
    if (completion === null || completion.candidates.length === 0) return;
    const { candidates, from } = completion;
    const before = field.line.text.slice(0, from);
    const after = field.line.text.slice(field.line.cursor);
    const typed = field.line.text.slice(from, field.line.cursor);
    const put = (text: string): Line => ({ text: before + text + after, cursor: from + text.length });
    if (candidates.length === 1) return this.edit(field, put(`${(candidates[0] as { text: string }).text} `));
    const common = commonPrefix(candidates);
    if (field.choice < 0 && common.length > typed.length) return this.edit(field, put(common));
    const choice = (field.choice + step + candidates.length) % candidates.length;
    const text = candidates[choice]?.text ?? '';
    this.set({ field: { ...field, line: put(text), choice } });
  }

  private answer(press: KeyPress) {
    const line = this.state.confirm as string;
    this.set({ confirm: null });
    if (press.name === 'y' || press.name === 'Y') this.execute(line);
    else this.notify('info', `not done: ${line}`);
  }

  private execute(line: string) {
    this.set({ running: line, notice: null });
    void this.session.source.command(line).then(({ status, body }) => {
      const lines = body.replace(/\n+$/, '').split('\n');
      if (this.state.running === line) this.set({ running: null });
      if (lines.length <= 1) {
        const text = lines[0] === '' ? (status === 200 ? 'done' : 'failed') : (lines[0] as string);
        return this.notify(
          status === 200 ? 'info' : 'bad',
          status === 200 ? `${line}: ${text}` : `${status} ${text}`,
        );
      }
      this.set({ panel: { kind: 'output', scroll: 0, title: line, status, lines } });
    });
  }

  private tables(): CompletionTables {
    return {
      ...this.options.tables,
      programs: this.programs,
      backends: this.session.backends.map((b) => b.name),
    };
  }

  learnNames(): void {
    void this.session.source.command('vcl.list').then(({ status, body }) => {
      if (status !== 200) return;
      this.programs = body
        .split('\n')
        .map((line) => line.trim().split(/\s+/).at(-1) ?? '')
        .filter((name) => name !== '');
    });
  }
}
