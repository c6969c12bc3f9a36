// One list view and nothing else: what a definition of rows and keys becomes, driven through the interface that the
// console knows views by.

import { expect, it, vi } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { makeTheme } from '../../../../console/draw/theme.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { Instances } from '../../../../console/model/session/instances.ts';
import { ReplaySource } from '../../../../console/model/session/replay-source.ts';
import { pressKey } from '../../../../console/model/ui/keyboard.ts';
import { PANEL_EDGES, PANEL_RULES } from '../../../../console/model/ui/layout.ts';
import { switchInstance } from '../../../../console/model/ui/navigation.ts';
import { panelText } from '../../../../console/model/ui/panel.ts';
import { columnLetters } from '../../../../console/views/list/list-keys.ts';
import { detailRows, shownList, titleRow } from '../../../../console/views/list/list-rows.ts';
import { listBody } from '../../../../console/views/list/list-state.ts';
import { listView } from '../../../../console/views/list/list-view.tsx';
import { fakeRecording } from '../../fake-recording.ts';
import { NO_HOST, testContext } from '../../stage.ts';

const SIZES: Readonly<Record<string, number>> = { plum: 2, apple: 3, fig: 1 };

function stage(sizes = SIZES) {
  const entered: string[] = [];
  const copied: string[] = [];
  const fruit = listView({
    name: 'fruit',
    key: 'f',
    title: 'Fruit',
    short: 'Fruit',
    brief: 'Fru',
    asks: [],
    columns: [
      { title: 'FRUIT', min: 8, grow: 1 },
      { title: 'SIZE', min: 4, right: true },
    ],
    keys: [
      {
        keys: ['s'],
        command: 'fruit.eat',
        help: 'Eat it',
        act: (_c, row) => entered.push(`ate ${row.key}`),
        line: (row) => (row.key === 'plum' ? null : `eat ${row.key}`),
      },
      { keys: ['i'], command: 'fruit.wash', help: 'Wash it', act: (_c, row) => entered.push(row.key) },
    ],
    rows: (_session, option) =>
      Object.entries(sizes)
        .filter(([, size]) => option === '' || size > 1)
        .map(([name, size]) => ({
          key: name,
          facts: { name },
          cells: [{ text: name }, { text: String(size), by: size }],
          detail: () => [[{ text: Array.from({ length: 200 }, (_, i) => `word${i}`).join(' ') }]],
        })),
    remark: () => '',
    empty: () => 'none',
    enter: (_c, row) => entered.push(row.key),
  });
  const source = (): ReplaySource =>
    new ReplaySource({ recording: fakeRecording(1), matcher: () => () => true });
  const c = testContext({
    views: [fruit],
    instances: new Instances(
      { name: 'one', open: source },
      [{ name: 'two', open: source }],
      (opened) => new DaemonSession({ source: opened, now: () => 0, later: () => undefined }),
    ),
    host: { ...NO_HOST, copy: (text) => copied.push(text) },
  });
  const press = (...names: string[]): void => {
    for (const name of names) pressKey(c, { name, text: name.length === 1 ? name : '' });
  };
  return { c, fruit, press, entered, copied };
}

it('moves, sorts, filters and opens', () => {
  const { fruit, c, press, entered } = stage();
  press('j', 'enter', 's');
  expect(entered).toEqual(['apple', 'ate apple']);
  press('o', 'o', 'home', 'enter');
  expect(entered.at(-1)).toBe('fig');
  press('/', 'p', 'l', 'u', 'enter', 'enter');
  expect(entered.at(-1)).toBe('plum');
  press('escape', 'end', 'enter');
  expect([entered.at(-1), c.ui.stateOf(fruit.state).filter]).toEqual(['apple', '']);
});

it('sorts by the column of a letter, and the other way round', () => {
  const { fruit, c, press, entered } = stage();
  press('S', 's', 'enter', 'S', 's', 'enter', 'S', 'f', 'enter');
  expect(entered).toEqual(['apple', 'fig', 'apple']);
  expect(c.ui.state.panel).toBeNull();
  expect(c.ui.stateOf(fruit.state).sort).toBe(0);
});

it('a letter for each column, and none that a panel has a meaning for', () => {
  const titles = ['KIND', 'JUICE', 'KEY', 'K', ' ', 'DUE'];
  const letters = columnLetters(titles.map((title) => ({ title, min: 1 })));
  expect(letters).toEqual(['i', 'u', 'e', 'a', 'b', 'd']);
});

it('one action on all marked rows that are shown, after one question', async () => {
  const { fruit, c, press, entered } = stage({ plum: 2, apple: 3, fig: 1, pear: 4 });
  const sent: string[] = [];
  c.session.source.command = (line) => {
    sent.push(line);
    return Promise.resolve(line === 'eat fig' ? { status: 106, body: 'unripe' } : { status: 200, body: '' });
  };
  press('V');
  expect(fruit.marked(c)).toHaveLength(4);
  press('V');
  expect(fruit.marked(c)).toHaveLength(0);
  // The cursor moves on by itself; the first row is not to be eaten.
  press('v', 'v', 'v', 's');
  await vi.waitFor(() => expect(c.ui.state.confirm?.text).toBe('2 × eat, as listed?'), { timeout: 20_000 });
  expect(panelText(c.ui.state.panel)).toBe('eat apple\neat fig');
  expect(sent).toEqual([]);
  press('y');
  await vi.waitFor(() => expect(c.ui.state.notice?.text).toMatch(/^1 of 2 done; eat fig: 106 unripe/), {
    timeout: 20_000,
  });
  expect([sent, entered]).toEqual([['eat apple', 'eat fig'], []]);
  press('i');
  expect(c.ui.state.notice?.text).toBe(
    '"Wash it" needs a single row, but 3 are marked: Esc clears the marks',
  );
  press('/', 'f', 'i', 'g', 'enter', 's');
  expect(sent).toEqual(['eat apple', 'eat fig', 'eat fig']);
  press('escape', 'escape', 'i');
  expect([fruit.marked(c), entered.length]).toEqual([[], 1]);
});

it('a lost connection ends an action on several rows', async () => {
  const { c, press } = stage({ apple: 3, fig: 1, pear: 4 });
  c.session.source.command = () => Promise.resolve({ status: 0, body: 'no connection' });
  press('V', 's');
  await vi.waitFor(() => expect(c.ui.state.confirm).not.toBeNull(), { timeout: 20_000 });
  press('y');
  await vi.waitFor(
    () =>
      expect(c.ui.state.notice?.text).toMatch(/^0 of 3 done; eat apple: not sent no connection; 2 not sent/),
    { timeout: 20_000 },
  );
});

it('reports why a key has no row to act on', () => {
  const { c, press, entered } = stage();
  press('/', 'x', 'y', 'enter', 'enter');
  expect([entered, c.ui.state.notice?.text]).toEqual([[], 'nothing matches /xy']);
  const none = stage({});
  none.press('s');
  // It is not connected.
  expect(none.c.ui.state.notice?.text).toBe('none');
});

it('shows the top after a sort, also when rows change places then', () => {
  const sizes = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, i]));
  const { fruit, c, press } = stage(sizes);
  const clickSize = () => fruit.click(c, { x: c.ui.size.columns - 3, y: 1 });
  for (const sort of [() => press('o'), () => press('O'), clickSize]) {
    press('end');
    sort();
    expect(c.ui.stateOf(fruit.state).top).toBe(0);
  }
  expect(fruit.selected(c)?.key).toBe('f59');
  sizes.f7 = 100;
  expect(fruit.selected(c)?.key).toBe('f7');
});

it('shows how many rows are outside of its window', () => {
  const sizes = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, i]));
  const { fruit, c, press } = stage(sizes);
  const output = (): string => {
    const shown = shownList(c.session, fruit.definition, c.ui.stateOf(fruit.state), c.ui.size);
    return plain(
      titleRow(c.session, fruit.definition, c.ui.stateOf(fruit.state), shown, 60, makeTheme('none', false)),
    ).trim();
  };
  const { list } = listBody(c.ui.size, true);
  expect(output()).toMatch(new RegExp(` ${60 - list} below {2}60$`));
  press('end', 'up');
  for (let i = 1; i < list; i++) press('up');
  expect(output()).toMatch(new RegExp(` ${60 - list - 1} above, 1 below {2}60$`));
});

it('scrolls to the end of the details of a row, folded as they are', () => {
  const { fruit, c, press } = stage();
  const last = (): string => {
    const { detail } = listBody(c.ui.size, true);
    const { width, height } = { width: c.ui.size.columns - PANEL_EDGES, height: detail - PANEL_RULES };
    const { rows } = detailRows(
      fruit.selected(c),
      c.ui.stateOf(fruit.state),
      width,
      height,
      makeTheme('none', false),
    );
    return plain(rows.at(-1) ?? []);
  };
  expect(last()).not.toContain('word199');
  for (let i = 0; i < 20; i++) press('J');
  expect(last()).toContain('word199');
  press('K');
  expect(last()).not.toContain('word199');
});

it('copies and exports what the filter shows', () => {
  const { fruit, c, press, copied } = stage();
  press('y', 'Y');
  expect(copied).toEqual(['plum\t2', 'plum\t2\napple\t3\nfig\t1']);
  fruit.act(c, { type: 'option', option: 'large' });
  expect(fruit.export(c, false)).toBe('FRUIT\tSIZE\nplum\t2\napple\t3\n');
  expect(fruit.export(c, true)).toBe('{"name":"plum"}\n{"name":"apple"}\n');
  expect([fruit.spokenRemark(c), fruit.spokenRow(c)]).toEqual(['2 rows.', 'plum, 2']);
});

it('is clicked: a title sorts, a row is selected and then opened', () => {
  const { fruit, c, entered } = stage();
  fruit.click(c, { x: c.ui.size.columns - 3, y: 1 });
  expect(c.ui.stateOf(fruit.state)).toMatchObject({ sort: 1, descending: true });
  fruit.click(c, { x: 3, y: 3 });
  expect([fruit.selected(c)?.key, entered]).toEqual(['plum', []]);
  fruit.click(c, { x: 3, y: 3 });
  expect(entered).toEqual(['plum']);
});

it('keeps what it shows, not where it was, when another instance is shown', () => {
  const { fruit, c, press } = stage();
  fruit.act(c, { type: 'option', option: 'large' });
  press('j');
  switchInstance(c, 'two');
  expect(c.ui.stateOf(fruit.state)).toMatchObject({ option: 'large', selected: '' });
});
