// Renders the views from the recorded session: the real screens on a fake terminal, a clock that this file
// moves, then SVG and PNG. Nothing in it depends on time, locale or terminal.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { type RenderedImage, Resvg } from '@resvg/resvg-js';
import { makeTheme } from '../../../console/draw/theme.ts';
import { parseRecording, type Recording } from '../../../console/model/session/recording.ts';
import { checkQuery, completeQuery } from '../../../console/model/ui/query-parser.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { compileQuery } from '../../../queries/compile-query.ts';
import { parseQuery } from '../../../queries/parse-query.ts';
import { Stage } from '../../console/stage.ts';
import { animatedPng, type Frame } from './animated-png.ts';
import { gridToSvg } from './grid-to-svg.ts';
import { DARK_GROUND, LIGHT_GROUND } from './palette.ts';
import { RECORDING } from './record.ts';
import { SCENES, type Scene, WHY_FILM } from './scenes.ts';

const FONT_DIR = '/usr/share/fonts/truetype/dejavu';
const FONTS = ['DejaVuSansMono.ttf', 'DejaVuSansMono-Bold.ttf'].map((name) => `${FONT_DIR}/${name}`);

/** Turns of the event loop before a picture is taken; four slices of the work in each. */
const TURNS = 25;

export async function shoot(): Promise<void> {
  const missing = FONTS.filter((font) => !existsSync(font));
  if (missing.length > 0)
    throw new Error(`${missing.join(' and ')} missing: apt-get install fonts-dejavu-core`);
  const recording = parseRecording(gunzipSync(readFileSync(RECORDING)).toString());
  const folder = new URL('../../../screenshots/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const scene of SCENES) {
    const stage = open(recording, scene);
    try {
      await scene.play(stage);
      // Sliced work has finished.
      for (let i = 0; i < TURNS; i++) await stage.settle();
      await stage.screen();
      const svg = gridToSvg(
        stage.terminal,
        scene.title,
        scene.palette === 'light' ? LIGHT_GROUND : DARK_GROUND,
      );
      writeFileSync(new URL(`${scene.name}.svg`, folder), svg);
      const png = render(svg, 1.5).asPng();
      writeFileSync(new URL(`${scene.name}.png`, folder), png);
      process.stdout.write(`${fileURLToPath(new URL(`${scene.name}.png`, folder))}\n`);
    } finally {
      stage.close();
    }
  }
  const stage = open(recording, WHY_FILM);
  try {
    const frames: Frame[] = [];
    await WHY_FILM.play(stage, async (title, ms) => {
      await stage.screen();
      const { pixels, width, height } = render(gridToSvg(stage.terminal, title), 1);
      frames.push({ pixels, width, height, ms });
    });
    const file = new URL(`${WHY_FILM.name}.png`, folder);
    writeFileSync(file, animatedPng(frames));
    process.stdout.write(`${fileURLToPath(file)}\n`);
  } finally {
    stage.close();
  }
}

function open(recording: Recording, scene: Omit<Scene, 'play' | 'title'>): Stage {
  return new Stage({
    recording,
    columns: scene.columns,
    rows: scene.rows,
    theme: makeTheme(scene.depth ?? '256', scene.ascii === true, true, scene.palette),
    checkQuery,
    completeQuery,
    matcher,
  });
}

function render(svg: string, zoom: number): RenderedImage {
  return new Resvg(svg, {
    fitTo: { mode: 'zoom', value: zoom },
    background: 'rgba(0,0,0,0)',
    font: { loadSystemFonts: false, fontFiles: FONTS, defaultFontFamily: 'DejaVu Sans Mono' },
  }).render();
}

/** The real query language over the recorded groups. */
function matcher(query: string): (group: readonly LogTransaction[]) => boolean {
  const parsed = parseQuery(query);
  return parsed.ok ? compileQuery(parsed.query) : () => false;
}
