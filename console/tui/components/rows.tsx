// Styled rows in a rectangle of Ink's layout. What Ink gets is a constant placeholder (pane-table.ts); the
// rows are handed to the table while rendering, which is allowed because nothing else reads them before
// the frame is painted and a second render hands over the same.

import { type ReactNode, useContext, useLayoutEffect, useMemo, useState } from 'react';
import { PanesContext, ThemeContext } from '../hooks/contexts.ts';
import { Text } from '../ink.ts';
import { PaneContent } from '../pane-table.ts';
import type { Row } from '../spans.ts';
import type { FillName } from '../theme.ts';

export interface RowsProps {
  rows: readonly Row[];
  width: number;
  height: number;
  /** Background of single rows by their index. */
  fills?: ReadonlyMap<number, FillName>;
  fill?: FillName;
}

export function Rows({ rows, width, height, fills, fill }: RowsProps): ReactNode {
  const theme = useContext(ThemeContext);
  const panes = useContext(PanesContext);
  const [letter] = useState(() => panes.claim());
  // A layout effect: its cleanup runs before the frame without this pane is painted.
  useLayoutEffect(() => () => panes.release(letter), [panes, letter]);
  panes.set(letter, new PaneContent(rows, width, theme, (row) => fills?.get(row) ?? fill));
  const placeholder = useMemo(
    () => Array.from({ length: height }, () => letter.repeat(width)).join('\n'),
    [letter, width, height],
  );
  return width <= 0 || height <= 0 ? null : <Text>{placeholder}</Text>;
}

export interface OverProps {
  rows: readonly Row[];
  left: number;
  top: number;
  width: number;
}

/** Rows over whatever is at that place of the screen. */
export function Over({ rows, left, top, width }: OverProps): ReactNode {
  const theme = useContext(ThemeContext);
  const panes = useContext(PanesContext);
  const [letter] = useState(() => panes.claim());
  // A layout effect: its cleanup runs before the frame without this pane is painted.
  useLayoutEffect(() => () => panes.release(letter), [panes, letter]);
  panes.setOverlay(letter, { left, top, content: new PaneContent(rows, width, theme) });
  return null;
}
