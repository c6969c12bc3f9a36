// Keys that work everywhere and in panels, and the keymap of all views.

import { copyText } from './copy-export.ts';
import { type KeyBindings, type KeyGroup, type KeyGroups, Keymap } from './keymap.ts';
import { EMPTY_LINE } from './line-editor.ts';
import { goBack, showNeighbour, showView } from './navigation.ts';
import { chooseInstance, openCommandLine, promptExport } from './palette.ts';
import { panelText } from './panel.ts';
import { openHelp, scrollPanel, scrollSideways, showActions, takeChoice } from './panel-actions.ts';
import { nextInPanel, searchPanel } from './panel-search.ts';
import { banRow, banRowSoftly, purgeRow, refetchRow, rowMenu } from './row-actions.ts';
import type { KeyRow, View, ViewContext } from './view.ts';

/** `keys` between blanks. */
function key(
  keys: string,
  command: string,
  help: string,
  run: KeyRow['run'],
  more: Partial<Pick<KeyRow, 'hint' | 'spare' | 'needs' | 'gives' | 'overPanels'>> = {},
): KeyRow {
  return { keys: keys.split(' '), command, help, run, ...more };
}

function toggleMouse({ ui, host }: ViewContext): void {
  const mouse = !ui.state.mouse;
  host.mouse(mouse);
  ui.set({ mouse });
  ui.notify(
    'info',
    mouse
      ? 'mouse on: click selects, a click on a title sorts, a second click opens; hold Shift to select text'
      : 'mouse off',
  );
}

const GLOBAL_KEYS: readonly KeyRow[] = [
  key('tab', 'view.next', 'Next view', (c) => showNeighbour(c, 1), { hint: 'next', overPanels: true }),
  key('shift+tab', 'view.previous', 'Previous view', (c) => showNeighbour(c, -1), { overPanels: true }),
  key(':', 'command', 'Command line: all admin commands and more', (c) => openCommandLine(c, EMPTY_LINE), {
    hint: 'command',
    overPanels: true,
  }),
  key('?', 'help', 'This help', openHelp, { hint: 'help' }),
  key('y', 'copy', 'Copy the selected row (OSC 52)', (c) => c.view.copy(c), { spare: 'copy' }),
  key('Y', 'copy.all', 'Copy all rows that the filter shows', (c) => c.view.copyAll(c)),
  key('x', 'row.menu', 'Actions for the row', rowMenu, { needs: 'row', hint: 'act' }),
  key('p', 'row.purge', 'Purge the subject of the row, after counting matches', purgeRow, {
    gives: 'ban',
    needs: 'subject',
    hint: 'purge',
  }),
  key('b', 'row.ban', 'Ban by a condition, starting from that of the row, after counting matches', banRow, {
    gives: 'ban',
    needs: 'subject',
    spare: 'ban',
  }),
  key('B', 'row.ban-soft', 'Soft ban: expire now, keep for grace', banRowSoftly, { gives: 'ban.soft' }),
  key(
    'R',
    'row.refetch',
    'Refetch the URL of the row through the proxy: before and after',
    (c) => void refetchRow(c),
    { gives: 'ban', needs: 'subject', spare: 'refetch' },
  ),
  key('X', 'export', 'Export to a file: text, or NDJSON for .json', promptExport, { spare: 'export' }),
  key('A', 'actions', 'Changes made from this console, newest first', showActions, { spare: 'done' }),
  key('U', 'undo', 'Undo the last change that can be undone', (c) => c.operator.undo(), { spare: 'undo' }),
  key('C', 'contexts', 'Change to another instance', chooseInstance, { spare: 'instances' }),
  key('M', 'mouse', 'Mouse on or off: the wheel scrolls, a click selects, sorts, opens', toggleMouse, {
    spare: 'mouse',
  }),
  key(',', 'replay.back', 'Recording: ten seconds back', (c) => c.instances.replay?.skip(-10)),
  key('.', 'replay.forward', 'Recording: ten seconds forward', (c) => c.instances.replay?.skip(10)),
  key('P', 'replay.pause', 'Recording: pause or resume', (c) => c.instances.replay?.toggle()),
  key(']', 'replay.faster', 'Recording: faster', (c) => c.instances.replay?.shift(1)),
  key('[', 'replay.slower', 'Recording: slower', (c) => c.instances.replay?.shift(-1)),
  key('ctrl+l', 'redraw', 'Redraw the screen', (c) => c.host.redraw(), { overPanels: true }),
  key('ctrl+z', 'suspend', 'Suspend; fg brings it back', (c) => c.host.suspend(), { overPanels: true }),
  key('escape', 'back', 'Close the panel or field, or go back', goBack),
  key('q', 'quit', 'Quit', (c) => c.host.quit(), { hint: 'quit' }),
  key('ctrl+c', 'quit', 'Quit', (c) => c.host.quit(), { overPanels: true }),
];

/** Characters that a text in a panel moves sideways at a time (chosen). */
const SIDEWAYS = 16;

/** Keys that scroll: they also work while a question about the panel is open. */
export const SCROLL_KEYS: readonly KeyRow[] = [
  key('up k wheelup', 'panel.up', 'One line up', (c) => scrollPanel(c, 'up')),
  key('down j wheeldown', 'panel.down', 'One line down', (c) => scrollPanel(c, 'down')),
  key('pageup ctrl+b', 'panel.pageup', 'One page up', (c) => scrollPanel(c, 'pageup')),
  key('pagedown space ctrl+f', 'panel.pagedown', 'One page down', (c) => scrollPanel(c, 'pagedown')),
  key('home g', 'panel.home', 'Top', (c) => scrollPanel(c, 'home')),
  key('end G', 'panel.end', 'Bottom', (c) => scrollPanel(c, 'end')),
  key('} right', 'panel.right', 'Scroll right in cut lines', (c) => scrollSideways(c, SIDEWAYS)),
  key('{ left', 'panel.left', 'Scroll left', (c) => scrollSideways(c, -SIDEWAYS)),
];

const PANEL_KEYS: readonly KeyRow[] = [
  ...SCROLL_KEYS,
  key('/', 'panel.search', 'Search in the text, or narrow the choices or this help', searchPanel),
  key('n', 'panel.next-match', 'Next match in the text', (c) => nextInPanel(c, false)),
  key('N', 'panel.previous-match', 'Previous match', (c) => nextInPanel(c, true)),
  key('enter', 'panel.choose', 'Take the choice, or close', takeChoice),
  key('y', 'panel.copy', 'Copy the text (OSC 52)', (c) =>
    copyText(c, panelText(c.ui.state.panel), 'the panel'),
  ),
  key('escape q ? h', 'back', 'Close', goBack),
];

function groupsOf(views: readonly View[]): KeyGroups<KeyRow> {
  const shows = views.map((view) =>
    key(view.key, `view.${view.name}`, view.title, (c) => showView(c, view), { overPanels: true }),
  );
  const ofView = (view: View): KeyGroup<KeyRow>[] => {
    const own = { scope: view.name, title: `${view.title} view`, rows: view.keys };
    return view.shared === null ? [own] : [own, view.shared];
  };
  return {
    global: { scope: 'global', title: 'Everywhere', rows: [...shows, ...GLOBAL_KEYS] },
    panel: { scope: 'panel', title: 'Panels over a view', rows: PANEL_KEYS },
    views: new Map(views.map((view) => [view.name, ofView(view)])),
  };
}

export function makeKeymap(views: readonly View[], bindings: KeyBindings = {}): Keymap<KeyRow> {
  return new Keymap(groupsOf(views), bindings);
}

/** Each group once, in the order of the documentation. */
export function keyGroups(views: readonly View[]): KeyGroup<KeyRow>[] {
  const { global, panel, views: ofViews } = groupsOf(views);
  const groups = [...ofViews.values()];
  const shared = new Map(groups.flatMap((all) => all.slice(1).map((group) => [group.scope, group])));
  return [global, ...groups.flatMap((all) => all.slice(0, 1)), ...shared.values(), panel];
}
