// A terminal's cells as SVG. Letters are text; lines, blocks and braille are drawn, because fonts leave
// gaps between rows or lack them. Numbers are rounded, so that the output is the same on every machine.

import type { IBufferCell, Terminal } from '@xterm/headless';
import { DARK_GROUND, type Ground, hex, paletteColor } from './palette.ts';

/** DejaVu Sans Mono advances 1233/2048 em a character. */
const FONT_SIZE = 16;
const CELL = (FONT_SIZE * 1233) / 2048;
const LINE = 20;
const BASELINE = 15;
const MARGIN = 16;
const TITLE_BAR = 36;

interface Look {
  char: string;
  width: number;
  fg: string;
  bg: string;
  bold: boolean;
  underline: boolean;
}

export function gridToSvg(terminal: Terminal, title: string, ground = DARK_GROUND): string {
  const { cols, rows } = terminal;
  const width = Math.ceil(cols * CELL + 2 * MARGIN);
  const height = rows * LINE + TITLE_BAR + MARGIN;
  const out: string[] = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans Mono" font-size="${FONT_SIZE}">`,
    `<rect width="${width}" height="${height}" rx="10" fill="${ground.background}"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (c, i) => `<circle cx="${20 + i * 20}" cy="18" r="6" fill="${c}"/>`,
    ),
    `<text x="${width / 2}" y="23" text-anchor="middle" font-size="13" fill="#7d8794">${xml(title)}</text>`,
    `<g transform="translate(${MARGIN} ${TITLE_BAR})">`,
  ];
  for (let y = 0; y < rows; y++) out.push(...rowToSvg(looks(terminal, y, ground), y, ground));
  out.push('</g>', '</svg>', '');
  return out.join('\n');
}

function looks(terminal: Terminal, y: number, ground: Ground): Look[] {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.baseY + y);
  const out: Look[] = [];
  let cell: IBufferCell | undefined;
  for (let x = 0; x < terminal.cols; x++) {
    cell = line?.getCell(x, cell);
    if (cell === undefined) continue;
    let fg = color(cell, true, ground);
    let bg = color(cell, false, ground);
    if (cell.isInverse()) [fg, bg] = [bg, fg];
    out.push({
      char: cell.getChars() || ' ',
      width: cell.getWidth(),
      fg,
      bg,
      bold: cell.isBold() !== 0,
      underline: cell.isUnderline() !== 0,
    });
  }
  return out;
}

function color(cell: IBufferCell, front: boolean, ground: Ground): string {
  const value = front ? cell.getFgColor() : cell.getBgColor();
  if (front ? cell.isFgPalette() : cell.isBgPalette()) return paletteColor(value);
  if (front ? cell.isFgRGB() : cell.isBgRGB())
    return hex((value >> 16) & 255, (value >> 8) & 255, value & 255);
  return front ? ground.foreground : ground.background;
}

function rowToSvg(cells: readonly Look[], y: number, ground: Ground): string[] {
  const out: string[] = [];
  const top = y * LINE;
  for (const [from, to] of runs(cells, (a, b) => a.bg === b.bg)) {
    const { bg } = cells[from] as Look;
    // Half a pixel of overlap keeps neighbouring rows from showing a seam.
    if (bg !== ground.background) out.push(rect(from * CELL, top, (to - from) * CELL, LINE + 0.5, bg));
  }
  for (const [from, to] of runs(cells, alike)) {
    const look = cells[from] as Look;
    const text = cells
      .slice(from, to)
      .map((c) => c.char)
      .join('');
    if (look.underline) out.push(rect(from * CELL, top + LINE - 3, (to - from) * CELL, 1.5, look.fg));
    if (text.trim() === '') continue;
    const shade = SHADES.get(look.char);
    if (shade !== undefined) {
      out.push(rect(from * CELL, top, (to - from) * CELL, LINE, look.fg, shade));
      continue;
    }
    if (isDrawn(look.char)) {
      for (let x = from; x < to; x++) out.push(...draw((cells[x] as Look).char, x * CELL, top, look.fg));
      continue;
    }
    const lead = text.length - text.trimStart().length;
    const weight = look.bold ? ' font-weight="bold"' : '';
    out.push(
      `<text x="${num((from + lead) * CELL)}" y="${top + BASELINE}" fill="${look.fg}"${weight} xml:space="preserve">${xml(text.trim())}</text>`,
    );
  }
  return out;
}

/** Runs of neighbouring cells that `same` puts together, as [from, to). */
function runs(cells: readonly Look[], same: (a: Look, b: Look) => boolean): [number, number][] {
  const out: [number, number][] = [];
  let from = 0;
  for (let x = 1; x <= cells.length; x++) {
    if (x < cells.length && same(cells[from] as Look, cells[x] as Look)) continue;
    out.push([from, x]);
    from = x;
  }
  return out;
}

function alike(a: Look, b: Look): boolean {
  return (
    a.fg === b.fg &&
    a.bold === b.bold &&
    a.underline === b.underline &&
    isDrawn(a.char) === isDrawn(b.char) &&
    // Blocks are drawn as one rectangle: a seam a cell would show.
    ((!isBlock(a.char) && !isBlock(b.char)) || a.char === b.char) &&
    // Non-ASCII characters are drawn separately: a substitute glyph of another width must not shift the rest.
    isAscii(a.char) === isAscii(b.char) &&
    (isAscii(a.char) || isDrawn(a.char))
  );
}

/** Blocks that fill a cell, and how much of it. */
const SHADES: ReadonlyMap<string, number> = new Map([
  ['█', 1],
  ['▒', 0.6],
  ['░', 0.25],
]);

function isBlock(char: string): boolean {
  return SHADES.has(char);
}

function isAscii(char: string): boolean {
  return char.length === 1 && char.charCodeAt(0) < 0x7f;
}

function isDrawn(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  return (
    (code >= 0x2500 && code <= 0x259f) ||
    (code >= 0x2800 && code <= 0x28ff) ||
    code === 0x25ae ||
    code === 0x25af
  );
}

/** Box lines, blocks and braille at (x, y) of one cell. */
function draw(char: string, x: number, y: number, fill: string): string[] {
  const code = char.codePointAt(0) as number;
  const midX = x + CELL / 2;
  const midY = y + LINE / 2;
  const line = (d: string): string => `<path d="${d}" fill="none" stroke="${fill}" stroke-width="1.2"/>`;
  const n = num;
  if (code >= 0x2800) return braille(code - 0x2800, x, y, fill);
  switch (char) {
    case '─':
      return [line(`M${n(x)} ${n(midY)}H${n(x + CELL)}`)];
    case '│':
      return [line(`M${n(midX)} ${n(y)}V${n(y + LINE)}`)];
    case '╭':
      return [
        line(`M${n(midX)} ${n(y + LINE)}V${n(midY + 4)}Q${n(midX)} ${n(midY)} ${n(x + CELL)} ${n(midY)}`),
      ];
    case '╮':
      return [line(`M${n(midX)} ${n(y + LINE)}V${n(midY + 4)}Q${n(midX)} ${n(midY)} ${n(x)} ${n(midY)}`)];
    case '╰':
      return [line(`M${n(midX)} ${n(y)}V${n(midY - 4)}Q${n(midX)} ${n(midY)} ${n(x + CELL)} ${n(midY)}`)];
    case '╯':
      return [line(`M${n(midX)} ${n(y)}V${n(midY - 4)}Q${n(midX)} ${n(midY)} ${n(x)} ${n(midY)}`)];
    case '▮':
      return [rect(x + 1.5, y + 4, CELL - 3, LINE - 8, fill)];
    case '▯':
      return [
        `<rect x="${n(x + 2)}" y="${n(y + 4.5)}" width="${n(CELL - 4)}" height="${n(LINE - 9)}" fill="none" stroke="${fill}"/>`,
      ];
    default:
      // Lower eighths, with an overlap that hides the seam to the next cell, and eighths from the left.
      if (code >= 0x2581 && code <= 0x2587) {
        const high = (LINE * (code - 0x2580)) / 8;
        return [rect(x, y + LINE - high, CELL + 0.3, high, fill)];
      }
      if (code >= 0x2589 && code <= 0x258f) return [rect(x, y, (CELL * (0x2590 - code)) / 8, LINE, fill)];
      return [`<text x="${n(x)}" y="${n(y + BASELINE)}" fill="${fill}">${xml(char)}</text>`];
  }
}

const DOTS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 1],
  [1, 2],
  [0, 3],
  [1, 3],
] as const;

function braille(bits: number, x: number, y: number, fill: string): string[] {
  const out: string[] = [];
  DOTS.forEach(([column, row], bit) => {
    if ((bits & (1 << bit)) === 0) return;
    const cx = x + CELL * (0.25 + 0.5 * column);
    const cy = y + LINE * (0.125 + 0.25 * row);
    out.push(`<circle cx="${num(cx)}" cy="${num(cy)}" r="1.8" fill="${fill}"/>`);
  });
  return out;
}

function rect(x: number, y: number, width: number, height: number, fill: string, opacity = 1): string {
  const faint = opacity === 1 ? '' : ` fill-opacity="${opacity}"`;
  return `<rect x="${num(x)}" y="${num(y)}" width="${num(width)}" height="${num(height)}" fill="${fill}"${faint}/>`;
}

function num(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function xml(text: string): string {
  return text.replace(
    /[&<>"]/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] as string,
  );
}
