// Moving between views and instances.

import type { View, ViewContext } from './view.ts';

/** The views that apply to the daemon that is shown, and the one that is open. */
export function tabsOf({ views, view, session }: ViewContext): readonly View[] {
  return views.filter((one) => one === view || one.applies(session));
}

/** Shows a view, with nothing over it. `from`: names of the views that Escape leads back to. */
export function showView(c: ViewContext, view: View, from: readonly string[] = []): void {
  view.open(c);
  c.session.admin.watch(view.asks);
  c.ui.set({ view: view.name, from, panel: null, field: null, notice: null });
}

/** Shows a view to which Escape adds a way back. */
export function pushView(c: ViewContext, view: View): void {
  const { from, view: here } = c.ui.state;
  showView(c, view, [...from, here]);
}

export function showNeighbour(c: ViewContext, step: 1 | -1): void {
  const tabs = tabsOf(c);
  const next = tabs[(tabs.indexOf(c.view) + step + tabs.length) % tabs.length];
  if (next !== undefined) showView(c, next);
}

/** Stops what takes long, or closes the panel; without either, the view goes a step back, or the view is shown from which
 * this one was opened. */
export function goBack(c: ViewContext) {
  const { panel, from, stop } = c.ui.state;
  if (stop !== null) return stop();
  c.ui.set({ panel: null, notice: null });
  if (panel !== null || c.view.back(c)) return;
  const origin = c.views.find(({ name }) => name === from.at(-1));
  if (origin !== undefined) showView(c, origin, from.slice(0, -1));
}

/** Another instance becomes the one shown. */
export function switchInstance(c: ViewContext, name: string) {
  const problem = c.instances.switchTo(name);
  if (problem !== null) return c.ui.notify('bad', problem);
  const own = new Map([...c.ui.state.own].map(([slot, state]) => [slot, slot.carry(state)]));
  c.ui.set({ own, panel: null, field: null });
  showView(c, c.view);
  c.ui.notify('info', `showing ${name}`);
}
