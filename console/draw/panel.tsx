// A box with a title, and a remark at the right end of its top border.

import { type ReactNode, useContext } from 'react';
import { widthOf, wordsFit } from './cells.ts';
import { ThemeContext } from './contexts.ts';
import { Box, Text } from './ink.ts';
import { block, Rows } from './rows.tsx';
import { type Row, rowWidth, span } from './spans.ts';
import type { StyleName, Theme } from './theme.ts';
import { Words } from './words.tsx';

export interface PanelProps {
  title: string;
  /** Makes the remark; `room` is how many cells it may have. */
  remark?: ((room: number) => ReactNode) | undefined;
  width: number;
  height: number;
  style?: StyleName;
  /** Does the panel lie over others? */
  over?: boolean;
  children?: ReactNode;
}

/** Cells of the top border around the title: a corner, a rule and a blank, a blank, a rule and a corner. */
const TITLE_EDGES = 6;
/** A remark has a blank on either side. */
const REMARK_EDGES = 2;

export function Panel({
  title,
  remark,
  width,
  height,
  style = 'frame',
  over = false,
  children,
}: PanelProps): ReactNode {
  const theme = useContext(ThemeContext);
  const [topLeft, topRight] = theme.glyphs.corners;
  const rule = theme.glyphs.horizontal;
  const shown = wordsFit(title, width - TITLE_EDGES, theme.glyphs.ellipsis);
  return (
    <Box flexDirection="column" width={width} height={height} flexShrink={0}>
      {over ? (
        <Box position="absolute">
          <Text>{block(width, height)}</Text>
        </Box>
      ) : null}
      <Box height={1} flexShrink={0}>
        <Words style={style}>{`${topLeft}${rule} `}</Words>
        <Words style="title">{shown}</Words>
        <Words> </Words>
        <Box
          flexGrow={1}
          {...borders(theme, style)}
          borderLeft={false}
          borderRight={false}
          borderBottom={false}
        />
        {remark?.(width - widthOf(shown) - TITLE_EDGES - REMARK_EDGES)}
        <Words style={style}>{`${rule}${topRight}`}</Words>
      </Box>
      <Box
        {...borders(theme, style)}
        borderTop={false}
        flexDirection="column"
        flexGrow={1}
        paddingX={1}
        overflow="hidden"
      >
        {children}
      </Box>
    </Box>
  );
}

/** Ink's part of a panel's border. The object of glyphs must stay the same: Ink forgets which sides are off when it
 * changes. */
function borders(theme: Theme, style: StyleName) {
  const { color } = theme.style(style);
  return { borderStyle: theme.glyphs.box, ...(color === undefined ? {} : { borderColor: color }) };
}

/** A remark in a panel's border, if there is room for it. */
export function Remark({ row, room }: { row: Row; room: number }): ReactNode {
  const width = rowWidth(row);
  return width === 0 || width > room ? null : (
    <Rows rows={[[span(' '), ...row, span(' ')]]} width={width + 2} height={1} />
  );
}
