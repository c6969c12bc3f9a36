// Search in the panel that is open: lines of a text, one match after the other; rows of choices and of the help are
// narrowed to those that match.

import { panelLines } from './folded-lines.ts';
import { bodyRows, panelTextCells, panelTextRows, type Size } from './layout.ts';
import { lineOf } from './line-editor.ts';
import type { Panel, TextPanel, ToneLine, ToneText } from './panel.ts';
import type { ViewContext } from './view.ts';

/** Lines kept above a match. */
const ABOVE = 3;

/** Follows the typing; Escape ends the search. */
export function searchPanel({ ui, fields }: ViewContext): void {
  const { panel } = ui.state;
  if (panel === null) return;
  const follow = (text: string): void => {
    const open = ui.state.panel;
    if (open !== null) ui.set({ panel: searched(open, text, ui.size) });
  };
  const before = panel.kind === 'text' ? (panel.find?.text ?? '') : (panel.filter ?? '');
  fields.open({ kind: 'search', follow }, lineOf(before));
}

/** Goes to the next match of a text, or the previous one, around its ends. */
export function nextInPanel({ ui }: ViewContext, back: boolean) {
  const { panel } = ui.state;
  if (panel?.kind !== 'text') return ui.notify('warn', 'no matches here: n and N work in texts');
  const { find } = panel;
  if (find === undefined) return ui.notify('warn', 'no search yet: press /');
  const at = matchingLines(panelLines(panel, panelTextCells(ui.size)), find.text);
  const next = back ? at.findLast((i) => i < find.line) : at.find((i) => i > find.line);
  const line = next ?? (back ? at.at(-1) : at[0]);
  if (line === undefined) return ui.notify('warn', `"${find.text}" is not in this text`);
  ui.set({ panel: { ...panel, find: { ...find, line }, scroll: scrollTo(panel, line, ui.size) } });
}

function searched(panel: Panel, text: string, size: Size): Panel {
  if (panel.kind === 'help') return { ...panel, filter: text, scroll: 0 };
  if (panel.kind === 'choices') {
    const all = panel.all ?? panel.choices;
    const choices = all.filter(({ label, note }) => matcher(text).test(`${label} ${note}`));
    return { ...panel, all, choices, filter: text, scroll: 0 };
  }
  const { find, ...rest } = panel;
  if (text === '') return rest;
  const at = matchingLines(panelLines(panel, panelTextCells(size)), text);
  // While a search is typed it begins again from the line at the top.
  const from = find?.from ?? panel.scroll;
  const line = at.find((i) => i >= from) ?? at[0];
  return line === undefined
    ? { ...panel, find: { text, line: from, from } }
    : { ...panel, find: { text, line, from }, scroll: scrollTo(panel, line, size) };
}

function scrollTo(panel: TextPanel, line: number, size: Size): number {
  const lines = panelLines(panel, panelTextCells(size)).length;
  const last = Math.max(0, lines - panelTextRows(size, bodyRows(size)));
  return Math.max(0, Math.min(last, line - ABOVE));
}

function matcher(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');
}

/** Indices of the lines that contain the text in any case. */
export function matchingLines(lines: readonly ToneLine[], text: string): number[] {
  const found = matcher(text);
  return lines.flatMap((line, i) => (found.test(textOf(line)) ? [i] : []));
}

/** The line with its matches in a tone of their own. */
export function withMatches(line: ToneLine, text: string): ToneLine {
  const ranges = [...textOf(line).matchAll(new RegExp(matcher(text).source, 'gi'))].map(
    ({ 0: found, index }) => [index, index + found.length] as const,
  );
  if (ranges.length === 0) return line;
  let at = 0;
  return line.flatMap((piece): ToneText[] => {
    const from = at;
    at += piece.text.length;
    const out: ToneText[] = [];
    let done = from;
    const put = (to: number, found: boolean): void => {
      const part = piece.text.slice(done - from, to - from);
      if (part !== '') out.push({ ...piece, text: part, ...(found ? { tone: 'warn' as const } : {}) });
      done = to;
    };
    for (const [begin, end] of ranges) {
      if (end <= from || begin >= at) continue;
      put(Math.max(from, begin), false);
      put(Math.min(at, end), true);
    }
    put(at, false);
    return out.length === 0 ? [piece] : out;
  });
}

function textOf(line: ToneLine): string {
  return line.map((piece) => piece.text).join('');
}
