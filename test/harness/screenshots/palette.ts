// The terminal's colours in the pictures: the 16 names, the cube and the greys, as every terminal has them.

/** Default colours of text and background. */
export interface Ground {
  background: string;
  foreground: string;
}

export const DARK_GROUND: Ground = { background: '#12161e', foreground: '#d3dae3' };
export const LIGHT_GROUND: Ground = { background: '#ffffff', foreground: '#1c222c' };

const NAMED = [
  '#1c222c',
  '#e06c75',
  '#8fce85',
  '#e5c07b',
  '#61afef',
  '#c792ea',
  '#56c8d8',
  '#d3dae3',
  '#5c6773',
  '#ff8b92',
  '#b5e8a9',
  '#ffd68a',
  '#8cc8ff',
  '#dfb3ff',
  '#83e4f1',
  '#ffffff',
] as const;

/** Hex colour of a palette index 0..255. */
export function paletteColor(index: number): string {
  if (index < 16) return NAMED[index] as string;
  if (index >= 232) {
    const level = 8 + (index - 232) * 10;
    return hex(level, level, level);
  }
  const i = index - 16;
  const step = (n: number): number => (n === 0 ? 0 : 55 + n * 40);
  return hex(step(Math.floor(i / 36)), step(Math.floor(i / 6) % 6), step(i % 6));
}

export function hex(r: number, g: number, b: number): string {
  return `#${[r, g, b].map((n) => n.toString(16).padStart(2, '0')).join('')}`;
}
