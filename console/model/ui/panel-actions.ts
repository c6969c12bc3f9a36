// The panel that is open: its scrolling, the choice that is taken.

import { helpLines, mostLeft, panelLines } from './folded-lines.ts';
import { bodyRows, helpColumns, panelTextCells, panelTextRows, type Step } from './layout.ts';
import { clock } from './numbers.ts';
import { actionLines } from './operator.ts';
import { textPanel } from './panel.ts';
import type { ViewContext } from './view.ts';

export function openHelp({ ui }: ViewContext): void {
  ui.set({ panel: { kind: 'help', scroll: 0, filter: '' }, notice: null });
}

export function showActions({ ui, session }: ViewContext): void {
  const lines = actionLines(ui.state.actions, (at) => clock(at, session.utc));
  ui.set({ panel: textPanel('Changes from this console', lines) });
}

export function takeChoice({ ui }: ViewContext): void {
  const { panel } = ui.state;
  const choice = panel?.kind === 'choices' ? panel.choices[panel.scroll] : undefined;
  ui.set({ panel: null, notice: null });
  choice?.take();
}

/** Moves the selection of choices, or the window of a text. */
export function scrollPanel(c: ViewContext, step: Step): void {
  const { size, state } = c.ui;
  const { panel } = state;
  if (panel === null) return;
  const lines = linesOf(c);
  const page = panelTextRows(size, bodyRows(size));
  const steps: Record<Step, number> = {
    up: -1,
    down: 1,
    pageup: -page,
    pagedown: page,
    home: -lines,
    end: lines,
  };
  const last = panel.kind === 'choices' ? lines - 1 : Math.max(0, lines - page);
  const scroll = Math.max(0, Math.min(last, panel.scroll + steps[step]));
  c.ui.set({ panel: { ...panel, scroll } });
}

/** Moves a text sideways, where its lines are longer than the panel. */
export function scrollSideways({ ui }: ViewContext, by: number): void {
  const { panel } = ui.state;
  if (panel?.kind !== 'text') return;
  const left = Math.min((panel.left ?? 0) + by, mostLeft(panel, panelTextCells(ui.size)));
  const { left: _, ...unmoved } = panel;
  ui.set({ panel: left > 0 ? { ...unmoved, left } : unmoved });
}

function linesOf({ ui, keymap }: ViewContext): number {
  const { panel, view } = ui.state;
  if (panel === null) return 0;
  if (panel.kind === 'text') return panelLines(panel, panelTextCells(ui.size)).length;
  if (panel.kind === 'choices') return panel.choices.length;
  return helpLines(keymap.help(view, panel.filter), helpColumns(ui.size).help).length;
}
