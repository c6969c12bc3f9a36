// Frames that the chart library has drawn on a canvas of its own, read back as cells: the braille characters and the
// 256-colour numbers they were drawn in, which here name what was drawn and no colour.

export interface DrawnCell {
  char: string;
  /** -1 for what is no braille. */
  color: number;
}

export function drawnCells(frame: string): DrawnCell[][] {
  return frame.split('\n').map((line) => {
    const cells: DrawnCell[] = [];
    let color = -1;
    for (const [, code, char] of line.matchAll(/\x1b\[([0-9;]*)m|([^\x1b])/g)) {
      if (char !== undefined) cells.push({ char, color: isBraille(char) ? color : -1 });
      else color = code?.startsWith('38;5;') === true ? Number(code.slice(5)) : -1;
    }
    return cells;
  });
}

function isBraille(char: string): boolean {
  const code = char.charCodeAt(0);
  return code >= 0x2800 && code <= 0x28ff;
}
