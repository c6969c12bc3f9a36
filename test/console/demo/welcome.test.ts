// The demo's first screen and last words: they fit the smallest usual terminal, and the keys that they name work at once.
import { afterEach, expect, it } from 'vitest';
import {
  FIRST_KEYS,
  firstLines,
  lastLines,
  nextSteps,
  WELCOME_TITLE,
  welcomePanel,
} from '../../../console/demo/welcome.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

afterEach(() => {
  stage?.close();
  stage = null;
});

function welcomed(isFleet = false): Stage {
  stage = new Stage({ recording: fakeRecording(1), columns: 80, rows: 24 });
  stage.c.ui.set({
    panel: {
      kind: 'text',
      scroll: 0,
      passesKeys: true,
      title: WELCOME_TITLE,
      lines: welcomePanel(isFleet),
    },
  });
  return stage;
}

it.each([false, true])('the welcome is whole at 80 by 24 (fleet: %s)', async (isFleet) => {
  const { c } = welcomed(isFleet);
  c.ui.notify('info', FIRST_KEYS);
  await stage?.settle();
  const screen = (await stage?.screen()) ?? '';
  for (const part of ['Welcome to the demo of proxyd', 'keeps copies of', 'Press Enter to begin', FIRST_KEYS])
    expect(screen).toContain(part);
});

it.each([
  ['enter', 'dashboard', null],
  ['escape', 'dashboard', null],
  ['2', 'log', null],
  ['#', 'causes', null],
  ['?', 'dashboard', 'help'],
])('%s closes the welcome and acts', async (key, view, panel) => {
  const { c } = welcomed();
  await stage?.keys(key);
  expect([c.view.name, c.ui.state.panel?.kind ?? null]).toEqual([view, panel]);
});

it('every other panel keeps the keys of the rows to itself', async () => {
  const { c } = welcomed();
  if (c.ui.state.panel?.kind !== 'text') throw new Error('no welcome');
  const { passesKeys: _, ...panel } = c.ui.state.panel;
  c.ui.set({ panel });
  await stage?.keys('w');
  expect([c.view.name, c.ui.state.panel?.kind]).toEqual(['dashboard', 'text']);
});

it('the lines before and after fit 80 cells', () => {
  const place = {
    proxies: ['http://127.0.0.1:65535/'],
    edge: 'http://127.0.0.1:65535/',
    dir: '/dev/shm/proxyd-demo-4194304-aBcDeF/n',
  };
  const texts = [firstLines(place), lastLines(nextSteps(true)), lastLines(nextSteps(false)), FIRST_KEYS];
  for (const line of texts.join('\n').split('\n')) expect([line, line.length <= 80]).toEqual([line, true]);
});
