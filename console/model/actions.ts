// What each command of the keymap does: one row a command, so that a key without an action does not
// compile. Rows only say what; how is the controller's.

import { type CommandName, VIEWS, type ViewName } from './keymap.ts';
import { EMPTY_LINE, type Line, lineOf } from './line-editor.ts';
import type { LogAction } from './log-view.ts';
import type { Session } from './session.ts';
import type { StatAction } from './stat-view.ts';
import type { FieldKind, Notice, UiState } from './ui-state.ts';

/** A step in a list or a panel. */
export type Step = 'up' | 'down' | 'pageup' | 'pagedown' | 'home' | 'end';

/** What an action may ask of the controller. */
export interface ActionTarget {
  readonly state: UiState;
  readonly session: Session;
  set(change: Partial<UiState>): void;
  show(view: ViewName): void;
  open(kind: FieldKind, line: Line): void;
  log(action: LogAction): void;
  stat(action: StatAction): void;
  move(step: Step): void;
  scroll(step: Step): void;
  searchPanel(): void;
  applyQuery(query: string): void;
  learnNames(): void;
  notify(level: Notice['level'], text: string): void;
  quit(): void;
  redraw(): void;
  suspend(): void;
}

const GROUPINGS = ['request', 'session', 'vxid'] as const;

function neighbour(view: ViewName, step: number): ViewName {
  return VIEWS[(VIEWS.indexOf(view) + step + VIEWS.length) % VIEWS.length] as ViewName;
}

function nextGrouping(target: ActionTarget): void {
  const { session } = target;
  const at = (GROUPINGS as readonly string[]).indexOf(session.grouping);
  const grouping = GROUPINGS[(at + 1) % GROUPINGS.length] as (typeof GROUPINGS)[number];
  session.log.addGap(`grouping by ${grouping}`);
  session.follow(session.query, grouping);
  target.notify('info', `grouping by ${grouping}`);
}

function stepInterval(target: ActionTarget, step: 1 | -1): void {
  target.stat({ type: 'interval', step });
  const { interval } = target.state.stat;
  target.session.source.setInterval(interval);
  target.notify('info', `refresh interval set to ${interval.toFixed(1)} s`);
}

export const ACTIONS: Readonly<Record<CommandName, (target: ActionTarget) => void>> = {
  'view.dashboard': (t) => t.show('dashboard'),
  'view.log': (t) => t.show('log'),
  'view.stats': (t) => t.show('stats'),
  'view.next': (t) => t.show(neighbour(t.state.view, 1)),
  'view.previous': (t) => t.show(neighbour(t.state.view, -1)),
  command: (t) => {
    t.learnNames();
    t.open('command', EMPTY_LINE);
  },
  help: (t) => t.set({ panel: { kind: 'help', scroll: 0, filter: '' }, notice: null }),
  redraw: (t) => t.redraw(),
  suspend: (t) => t.suspend(),
  back: (t) => t.set({ panel: null, notice: null }),
  quit: (t) => t.quit(),

  'move.up': (t) => t.move('up'),
  'move.down': (t) => t.move('down'),
  'move.pageup': (t) => t.move('pageup'),
  'move.pagedown': (t) => t.move('pagedown'),
  'move.home': (t) => t.move('home'),
  'move.end': (t) => t.move('end'),
  'panel.up': (t) => t.scroll('up'),
  'panel.down': (t) => t.scroll('down'),
  'panel.pageup': (t) => t.scroll('pageup'),
  'panel.pagedown': (t) => t.scroll('pagedown'),
  'panel.home': (t) => t.scroll('home'),
  'panel.end': (t) => t.scroll('end'),
  'panel.search': (t) => t.searchPanel(),

  'log.query': (t) => t.open('query', lineOf(t.session.query)),
  'log.errors': (t) => {
    t.show('log');
    t.applyQuery('RespStatus >= 500');
  },
  'log.pause': (t) => t.log({ type: 'pause' }),
  'log.follow': (t) => t.log({ type: 'end' }),
  'log.unfold': (t) => t.log({ type: 'toggle' }),
  'log.unfold-all': (t) => t.log({ type: 'toggle-all' }),
  'log.next-error': (t) => t.log({ type: 'next-error', back: false }),
  'log.previous-error': (t) => t.log({ type: 'next-error', back: true }),
  'log.grouping': nextGrouping,
  'log.clear': (t) => {
    t.session.log.clear();
    t.log({ type: 'end' });
  },

  'stats.unseen': (t) => t.stat({ type: 'unseen' }),
  'stats.raw': (t) => t.stat({ type: 'raw' }),
  'stats.scale': (t) => t.stat({ type: 'scale' }),
  'stats.more': (t) => t.stat({ type: 'level', step: 1 }),
  'stats.less': (t) => t.stat({ type: 'level', step: -1 }),
  'stats.sample': (t) => t.session.source.sampleNow(),
  'stats.slower': (t) => stepInterval(t, 1),
  'stats.faster': (t) => stepInterval(t, -1),
  'stats.reset': (t) => {
    t.session.counters.resetAverages();
    t.notify('info', 'averages reset');
  },
  'stats.filter': (t) => t.open('filter', lineOf(t.state.stat.filter)),
};
