// The pictures: which view, how large, and what the operator did to get there.

import type { ColorDepth } from '../../../console/tui/theme.ts';
import type { Stage } from '../../console/stage.ts';

export interface Scene {
  name: string;
  title: string;
  columns: number;
  rows: number;
  depth?: ColorDepth;
  ascii?: boolean;
  play(stage: Stage): Promise<void>;
}

export const SCENES: readonly Scene[] = [
  {
    name: 'dashboard',
    title: 'proxyadm: dashboard',
    columns: 120,
    rows: 34,
    play: (stage) => stage.play(118),
  },
  {
    name: 'log',
    title: 'proxyadm: live log, one request unfolded',
    columns: 120,
    rows: 34,
    play: async (stage) => {
      await stage.play(60);
      await stage.keys('2');
      await stage.play(110);
      // The newest miss that has a few neighbours above and below.
      await stage.keys(...Array.from({ length: 8 }, () => 'k'));
      const selected = (): string => {
        const { log } = stage.session;
        return log.at(log.indexOf(stage.controller.state.log.selected))?.summary.handling ?? 'miss';
      };
      while (selected() !== 'miss') await stage.keys('k');
      await stage.keys('enter');
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
];
