import { describe, expect, it } from 'vitest';
import {
  type FillName,
  makeTheme,
  type Palette,
  type StyleName,
  themeFromEnv,
} from '../../../console/draw/theme.ts';
import { DARK_GROUND, type Ground, LIGHT_GROUND, paletteColor } from '../../harness/screenshots/palette.ts';

const WORDS: readonly StyleName[] = [
  'text',
  'strong',
  'muted',
  'faint',
  'title',
  'accent',
  'good',
  'warn',
  'bad',
  'key',
  'brand',
  'tab',
  'hit',
  'miss',
  'pass',
  'synth',
  'tag',
];

/** Relative luminance (WCAG 2). */
function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function shown(palette: Palette, style: StyleName, fill: FillName | undefined, ground: Ground): number {
  const { color, backgroundColor } = makeTheme('256', false, true, palette).style(style, fill);
  const of = (name: string | undefined, none: string): string =>
    name === undefined ? none : paletteColor(Number(/\((\d+)\)/.exec(name)?.[1]));
  return contrast(of(color, ground.foreground), of(backgroundColor, ground.background));
}

describe('the themes', () => {
  it.each([
    ['dark', DARK_GROUND, 3],
    ['high-contrast', DARK_GROUND, 4.5],
    ['light', LIGHT_GROUND, 4.5],
  ] as const)('%s: words can be read on the ground', (palette, ground, least) => {
    for (const style of WORDS) {
      expect([style, shown(palette, style, undefined, ground)]).toEqual([
        style,
        expect.toSatisfy((ratio: number) => ratio >= least),
      ]);
    }
  });

  it('light: words can be read in rows that are filled', () => {
    for (const fill of ['bar', 'selected'] as const)
      for (const style of WORDS)
        expect(shown('light', style, fill, LIGHT_GROUND), `${style} on ${fill}`).toBeGreaterThanOrEqual(3.5);
  });

  it('are chosen by the operator, or by what the terminal says of its ground', () => {
    const good = (env: NodeJS.ProcessEnv, name?: 'default' | 'dark' | 'light'): string =>
      themeFromEnv(
        { TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
        name === undefined ? {} : { name },
      ).open('good', undefined);
    const dark = good({});
    const light = good({}, 'light');
    expect(light).not.toBe(dark);
    expect(good({ COLORFGBG: '0;15' })).toBe(light);
    expect(good({ COLORFGBG: '0;default;7' })).toBe(light);
    expect(good({ COLORFGBG: '15;0' })).toBe(dark);
    expect(good({ COLORFGBG: '0;15' }, 'dark')).toBe(dark);
    expect(good({ COLORFGBG: '15;0' }, 'light')).toBe(light);
    expect(good({ COLORFGBG: '0;15', NO_COLOR: '1' })).toBe('');
  });
});
