// Styled rows as a pane: paints them with the theme of the context.

import { type ReactNode, useContext } from 'react';
import { ThemeContext } from '../hooks/contexts.ts';
import { paint, type Row } from '../spans.ts';
import type { FillName } from '../theme.ts';
import { Pane } from './pane.tsx';

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
  const painted: string[] = [];
  for (let i = 0; i < height; i++) painted.push(paint(rows[i] ?? [], width, theme, fills?.get(i) ?? fill));
  return <Pane rows={painted} width={width} height={height} />;
}
