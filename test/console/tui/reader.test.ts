// The console in lines: what is spoken, and how often.
import { afterEach, expect, it } from 'vitest';
import { Reader } from '../../../console/tui/reader.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

let stage: Stage | null = null;

afterEach(() => {
  stage?.close();
  stage = null;
});

it('speaks a row when it is moved to, and not whenever its numbers change', async () => {
  const s = new Stage({ recording: fakeRecording(60), columns: 80, rows: 24 });
  stage = s;
  await s.play(20);
  const lines: string[] = [];
  const reader = new Reader(s.c, (text) => lines.push(text.trim()));
  const spoken = (): string[] => lines.splice(0).filter((line) => line.startsWith('/'));
  const playing = async (until: number): Promise<void> => {
    for (let at = until - 9; at <= until; at++) {
      await s.play(at);
      reader.update();
    }
  };
  await s.keys('9');
  reader.update();
  expect(lines).toContainEqual(expect.stringMatching(/^Top view\./));
  expect(spoken()).toHaveLength(1);
  await playing(30);
  expect(spoken()).toEqual([]);
  await s.keys('down');
  reader.update();
  expect(spoken()).toHaveLength(1);
  // Once in a while it says how it stands.
  await playing(40);
  await playing(50);
  expect(spoken()).toHaveLength(1);
});
