// Exports that take long: in slices, with a progress, and stopped by Escape.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { exportTo } from '../../../../console/model/ui/copy-export.ts';
import type { ExportPart, ViewContext } from '../../../../console/model/ui/view.ts';
import { LOG_VIEW } from '../../../../console/views/log/log-view.tsx';
import { fakeRecording } from '../../fake-recording.ts';
import { FakeFiles, Stage } from '../../stage.ts';

let s: Stage;
let files: FakeFiles;

beforeEach(async () => {
  files = new FakeFiles();
  s = new Stage({ recording: fakeRecording(60), columns: 100, rows: 24, files });
  await s.play(20);
});

afterEach(() => s.close());

/** A view whose export has this many parts, each of some milliseconds. */
function slow(parts: number): ViewContext {
  function* exported(): Generator<ExportPart> {
    for (let done = 1; done <= parts; done++) {
      const until = performance.now() + 4;
      while (performance.now() < until);
      yield { text: `${done}\n`, done, of: parts };
    }
  }
  return Object.create(s.c, { view: { value: { ...LOG_VIEW, export: exported } } }) as ViewContext;
}

it('says how far it is, and does what keys say meanwhile', async () => {
  exportTo(slow(200), '/tmp/long.txt');
  await expect
    .poll(() => s.c.ui.state.running)
    .toMatch(/^export to \/tmp\/long\.txt: \d+ of 200, Esc stops$/);
  await s.keys('4');
  expect(s.c.view.name).toBe('backends');
  await expect.poll(() => files.files.get('/tmp/long.txt')?.split('\n').length).toBe(201);
  expect(s.c.ui.state).toMatchObject({ running: null, stop: null });
  expect(s.c.ui.state.notice?.text).toBe('200 lines written to /tmp/long.txt');
});

it('is stopped by Escape, and writes nothing then', async () => {
  exportTo(slow(1000), '/tmp/long.txt');
  exportTo(slow(1), '/tmp/other.txt');
  expect(s.c.ui.state.notice?.text).toBe('another export is running; Esc stops it');
  await s.keys('escape');
  await expect.poll(() => s.c.ui.state.notice?.text).toBe('export stopped; /tmp/long.txt was not written');
  expect(files.files.size).toBe(0);
});

it('of the log has every group that is shown, and none after a change of the query', async () => {
  await s.keys('2');
  await s.play(40);
  expect(s.session.log.shown.size).toBeGreaterThan(10);
  const groups = s.session.log.shown.size;
  const all = [...LOG_VIEW.export(s.c, true)];
  expect(all.at(-1)).toMatchObject({ done: groups, of: groups });
  exportTo(s.c, '/tmp/log.ndjson');
  const whole = all.map((part) => (typeof part === 'string' ? part : part.text)).join('');
  await expect.poll(() => files.files.get('/tmp/log.ndjson')).toBe(whole);
  const parts = LOG_VIEW.export(s.c, true)[Symbol.iterator]();
  parts.next();
  s.session.log.follow('RespStatus >= 500', 'request');
  expect(() => parts.next()).toThrow('the query changed during the export');
});
