// Colours by meaning. A style has a code for 256 colours, one for 16, and attributes that carry it without colours:
// nothing is expressed by colour alone. The depth comes from the environment, once at the start.

import type { ThemeName } from '../model/ui/config.ts';
import { toAscii } from './cells.ts';

export type StyleName =
  | 'text'
  | 'strong'
  | 'muted'
  | 'faint'
  | 'frame'
  | 'title'
  | 'accent'
  | 'good'
  | 'warn'
  | 'bad'
  | 'key'
  | 'brand'
  | 'tab'
  | 'hit'
  | 'miss'
  | 'pass'
  | 'synth'
  | 'line1'
  | 'line2'
  | 'tag'
  | 'banner'
  | 'cursor';

/** Backgrounds of whole rows. */
export type FillName = 'bar' | 'selected' | 'banner';

export type ColorDepth = 'none' | '16' | '256';

interface Style {
  fg256?: number;
  fg16?: number;
  bg256?: number;
  bg16?: number;
  bold?: boolean;
  inverse?: boolean;
  underline?: boolean;
}

const STYLES: Readonly<Record<StyleName, Style>> = {
  text: {},
  strong: { bold: true },
  muted: { fg256: 247, fg16: 37 },
  faint: { fg256: 242, fg16: 90 },
  frame: { fg256: 240, fg16: 90 },
  title: { fg256: 252, bold: true },
  accent: { fg256: 81, fg16: 36 },
  good: { fg256: 114, fg16: 32 },
  warn: { fg256: 221, fg16: 33, bold: true },
  bad: { fg256: 210, fg16: 31, bold: true },
  key: { fg256: 81, fg16: 36, bold: true },
  brand: { fg256: 16, fg16: 30, bg256: 81, bg16: 46, bold: true, inverse: true },
  tab: { fg256: 231, fg16: 97, bold: true, underline: true },
  hit: { fg256: 114, fg16: 32 },
  miss: { fg256: 221, fg16: 33 },
  pass: { fg256: 176, fg16: 35 },
  synth: { fg256: 111, fg16: 34 },
  line1: { fg256: 81, fg16: 36 },
  line2: { fg256: 114, fg16: 32 },
  tag: { fg256: 110, fg16: 36 },
  banner: { fg256: 16, fg16: 30, bold: true },
  cursor: { inverse: true },
};

/** For a white or light grey background: each readable on it, and on the fills below. */
const LIGHT: Readonly<Partial<Record<StyleName, Style>>> = {
  muted: { fg256: 239, fg16: 90 },
  faint: { fg256: 241, fg16: 90 },
  frame: { fg256: 246, fg16: 90 },
  title: { fg256: 235, fg16: 30, bold: true },
  accent: { fg256: 25, fg16: 34 },
  good: { fg256: 22, fg16: 32 },
  warn: { fg256: 94, fg16: 35, bold: true },
  bad: { fg256: 124, fg16: 31, bold: true },
  key: { fg256: 25, fg16: 34, bold: true },
  brand: { fg256: 231, fg16: 97, bg256: 25, bg16: 44, bold: true, inverse: true },
  tab: { fg256: 16, fg16: 30, bold: true, underline: true },
  hit: { fg256: 22, fg16: 32 },
  miss: { fg256: 94, fg16: 33 },
  pass: { fg256: 90, fg16: 35 },
  synth: { fg256: 19, fg16: 34 },
  line1: { fg256: 25, fg16: 34 },
  line2: { fg256: 28, fg16: 32 },
  tag: { fg256: 24, fg16: 36 },
};

/** Only black, white and the bright colours, each with its own attributes. */
const CONTRAST: Readonly<Partial<Record<StyleName, Style>>> = {
  muted: { fg256: 231, fg16: 97 },
  faint: { fg256: 255, fg16: 37 },
  frame: { fg256: 255, fg16: 97 },
  title: { fg256: 231, fg16: 97, bold: true, underline: true },
  accent: { fg256: 51, fg16: 96, bold: true },
  good: { fg256: 46, fg16: 92, bold: true },
  warn: { fg256: 226, fg16: 93, bold: true, underline: true },
  bad: { fg256: 231, fg16: 97, bg256: 160, bg16: 41, bold: true },
  key: { fg256: 226, fg16: 93, bold: true },
  hit: { fg256: 46, fg16: 92, bold: true },
  miss: { fg256: 226, fg16: 93, bold: true },
  pass: { fg256: 201, fg16: 95, bold: true },
  synth: { fg256: 51, fg16: 96, bold: true },
  tag: { fg256: 51, fg16: 96 },
};

const FILLS: Readonly<Record<FillName, Style>> = {
  bar: { bg256: 235 },
  selected: { bg256: 238, bg16: 44, inverse: true },
  banner: { bg256: 221, bg16: 43, inverse: true },
};

const LIGHT_FILLS: Readonly<Record<FillName, Style>> = {
  bar: { bg256: 255 },
  selected: { bg256: 252, bg16: 46, inverse: true },
  banner: { bg256: 222, bg16: 43, inverse: true },
};

/** Colours for a dark or light background, or with more contrast. */
export type Palette = 'dark' | 'light' | 'high-contrast';

interface Colours {
  styles: Readonly<Record<StyleName, Style>>;
  fills: Readonly<Record<FillName, Style>>;
}

const PALETTES: Readonly<Record<Palette, Colours>> = {
  dark: { styles: STYLES, fills: FILLS },
  light: { styles: { ...STYLES, ...LIGHT }, fills: LIGHT_FILLS },
  'high-contrast': { styles: { ...STYLES, ...CONTRAST }, fills: FILLS },
};

interface BorderGlyphs {
  topLeft: string;
  top: string;
  topRight: string;
  right: string;
  bottomRight: string;
  bottom: string;
  bottomLeft: string;
  left: string;
}

function borderGlyphs(
  horizontal: string,
  vertical: string,
  [topLeft, topRight, bottomLeft, bottomRight]: readonly [string, string, string, string],
): BorderGlyphs {
  const sides = { top: horizontal, bottom: horizontal, left: vertical, right: vertical };
  return { ...sides, topLeft, topRight, bottomLeft, bottomRight };
}

export interface Glyphs {
  horizontal: string;
  vertical: string;
  corners: readonly [string, string, string, string];
  /** The same for Ink's Box. */
  box: BorderGlyphs;
  /** Shades of a bar from empty to full. */
  bar: { full: string; empty: string; parts: readonly string[] };
  bullet: string;
  up: string;
  down: string;
  arrowUp: string;
  pointer: string;
  folded: string;
  unfolded: string;
  ellipsis: string;
  dash: string;
  caret: string;
  /** Are braille charts possible? */
  braille: boolean;
}

const UNICODE: Glyphs = {
  horizontal: '─',
  vertical: '│',
  corners: ['╭', '╮', '╰', '╯'],
  box: borderGlyphs('─', '│', ['╭', '╮', '╰', '╯']),
  bar: { full: '█', empty: '░', parts: ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] },
  bullet: '●',
  up: '▲',
  down: '▼',
  arrowUp: '↑',
  pointer: '▸',
  folded: '▸',
  unfolded: '▾',
  ellipsis: '…',
  dash: '–',
  caret: '▲',
  braille: true,
};

const ASCII: Glyphs = {
  horizontal: '-',
  vertical: '|',
  corners: ['+', '+', '+', '+'],
  box: borderGlyphs('-', '|', ['+', '+', '+', '+']),
  bar: { full: '#', empty: '.', parts: [''] },
  bullet: '*',
  up: '^',
  down: 'v',
  arrowUp: 'Up',
  pointer: '>',
  folded: '+',
  unfolded: '-',
  ellipsis: '~',
  dash: '-',
  caret: '^',
  braille: false,
};

/** A style as the properties of Ink's Text. */
export interface TextStyle {
  color?: string;
  backgroundColor?: string;
  bold?: true;
  underline?: true;
  inverse?: true;
}

export interface Theme {
  depth: ColorDepth;
  glyphs: Glyphs;
  /** The text in characters of the terminal. */
  text(text: string): string;
  /** Properties of Ink's Text for a style on a fill. */
  style(style: StyleName | undefined, fill?: FillName): TextStyle;
  /** Opening SGR sequence of a style on a fill, '' for plain text. */
  open(style: StyleName | undefined, fill: FillName | undefined): string;
}

export function makeTheme(
  depth: ColorDepth,
  ascii: boolean,
  attributes = true,
  palette: Palette = 'dark',
): Theme {
  const { styles, fills } = PALETTES[palette];
  const look = (style: StyleName | undefined, fill: FillName | undefined): Look =>
    lookOf(
      depth,
      attributes,
      style === undefined ? {} : styles[style],
      fill === undefined ? {} : fills[fill],
    );
  const opened = new Map<string, string>();
  const properties = new Map<string, TextStyle>();
  return {
    depth,
    glyphs: ascii ? ASCII : UNICODE,
    text: ascii ? toAscii : (text) => text,
    style: (style, fill) =>
      kept(properties, `${style ?? ''}/${fill ?? ''}`, () => textStyle(look(style, fill), depth)),
    open: (style, fill) =>
      kept(opened, `${style ?? ''}/${fill ?? ''}`, () => openingSgr(look(style, fill), depth)),
  };
}

function kept<T>(memo: Map<string, T>, key: string, make: () => T): T {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const made = make();
  memo.set(key, made);
  return made;
}

/** Settings of the operator's file; the environment decides where they are absent. */
export interface ThemeSettings {
  /** `default` is light if the terminal reports a light background. */
  name?: ThemeName;
  ascii?: boolean | null;
}

/** NO_COLOR and TERM=dumb win, then FORCE_COLOR, then the description of the terminal. */
export function themeFromEnv(env: NodeJS.ProcessEnv, wanted: ThemeSettings = {}): Theme {
  const term = env.TERM ?? '';
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const ascii =
    wanted.ascii ??
    (env.PROXYD_ASCII === '1' || term === 'dumb' || term === 'linux' || !/utf-?8/i.test(locale));
  const depth = wanted.name === 'none' ? 'none' : depthFromEnv(env, term);
  return makeTheme(depth, ascii, term !== 'dumb', paletteOf(env, wanted.name ?? 'default'));
}

/** COLORFGBG is "foreground;background" or "foreground;other;background" in the sixteen colours; 7 and 15 are white.
 * Terminals that do not set it are taken to be dark, as most are. */
function paletteOf(env: NodeJS.ProcessEnv, name: ThemeName): Palette {
  if (name === 'light' || name === 'high-contrast') return name;
  return name === 'default' && /;(?:7|15)$/.test(env.COLORFGBG ?? '') ? 'light' : 'dark';
}

function depthFromEnv(env: NodeJS.ProcessEnv, term: string): ColorDepth {
  if ((env.NO_COLOR ?? '') !== '') return 'none';
  const force = env.FORCE_COLOR;
  if (force === '0' || force === 'false') return 'none';
  if (force === '1') return '16';
  if (force !== undefined && force !== '') return '256';
  if (term === 'dumb' || term === '') return 'none';
  if (/256|direct|kitty|ghostty|alacritty/.test(term) || /truecolor|24bit/.test(env.COLORTERM ?? ''))
    return '256';
  return '16';
}

/** A style on a fill, for one depth: colours are palette numbers with 256 colours, SGR codes with 16. */
interface Look {
  bold: boolean;
  underline: boolean;
  inverse: boolean;
  fg: number | undefined;
  bg: number | undefined;
}

function lookOf(depth: ColorDepth, attributes: boolean, style: Style, fill: Style): Look {
  const none = depth === 'none';
  const inverse = none
    ? attributes && (style.inverse === true || fill.inverse === true)
    : style.inverse === true && style.bg256 === undefined;
  return {
    bold: attributes && style.bold === true,
    underline: attributes && style.underline === true,
    inverse,
    fg: none ? undefined : depth === '256' ? style.fg256 : style.fg16,
    bg: none ? undefined : depth === '256' ? (style.bg256 ?? fill.bg256) : (style.bg16 ?? fill.bg16),
  };
}

function openingSgr(look: Look, depth: ColorDepth): string {
  const out: number[] = [];
  if (look.bold) out.push(1);
  if (look.underline) out.push(4);
  if (look.inverse) out.push(7);
  if (look.fg !== undefined) out.push(...(depth === '256' ? [38, 5, look.fg] : [look.fg]));
  if (look.bg !== undefined) out.push(...(depth === '256' ? [48, 5, look.bg] : [look.bg]));
  return out.length === 0 ? '' : `\x1b[${out.join(';')}m`;
}

/** Ink's names of the colours 0 to 7. */
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

function textStyle(look: Look, depth: ColorDepth): TextStyle {
  // SGR 30 to 37 and 40 to 47 are the plain colours, 90 to 97 and 100 to 107 the bright ones.
  const name = (code: number): string =>
    depth === '256' ? `ansi256(${code})` : `${NAMES[code % 10]}${code >= 90 ? 'Bright' : ''}`;
  return {
    ...(look.fg === undefined ? {} : { color: name(look.fg) }),
    ...(look.bg === undefined ? {} : { backgroundColor: name(look.bg) }),
    ...(look.bold ? { bold: true } : {}),
    ...(look.underline ? { underline: true } : {}),
    ...(look.inverse ? { inverse: true } : {}),
  };
}
