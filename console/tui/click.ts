// Clicks of the mouse: a title of the header shows its view, a click on the body goes to the view: it selects a row,
// opens a selected one, sorts by a column's title. With a question, a field or a panel open a click does nothing: it
// must not hit what is below.

import { widthOf } from '../draw/cells.ts';
import { bodyRows, fits, HEADER_ROWS, type Place } from '../model/ui/layout.ts';
import { showView, tabsOf } from '../model/ui/navigation.ts';
import type { ViewContext } from '../model/ui/view.ts';
import { headerParts } from './components/header.tsx';

export function click(c: ViewContext, { x, y }: Place) {
  const { state, size } = c.ui;
  if (state.confirm !== null || state.field !== null || state.panel !== null || !fits(size)) return;
  if (y === 0) return header(c, x);
  const row = y - HEADER_ROWS;
  if (row >= 0 && row < bodyRows(size)) c.view.click(c, { x, y: row });
}

/** The title at `x` belongs to the last key before it. */
function header(c: ViewContext, x: number) {
  let at = 0;
  let titles = 0;
  const { left } = headerParts(c, c.view, c.ui.size.columns, c.ui.state.readonly, c.session.utc);
  for (const span of left) {
    if (span.style === 'key') titles++;
    at += widthOf(span.text);
    if (at <= x) continue;
    const view = tabsOf(c)[titles - 1];
    if (view !== undefined) showView(c, view);
    return;
  }
}
