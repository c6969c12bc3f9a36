// The pictures: which view, how large, and what the operator did to get there.

import type { ColorDepth, Palette } from '../../../console/draw/theme.ts';
import { LOG_STATE } from '../../../console/views/log/log-state.ts';
import { VIEWS } from '../../../console/views/views.ts';
import type { Stage } from '../../console/stage.ts';

export interface Scene {
  name: string;
  title: string;
  columns: number;
  rows: number;
  depth?: ColorDepth;
  ascii?: boolean;
  palette?: Palette;
  play(stage: Stage): Promise<void>;
}

/** Views without data in the recorded daemon. */
const NOT_RECORDED: ReadonlySet<string> = new Set(['fleet', 'invalidations']);

const DARK: readonly Scene[] = [
  {
    name: 'dashboard',
    title: 'proxyadm: dashboard',
    columns: 120,
    rows: 34,
    play: (stage) => stage.play(118),
  },
  {
    name: 'log',
    title: 'proxyadm: live log, one request with why and its timeline',
    columns: 120,
    rows: 38,
    play: async (stage) => {
      await toMiss(stage);
      await stage.keys('enter');
    },
  },
  {
    name: 'tree',
    title: 'proxyadm: live log, the tree of a request',
    columns: 120,
    rows: 34,
    play: async (stage) => {
      await toMiss(stage);
      await stage.keys('right', 'right', 'right', 'right');
    },
  },
  {
    name: 'why',
    title: 'proxyadm: why was this a miss?',
    columns: 120,
    rows: 28,
    play: async (stage) => {
      await toMiss(stage);
      await stage.keys('w');
      await stage.settle();
    },
  },
  {
    name: 'query',
    title: 'proxyadm: a query with an error',
    columns: 120,
    rows: 24,
    play: async (stage) => {
      await stage.play(80);
      await stage.keys('2');
      await stage.play(110);
      await stage.keys('/');
      await stage.type('RespStatus >= 500 and ReqURL "/checkout"');
    },
  },
  {
    name: 'statistics',
    title: 'proxyadm: statistics',
    columns: 120,
    rows: 34,
    play: async (stage) => {
      await stage.play(118);
      await stage.keys('3', 'j', 'j', 'j', 'j');
    },
  },
  {
    name: 'command',
    title: 'proxyadm: command line',
    columns: 100,
    rows: 28,
    play: async (stage) => {
      await stage.play(118);
      await stage.keys(':');
      await stage.type('param.set default_');
    },
  },
  {
    name: 'help',
    title: 'proxyadm: help, made of the one key table',
    columns: 100,
    rows: 34,
    play: async (stage) => {
      await stage.play(118);
      await stage.keys('2', '?');
    },
  },
  ...VIEWS.slice(3)
    .filter(({ name }) => !NOT_RECORDED.has(name))
    .map(
      ({ name, key }): Scene => ({
        name,
        title: `proxyadm: ${name}`,
        columns: 120,
        rows: 30,
        play: async (stage) => {
          await stage.play(118);
          await stage.keys(key);
          if (name === 'parameters') await stage.keys('c');
          if (name === 'programs') {
            await stage.keys('j', 'u');
            await stage.settle();
          }
        },
      }),
    ),
  {
    name: 'contrast',
    title: 'proxyadm: high contrast, 16 colours',
    columns: 100,
    rows: 30,
    depth: '16',
    palette: 'high-contrast',
    play: (stage) => stage.play(118),
  },
];

/** Some of them on a light ground as well. */
const LIGHT = DARK.filter(({ name }) => ['dashboard', 'log', 'backends', 'programs'].includes(name)).map(
  (scene): Scene => ({ ...scene, name: `light-${scene.name}`, palette: 'light' }),
);

export const SCENES: readonly Scene[] = [...DARK, ...LIGHT];

/** A picture that moves: from the dashboard to the reason of one miss, a frame a key. */
export const WHY_FILM = {
  name: 'why-animated',
  columns: 110,
  rows: 30,
  /** @param show renders the current screen, with a title, for this many milliseconds */
  play: async (stage: Stage, show: (title: string, ms: number) => Promise<void>): Promise<void> => {
    const keys: string[] = [];
    const press = async (key: string, ms: number): Promise<void> => {
      keys.push(key === 'enter' ? 'Enter' : key);
      await stage.keys(key);
      await stage.settle();
      await show(`proxyadm   keys: ${keys.join(' ')}`, ms);
    };
    await stage.play(110);
    await show('proxyadm', 1800);
    await press('2', 1500);
    do await press('k', 250);
    while (!isMiss(stage) || keys.length < 5);
    await press('enter', 2500);
    await press('w', 5000);
  },
};

/** The newest miss that has a few neighbours above and below. */
async function toMiss(stage: Stage): Promise<void> {
  await stage.play(60);
  await stage.keys('2');
  await stage.play(110);
  await stage.keys(...Array.from({ length: 8 }, () => 'k'));
  while (!isMiss(stage)) await stage.keys('k');
}

/** Of the selected request; true also when there is none. */
function isMiss(stage: Stage): boolean {
  const log = stage.session.log.shown;
  const handling = log.at(log.indexOf(stage.c.ui.stateOf(LOG_STATE).selected))?.summary.handling;
  return handling === undefined || handling === 'miss';
}
