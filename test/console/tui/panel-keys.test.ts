// Keys while a panel is open, and keys without a meaning.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pressKey } from '../../../console/model/ui/keyboard.ts';
import { choicePanel, textPanel } from '../../../console/model/ui/panel.ts';
import { matchingLines, withMatches } from '../../../console/model/ui/panel-search.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let s: Stage;

beforeEach(async () => {
  s = new Stage({ recording: fakeRecording(30), columns: 80, rows: 24 });
  await s.play(3);
});

afterEach(() => s.close());

const text = Array.from({ length: 60 }, (_, i) => [{ text: `line ${i}${i % 20 === 7 ? ' Needle' : ''}` }]);

it('the command line opens over an answer, and its answer takes the place of the former one', async () => {
  s.c.ui.set({ panel: textPanel('an answer', text) });
  await s.keys(':');
  await s.type('param.show default_ttl');
  expect(s.c.ui.state.field?.line.text).toBe('param.show default_ttl');
  expect(await s.screen()).toContain('an answer');
  await s.keys('enter');
  expect(await s.screen()).toContain('Value is: 120.000 [seconds] (default)');
  expect(await s.screen()).not.toContain('an answer');
});

it.each([
  ['2', 'log'],
  ['tab', 'log'],
  ['$', 'events'],
])('%s leaves a panel for the view %s', async (key, view) => {
  s.c.ui.set({ panel: textPanel('an answer', text) });
  await s.keys(key);
  expect([s.c.ui.state.panel, s.c.ui.state.view]).toEqual([null, view]);
});

it('a search in a text shows its matches one after the other, around the end', async () => {
  s.c.ui.set({ panel: textPanel('a text', text) });
  await s.keys('/');
  await s.type('needle');
  await s.keys('enter');
  expect(await s.screen()).toMatch(/\/needle: 1 of 3/);
  expect(await s.screen()).toContain('line 7 Needle');
  await s.keys('n', 'n');
  expect(await s.screen()).toMatch(/\/needle: 3 of 3[\s\S]*line 47 Needle/);
  await s.keys('n');
  expect(await s.screen()).toMatch(/\/needle: 1 of 3/);
  await s.keys('N');
  expect(await s.screen()).toMatch(/\/needle: 3 of 3/);
  await s.keys('/', 'x');
  expect(await s.screen()).toMatch(/\/needlex: no match/);
  await s.keys('escape');
  expect(s.c.ui.state.panel).toMatchObject({ title: 'a text' });
  expect(await s.screen()).not.toContain('needle');
});

it('a search narrows choices, and Enter takes the one that is left', async () => {
  let taken = '';
  const choices = ['alpha', 'beta', 'gamma'].map((label) => ({
    label,
    note: '',
    take: () => {
      taken = label;
    },
  }));
  s.c.ui.set({ panel: choicePanel('which?', choices) });
  await s.keys('/');
  await s.type('GAM');
  await s.keys('enter', 'enter');
  expect(taken).toBe('gamma');
  s.c.ui.set({ panel: choicePanel('which?', choices) });
  await s.keys('/');
  await s.type('gam');
  await s.keys('escape');
  expect(s.c.ui.state.panel).toMatchObject({ choices });
});

it('a key without a meaning shows a message until the next key', async () => {
  await s.keys('Z');
  expect(await s.screen()).toContain('Z does nothing here; ? lists the keys');
  await s.keys('right');
  expect(await s.screen()).not.toContain('does nothing here');
  s.c.ui.set({ panel: textPanel('an answer', text) });
  await s.keys('f5');
  expect(await s.screen()).toContain('F5 does nothing here; Esc closes this');
  await s.keys('escape');
  pressKey(s.c, { name: 'wheelup', text: '' });
  await s.keys('escape');
  expect(await s.screen()).not.toContain('does nothing here');
});

it('a match is marked across the pieces of its line, and the text stays what it was', () => {
  const line = [{ text: 'abc', tone: 'muted' as const }, { text: 'def' }];
  expect(withMatches(line, 'CD')).toEqual([
    { text: 'ab', tone: 'muted' },
    { text: 'c', tone: 'warn' },
    { text: 'd', tone: 'warn' },
    { text: 'ef' },
  ]);
  expect(matchingLines([line, [{ text: 'x' }]], 'cd')).toEqual([0]);
  expect(withMatches(line, '.')).toBe(line);
});
