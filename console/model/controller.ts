// Turns keys into changes of the interface and into requests to the daemon. It holds the one UiState and
// replaces it, never mutates it; what a command does is in actions/, fields are in field-keeper.ts, changes of the
// daemon in operator.ts. It knows nothing of terminals or React; a test drives it with key names.

import { ACTIONS } from './actions/actions.ts';
import type { CompletionTables } from './completion.ts';
import { exportView } from './export-view.ts';
import { FieldKeeper } from './field-keeper.ts';
import type { HostFiles } from './host-files.ts';
import type { Instances } from './instances.ts';
import { type CommandName, Keymap } from './keymap.ts';
import { bodyRows, listBody, logBody, panelTextRows, type Size, statListRows } from './layout.ts';
import { insert } from './line-editor.ts';
import { type ListAction, type ListRow, reduceList, selectedRow } from './list-view.ts';
import { listDefinition } from './lists/list-definitions.ts';
import { type LogAction, reduceLog } from './log-view.ts';
import { Operator } from './operator.ts';
import { ProgramFlow } from './program-flow.ts';
import type { QueryChecker, QueryCompleter } from './query-check.ts';
import type { SavedQueries } from './saved-queries.ts';
import type { Session } from './session.ts';
import { reduceStat, type StatAction } from './stat-view.ts';
import { initialUi, type Notice, type UiState } from './ui-state.ts';
import { isListView, type ListViewName, type ViewName } from './views.ts';

/** A key as the terminal layer names it: `name` is canonical (ctrl+b, pageup, a), `text` what it types. */
export interface KeyPress {
  name: string;
  text: string;
}

export interface ControllerOptions {
  instances: Instances;
  readonly: boolean;
  tables: Pick<CompletionTables, 'commands' | 'params'>;
  checkQuery: QueryChecker;
  completeQuery: QueryCompleter;
  keymap?: Keymap;
  files: HostFiles;
  queries: SavedQueries;
  /** What only the terminal layer can do. */
  onQuit(): void;
  onRedraw(): void;
  onSuspend(): void;
  onCopy(text: string): void;
  onMouse(on: boolean): void;
}

/** A step in a list or a panel. */
export type Step = 'up' | 'down' | 'pageup' | 'pagedown' | 'home' | 'end';

export class Controller {
  readonly options: ControllerOptions;
  readonly keymap: Keymap;
  readonly operator: Operator;
  readonly programs: ProgramFlow;
  readonly fields: FieldKeeper;
  private readonly listeners = new Set<() => void>();
  /** Queries about which something was said. */
  private readonly noted = new Set<string>();
  size: Size = { columns: 80, rows: 24 };
  state: UiState;

  constructor(options: ControllerOptions) {
    this.options = options;
    this.keymap = options.keymap ?? new Keymap();
    this.state = initialUi(options.readonly);
    this.operator = new Operator(this, options.tables.commands);
    this.programs = new ProgramFlow(this, this.operator, options.files);
    this.fields = new FieldKeeper(this);
  }

  get session(): Session {
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
    const command = this.keymap.lookup(state.panel === null ? state.view : 'panel', press.name);
    if (command !== undefined) this.run(command);
  }

  /** While a question stands, what it is about can be read: keys that scroll do, y does it, all else does not. */
  private answer(press: KeyPress) {
    const command = this.state.panel === null ? undefined : this.keymap.lookup('panel', press.name);
    if (press.name !== 'y' && command !== undefined && SCROLLS.has(command)) return this.run(command);
    this.operator.answer(press.name === 'y' || press.name === 'Y');
  }

  /** Pasted text goes into a field, and nowhere else: a paste must not press keys. */
  paste(text: string): void {
    const { field } = this.state;
    if (field !== null) this.fields.edit(field, insert(field.line, text));
  }

  run(command: CommandName): void {
    ACTIONS[command](this);
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

  /** Is the stale banner on screen? It takes a row. */
  get banner(): boolean {
    return this.session.cutOff;
  }

  set(change: Partial<UiState>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.listeners) listener();
  }

  show(view: ViewName): void {
    const { session } = this;
    if (view === 'log' && !session.following) session.follow(session.query, session.grouping);
    session.admin.watch(isListView(view) ? listDefinition(view).asks : []);
    this.set({ view, panel: null, field: null, notice: null });
  }

  log(action: LogAction): void {
    const height = logBody(this.size, this.banner, this.state.log.detail || action.type === 'detail').list;
    this.set({ log: reduceLog(this.state.log, action, this.session.log, height) });
  }

  stat(action: StatAction): void {
    const height = statListRows(this.size, this.banner);
    this.set({ stat: reduceStat(this.state.stat, action, this.session.counters.all(), height) });
  }

  /** The open list view; null in other views. */
  get listView(): ListViewName | null {
    return isListView(this.state.view) ? this.state.view : null;
  }

  listRows(view: ListViewName): ListRow[] {
    return listDefinition(view).rows(this.session, this.state.options[view] ?? '');
  }

  /** The row under the cursor of a list view. */
  selected(view: ListViewName): ListRow | undefined {
    return selectedRow(this.state.lists[view], this.listRows(view));
  }

  list(action: ListAction): void {
    const view = this.listView;
    if (view === null) return;
    const state = this.state.lists[view];
    const height = listBody(this.size, this.banner, state.detail).list;
    const next = reduceList(state, action, this.listRows(view), height);
    this.set({ lists: { ...this.state.lists, [view]: next } });
  }

  /** What a view shows of its rows; opens at the top again. */
  option(view: ViewName, option: string): void {
    this.set({ options: { ...this.state.options, [view]: option } });
    if (isListView(view)) this.list({ type: 'home' });
  }

  move(what: Step): void {
    const { view } = this.state;
    if (view !== 'log' && view !== 'stats' && this.listView === null) return;
    const height =
      view === 'stats'
        ? statListRows(this.size, this.banner)
        : view === 'log'
          ? logBody(this.size, this.banner, this.state.log.detail).list
          : listBody(this.size, this.banner, this.state.lists[view as ListViewName].detail).list;
    const action = ((): StatAction & LogAction & ListAction => {
      switch (what) {
        case 'up':
          return { type: 'move', rows: -1 };
        case 'down':
          return { type: 'move', rows: 1 };
        case 'pageup':
          return { type: 'move', rows: -height };
        case 'pagedown':
          return { type: 'move', rows: height };
        case 'home':
          return { type: 'home' };
        default:
          return { type: 'end' };
      }
    })();
    if (view === 'stats') this.stat(action);
    else if (view === 'log') this.log(action);
    else this.list(action);
  }

  scroll(what: Step): void {
    const { panel } = this.state;
    if (panel === null) return;
    const lines = this.panelLines();
    const page = panelTextRows(this.size, this.banner, bodyRows(this.size, this.banner));
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

  private panelLines(): number {
    const { panel } = this.state;
    if (panel === null) return 0;
    if (panel.kind === 'text') return panel.lines.length;
    if (panel.kind === 'choices') return panel.choices.length;
    return this.keymap.help(this.state.view, panel.filter).reduce((n, s) => n + s.rows.length + 2, -1);
  }

  applyQuery(query: string): void {
    this.session.log.addGap(query === '' ? 'all transactions' : `query: ${query}`);
    this.session.follow(query, this.session.grouping);
    this.log({ type: 'end' });
    this.set({ field: null, panel: null, queries: this.fields.remembered(query) });
    this.nameOddity(query);
  }

  /** A query for records that cannot come goes on; but it is said, once for each. */
  private nameOddity(query: string): void {
    // A recording may be of another daemon.
    if (this.options.instances.replay !== undefined) return;
    const check = query === '' ? null : this.options.checkQuery(query);
    const note = check?.ok === true ? check.note : undefined;
    if (note === undefined || this.noted.has(query)) return;
    this.noted.add(query);
    this.notify('warn', note);
  }

  /** Shows the log with only what a query lets through. */
  drill(query: string): void {
    this.show('log');
    this.applyQuery(query);
  }

  copy(text: string, what: string) {
    if (text === '') return this.notify('warn', 'nothing to copy');
    this.options.onCopy(text);
    this.notify('info', `copied ${what}`);
  }

  async exportTo(path: string): Promise<void> {
    try {
      const text = exportView(this, /\.(nd)?jsonl?$/.test(path));
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
    const fresh = initialUi(this.state.readonly);
    this.set({ log: fresh.log, lists: fresh.lists, panel: null, field: null });
    this.show(this.state.view);
    this.notify('info', `showing ${name}`);
  }
}

const SCROLLS: ReadonlySet<CommandName> = new Set([
  'panel.up',
  'panel.down',
  'panel.pageup',
  'panel.pagedown',
  'panel.home',
  'panel.end',
]);
