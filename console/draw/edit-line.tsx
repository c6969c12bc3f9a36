// A line being edited, with its cursor.

import type { ReactNode } from 'react';
import type { Line } from '../model/ui/line-editor.ts';
import { widthOf } from './cells.ts';
import { Words } from './words.tsx';

/** Part of a Text. The line is scrolled so that its cursor is inside `width` cells. */
export function EditLine({ line, width }: { line: Line; width: number }): ReactNode {
  let from = 0;
  while (widthOf(line.text.slice(from, line.cursor)) >= width && from < line.cursor) {
    from += (line.text.codePointAt(from) as number) > 0xffff ? 2 : 1;
  }
  const rest = line.text.slice(line.cursor);
  const under = rest === '' ? ' ' : String.fromCodePoint(rest.codePointAt(0) as number);
  return (
    <>
      <Words>{line.text.slice(from, line.cursor)}</Words>
      <Words style="cursor">{under}</Words>
      <Words>{rest.slice(under.length)}</Words>
    </>
  );
}
