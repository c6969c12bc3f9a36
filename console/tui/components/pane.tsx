// A rectangle of ready rows inside an Ink layout. Ink measures a constant placeholder of blanks and the
// rows are put in by a transform afterwards: Ink's measuring caches never see a changing text, and so do
// not grow. Rows come painted and cut to `width`.

import { Text, Transform } from 'ink';
import type { ReactNode } from 'react';

export interface PaneProps {
  rows: readonly string[];
  width: number;
  height: number;
}

export function Pane({ rows, width, height }: PaneProps): ReactNode {
  if (width <= 0 || height <= 0) return null;
  const blank = ' '.repeat(width);
  const placeholder = Array.from({ length: height }, () => blank).join('\n');
  return (
    <Transform transform={(line, index) => rows[index] ?? line}>
      <Text>{placeholder}</Text>
    </Transform>
  );
}
