// Rows of styled text that changes with the data. Ink caches each text that it measures, without a bound, so it
// measures constants here: `Lines` are Ink's own text, a block of blanks that a Transform replaces, and cost Ink some
// microseconds per character; `Rows` is for text that is long or changes many times a second: the sink paints it
// (pane-table.ts).

import { type ReactNode, useContext, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { PanesContext, ThemeContext } from './contexts.ts';
import { Box, type DOMElement, Transform } from './ink.ts';
import { type Corner, PaneContent } from './pane-table.ts';
import { markCut, paint, type Row } from './spans.ts';
import type { FillName } from './theme.ts';

export interface RowsProps {
  rows: readonly Row[];
  width: number;
  height: number;
  /** Background of single rows by their index. */
  fills?: ReadonlyMap<number, FillName>;
  fill?: FillName;
}

/** Blanks for Ink to measure: ASCII is fast. */
export function block(width: number, height: number): string {
  return Array.from({ length: height }, () => ' '.repeat(width)).join('\n');
}

/** Rows in Ink's text. Unchanged rows cost Ink nothing. */
export function Lines({ rows, width, height, fills, fill }: RowsProps): ReactNode {
  const theme = useContext(ThemeContext);
  const blanks = useMemo(() => block(width, height), [width, height]);
  const painted = rows
    .slice(0, height)
    .map((row, i) => paint(markCut(row, width), width, theme, fills?.get(i) ?? fill).trimEnd())
    .join('\n');
  const element = useMemo(() => {
    const lines = painted.split('\n');
    return <Transform transform={(_blank, row) => lines[row] ?? ''}>{blanks}</Transform>;
  }, [painted, blanks]);
  return width <= 0 || height <= 0 ? null : element;
}

/** Rows that the sink paints. They are passed on during the render, which is safe because they are read only when
 * the frame is painted, and a repeated render passes the same. */
export function Rows({ rows, width, height, fills, fill }: RowsProps): ReactNode {
  const theme = useContext(ThemeContext);
  const panes = useContext(PanesContext);
  const [placeholder] = useState(() => panes.claim());
  // A layout effect: its cleanup precedes the frame without this pane.
  useLayoutEffect(() => () => panes.release(placeholder), [panes, placeholder]);
  const box = useRef<DOMElement>(null);
  panes.set(placeholder, {
    content: new PaneContent(rows, width, theme, (row) => fills?.get(row) ?? fill),
    corner: () => cornerOf(box.current),
  });
  // One element per size: an unchanged element costs Ink no frame.
  const element = useMemo(
    () => (
      <Box ref={box} flexShrink={0}>
        <Transform transform={(blanks) => placeholder.repeat(blanks.length)}>
          {block(width, height)}
        </Transform>
      </Box>
    ),
    [placeholder, width, height],
  );
  return width <= 0 || height <= 0 ? null : element;
}

/** Position of a box in Ink's layout; null while Ink has none. */
function cornerOf(box: DOMElement | null): Corner | null {
  if (box === null) return null;
  const corner = { left: 0, top: 0 };
  for (let node: DOMElement | undefined = box; node !== undefined; node = node.parentNode) {
    corner.left += node.yogaNode?.getComputedLeft() ?? 0;
    corner.top += node.yogaNode?.getComputedTop() ?? 0;
  }
  return corner;
}
