// Clicks of the mouse: a title of the header shows its view, a click on the body is the view's: a row is
// selected and, when it was already, opened, a column's title sorts by it. With a question, a field or a panel open a
// click does nothing: it must not answer what it did not aim at.

import { widthOf } from '../draw/cells.ts';
import type { Controller } from '../model/ui/controller.ts';
import { bodyRows, fits, HEADER_ROWS, type Place } from '../model/ui/layout.ts';
import { headerParts } from './components/header.tsx';

export function click(c: Controller, { x, y }: Place) {
  const { state, size } = c;
  if (state.confirm !== null || state.field !== null || state.panel !== null || !fits(size)) return;
  if (y === 0) return header(c, x);
  const row = y - HEADER_ROWS;
  if (row >= 0 && row < bodyRows(size)) state.view.click(c, { x, y: row });
}

/** The title that stands at `x` belongs to the last key before it. */
function header(c: Controller, x: number) {
  let at = 0;
  let titles = 0;
  const { left } = headerParts(c, c.state.view, c.size.columns, c.state.readonly, c.session.utc);
  for (const span of left) {
    if (span.style === 'key') titles++;
    at += widthOf(span.text);
    if (at <= x) continue;
    const view = c.tabs[titles - 1];
    if (view !== undefined) c.show(view);
    return;
  }
}
