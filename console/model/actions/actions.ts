// What each command of the keymap does: one row a command, so that a key without an action does not
// compile. Rows only say what; how is the controller's and its parts'.

import type { Controller } from '../controller.ts';
import type { CommandName } from '../keymap.ts';
import { EMPTY_LINE, lineOf } from '../line-editor.ts';
import { clock } from '../numbers.ts';
import { deedLines } from '../operator.ts';
import { VIEW_NAMES, VIEWS, type ViewName } from '../views.ts';
import { ADMIN_ACTIONS } from './admin-actions.ts';
import { copyAll, copySelected, panelText } from './copy-actions.ts';
import { LOG_ACTIONS } from './log-actions.ts';
import { chooseContext, takeChoice } from './palette-actions.ts';

export type Action = (controller: Controller) => void;

function neighbour(view: ViewName, step: number): ViewName {
  return VIEW_NAMES[(VIEW_NAMES.indexOf(view) + step + VIEW_NAMES.length) % VIEW_NAMES.length] as ViewName;
}

function stepInterval(c: Controller, step: 1 | -1): void {
  c.stat({ type: 'interval', step });
  const { interval } = c.state.stat;
  c.session.source.setInterval(interval);
  c.notify('info', `refresh interval set to ${interval.toFixed(1)} s`);
}

/** Closes what is open; with nothing open, what a filter hides comes back. */
function goBack(c: Controller): void {
  const { panel, view } = c.state;
  c.set({ panel: null, notice: null });
  if (panel !== null) return;
  if (view === 'stats') c.stat({ type: 'filter', text: '' });
  else if (c.listView !== null) c.list({ type: 'filter', text: '' });
  else if (view === 'log' && c.state.log.detail) c.log({ type: 'detail' });
}

function pin(c: Controller): void {
  c.stat({ type: 'pin' });
}

function toggleMouse(c: Controller): void {
  const mouse = !c.state.mouse;
  c.options.onMouse(mouse);
  c.set({ mouse });
  c.notify(
    'info',
    mouse
      ? 'a click selects, on a title sorts, once more opens; select text with Shift held'
      : 'the mouse is the terminal’s again',
  );
}

function searchPanel(c: Controller): void {
  const { panel } = c.state;
  if (panel?.kind === 'help') c.fields.open('search', lineOf(panel.filter));
}

const VIEW_ACTIONS = Object.fromEntries(
  VIEWS.map((v): [string, Action] => [`view.${v.name}`, (c) => c.show(v.name)]),
) as Record<`view.${ViewName}`, Action>;

export const ACTIONS: Readonly<Record<CommandName, Action>> = {
  ...VIEW_ACTIONS,
  ...LOG_ACTIONS,
  ...ADMIN_ACTIONS,
  'view.next': (c) => c.show(neighbour(c.state.view, 1)),
  'view.previous': (c) => c.show(neighbour(c.state.view, -1)),
  command: (c) => c.fields.open('command', EMPTY_LINE),
  help: (c) => c.set({ panel: { kind: 'help', scroll: 0, filter: '' }, notice: null }),
  redraw: (c) => c.options.onRedraw(),
  suspend: (c) => c.options.onSuspend(),
  back: goBack,
  quit: (c) => c.quit(),
  copy: copySelected,
  'copy.all': copyAll,
  export: (c) => c.fields.prompt('export', 'export to'),
  deeds: (c) =>
    c.set({
      panel: {
        kind: 'text',
        scroll: 0,
        title: 'What was done from here',
        lines: deedLines(c.state.deeds, (at) => clock(at, c.session.utc)),
      },
    }),
  undo: (c) => c.operator.undo(),
  contexts: chooseContext,
  mouse: toggleMouse,
  'replay.back': (c) => c.options.instances.replay?.skip(-10),
  'replay.forward': (c) => c.options.instances.replay?.skip(10),
  'replay.pause': (c) => c.options.instances.replay?.toggle(),

  'move.up': (c) => c.move('up'),
  'move.down': (c) => c.move('down'),
  'move.pageup': (c) => c.move('pageup'),
  'move.pagedown': (c) => c.move('pagedown'),
  'move.home': (c) => c.move('home'),
  'move.end': (c) => c.move('end'),
  'panel.up': (c) => c.scroll('up'),
  'panel.down': (c) => c.scroll('down'),
  'panel.pageup': (c) => c.scroll('pageup'),
  'panel.pagedown': (c) => c.scroll('pagedown'),
  'panel.home': (c) => c.scroll('home'),
  'panel.end': (c) => c.scroll('end'),
  'panel.search': searchPanel,
  'panel.choose': takeChoice,
  'panel.copy': (c) => c.copy(panelText(c), 'the panel'),

  'stats.unseen': (c) => c.stat({ type: 'unseen' }),
  'stats.raw': (c) => c.stat({ type: 'raw' }),
  'stats.scale': (c) => c.stat({ type: 'scale' }),
  'stats.more': (c) => c.stat({ type: 'level', step: 1 }),
  'stats.less': (c) => c.stat({ type: 'level', step: -1 }),
  'stats.sample': (c) => c.session.source.sampleNow(),
  'stats.slower': (c) => stepInterval(c, 1),
  'stats.faster': (c) => stepInterval(c, -1),
  'stats.reset': (c) => {
    c.session.counters.resetAverages();
    c.notify('info', 'averages reset');
  },
  'stats.pin': pin,
  'stats.sort': (c) => c.stat({ type: 'sort' }),
  'stats.reverse': (c) => c.stat({ type: 'reverse' }),
  'stats.filter': (c) => c.fields.open('filter', lineOf(c.state.stat.filter)),
};
