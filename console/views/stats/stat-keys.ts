// Keys and actions of the statistics view: those of varnishstat and some more.

import type { Counter } from '../../model/counters/counter-history.ts';
import type { FieldKind } from '../../model/ui/field.ts';
import { lineOf } from '../../model/ui/line-editor.ts';
import { openHelp } from '../../model/ui/panel-actions.ts';
import { type KeyRow, steps, type ViewContext } from '../../model/ui/view.ts';
import {
  cursorIndex,
  reduceStat,
  STAT_STATE,
  type StatAction,
  statListRows,
  visibleCounters,
} from './stat-state.ts';

/** Applies an action with the current screen size. */
export function actOnStats(c: ViewContext, action: StatAction): void {
  const height = statListRows(c.ui.size);
  c.ui.setState(STAT_STATE, reduceStat(c.ui.stateOf(STAT_STATE), action, c.session.counters.all(), height));
}

/** The counter under the cursor. */
export function selectedCounter(c: ViewContext): Counter | undefined {
  const state = c.ui.stateOf(STAT_STATE);
  const visible = visibleCounters(state, c.session.counters.all());
  return visible[cursorIndex(state, visible)];
}

function stepInterval(c: ViewContext, step: 1 | -1): void {
  actOnStats(c, { type: 'interval', step });
  const { interval } = c.ui.stateOf(STAT_STATE);
  c.session.setInterval(interval);
  c.ui.notify('info', `refresh interval set to ${interval.toFixed(1)} s`);
}

function resetAverages(c: ViewContext): void {
  c.session.counters.resetAverages();
  c.ui.notify('info', 'averages reset');
}

const filterField = (c: ViewContext): FieldKind => ({
  kind: 'filter',
  follow: (text) => actOnStats(c, { type: 'filter', text }),
});

const acts = (action: StatAction) => (c: ViewContext) => actOnStats(c, action);

/** `open` shows the subject of the counter under the cursor. */
export function statKeys(open: (c: ViewContext) => void): readonly KeyRow[] {
  return [
    { keys: ['h'], command: 'help', help: 'Toggle this help', run: openHelp },
    { keys: ['up', 'k', 'wheelup'], command: 'move.up', help: 'One counter up', run: steps('up') },
    { keys: ['down', 'j', 'wheeldown'], command: 'move.down', help: 'One counter down', run: steps('down') },
    { keys: ['pageup', 'b', 'ctrl+b'], command: 'move.pageup', help: 'One page up', run: steps('pageup') },
    {
      keys: ['pagedown', 'space', 'ctrl+f'],
      command: 'move.pagedown',
      help: 'One page down',
      run: steps('pagedown'),
    },
    { keys: ['home', 'g'], command: 'move.home', help: 'Top of the list', run: steps('home') },
    { keys: ['end', 'G'], command: 'move.end', help: 'Bottom of the list', run: steps('end') },
    {
      keys: ['d'],
      command: 'stats.unseen',
      help: 'Show or hide counters that were always zero',
      hint: 'unseen',
      run: acts({ type: 'unseen' }),
    },
    {
      keys: ['r'],
      command: 'stats.raw',
      spare: 'raw',
      help: 'Raw or adjusted gauges',
      run: acts({ type: 'raw' }),
    },
    {
      keys: ['e'],
      command: 'stats.scale',
      help: 'Scaled or plain values',
      hint: 'scale',
      run: acts({ type: 'scale' }),
    },
    {
      keys: ['v'],
      command: 'stats.more',
      help: 'More counters: INFO, DIAG, DEBUG',
      hint: 'level',
      run: acts({ type: 'level', step: 1 }),
    },
    {
      keys: ['V'],
      command: 'stats.less',
      spare: 'less',
      help: 'Fewer counters',
      run: acts({ type: 'level', step: -1 }),
    },
    {
      keys: ['ctrl+t'],
      command: 'stats.sample',
      spare: 'sample',
      help: 'Sample now',
      run: (c) => c.session.source.sampleNow(),
    },
    {
      keys: ['+'],
      command: 'stats.slower',
      spare: 'slower',
      help: 'Longer refresh interval',
      run: (c) => stepInterval(c, 1),
    },
    {
      keys: ['-'],
      command: 'stats.faster',
      spare: 'faster',
      help: 'Shorter refresh interval',
      run: (c) => stepInterval(c, -1),
    },
    {
      keys: ['0'],
      command: 'stats.reset',
      spare: 'reset averages',
      help: 'Reset the averages',
      run: resetAverages,
    },
    {
      keys: ['*'],
      command: 'stats.pin',
      spare: 'pin',
      ofRow: true,
      help: 'Pin the counter to the top, or unpin it',
      run: acts({ type: 'pin' }),
    },
    {
      keys: ['/'],
      command: 'stats.filter',
      help: 'Filter by name as you type',
      hint: 'filter',
      run: (c) => c.fields.open(filterField(c), lineOf(c.ui.stateOf(STAT_STATE).filter)),
    },
    {
      keys: ['o'],
      command: 'stats.sort',
      spare: 'sort',
      help: 'Sort by name, value, change, or as listed',
      run: acts({ type: 'sort' }),
    },
    {
      keys: ['O'],
      command: 'stats.reverse',
      help: 'Reverse the order',
      run: acts({ type: 'reverse' }),
    },
    {
      keys: ['enter'],
      command: 'stats.open',
      spare: 'open',
      ofRow: true,
      help: 'Open the view or the transactions of the counter',
      run: open,
    },
  ];
}
