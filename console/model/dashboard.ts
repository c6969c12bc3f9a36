// The panels of the dashboard: what is behind each, and which one the cursor is on. Where they are on the screen is
// the screen's; a panel that has no room there is not among those it names.

import type { Controller } from './controller.ts';
import { lineOf } from './line-editor.ts';
import { listDefinition } from './lists/list-definitions.ts';

/** In reading order. */
export const PANELS = [
  'requests',
  'hit-rate',
  'traffic',
  'backends',
  'storage',
  'latency',
  'status',
  'top',
  'misses',
  'errors',
] as const;

export type PanelName = (typeof PANELS)[number];

function topBy(c: Controller, title: string): void {
  c.show('top');
  const column = listDefinition('top').columns.findIndex((col) => col.title === title);
  c.list({ type: 'sort-by', column, descending: true });
}

/** What Enter shows. */
const BEHIND: Readonly<Record<PanelName, (c: Controller) => void>> = {
  requests: (c) => topBy(c, 'REQUESTS'),
  'hit-rate': (c) => {
    c.show('stats');
    c.stat({ type: 'filter', text: 'cache_' });
  },
  traffic: (c) => c.show('log'),
  backends: (c) => c.show('backends'),
  storage: (c) => c.show('storage'),
  latency: (c) => c.show('latency'),
  status: (c) => c.drill('RespStatus >= 400'),
  top: (c) => topBy(c, 'REQUESTS'),
  misses: (c) => topBy(c, 'MISSES'),
  errors: (c) => c.drill('RespStatus >= 500'),
};

/** The panel under the cursor; null before one was chosen. */
function panelAt(c: Controller): PanelName | null {
  const name = c.state.options.dashboard;
  return PANELS.find((p) => p === name) ?? null;
}

/** Moves the cursor among the panels that a screen of this size shows. */
export function stepPanel(c: Controller, step: 1 | -1, shown: readonly PanelName[]): void {
  const at = shown.indexOf(panelAt(c) as PanelName);
  const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : (at + step + shown.length) % shown.length;
  c.option('dashboard', shown[next] as string);
}

export function openPanel(c: Controller, name: PanelName | null = panelAt(c)): void {
  if (name === null) c.notify('info', 'the arrows choose a panel, Enter opens what is behind it');
  else BEHIND[name](c);
}

/** The filter of the dashboard is the query of the log. */
export function filterLog(c: Controller): void {
  c.show('log');
  c.fields.open('query', lineOf(c.session.query));
}
