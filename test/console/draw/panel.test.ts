// A panel's top border: a title of any length leaves the border whole.
import { afterEach, expect, it } from 'vitest';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

afterEach(() => {
  stage?.close();
  stage = null;
});

it.each([60, 80, 121])(
  'leaves its border whole beside a title of any length, at %i columns',
  async (columns) => {
    stage = new Stage({ recording: fakeRecording(1), columns, rows: 20 });
    for (let length = columns - 32; length < columns + 3; length++) {
      const title = 'ab '.repeat(columns).slice(0, length);
      stage.c.ui.set({ panel: { kind: 'text', scroll: 0, title, lines: [[{ text: 'a line' }]] } });
      await stage.settle();
      const screen = (await stage.screen()).split('\n');
      const row = screen.find((one) => one.includes('╭─ ab')) ?? '';
      const border = row.slice(row.indexOf('╭─ ab')).slice(0, columns - 4);
      expect(border).toMatch(/^╭─ ab .*─╮$/);
    }
  },
);
