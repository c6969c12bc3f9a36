// Text in the theme's styles that is constant, or changes at the operator's pace.

import { Fragment, type ReactNode, useContext } from 'react';
import { ThemeContext } from './contexts.ts';
import { Box, Text } from './ink.ts';
import type { Row } from './spans.ts';
import type { FillName, StyleName } from './theme.ts';

export interface WordsProps {
  children: string;
  style?: StyleName | undefined;
  fill?: FillName | undefined;
}

export function Words({ children, style, fill }: WordsProps): ReactNode {
  const theme = useContext(ThemeContext);
  return (
    <Text {...theme.style(style, fill)} wrap="truncate-end">
      {theme.text(children)}
    </Text>
  );
}

/** A row in one line; an empty one is a blank line. */
export function Line({ row, fill }: { row: Row; fill?: FillName }): ReactNode {
  return (
    <Text wrap="truncate-end">
      {row.length === 0 ? ' ' : null}
      {row.map((s, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: spans have no names and no state
        <Fragment key={i}>
          <Words style={s.style} fill={fill}>
            {s.text}
          </Words>
        </Fragment>
      ))}
    </Text>
  );
}

/** A row on the background of bars, its children at both ends. */
export function Bar({ width, children }: { width: number; children: ReactNode }): ReactNode {
  const { backgroundColor } = useContext(ThemeContext).style(undefined, 'bar');
  return (
    <Box
      width={width}
      height={1}
      flexShrink={0}
      justifyContent="space-between"
      {...(backgroundColor === undefined ? {} : { backgroundColor })}
    >
      {children}
    </Box>
  );
}
