// Rows and texts to the clipboard and to files.

import { count } from './numbers.ts';
import type { UiStore } from './ui-state.ts';
import type { ExportPart, ViewContext } from './view.ts';

export function copyText({ ui, host }: ViewContext, text: string, what: string) {
  if (text === '') return ui.notify('warn', 'nothing to copy');
  host.copy(text);
  ui.notify('info', `copied ${what}`);
}

/** Writes the rows of the view to a file; asks first where there is one already. */
export function exportTo(c: ViewContext, path: string) {
  const act = () => void writeExport(c, path);
  if (!c.files.exists(path)) return act();
  askToOverwrite(c, `export ${path}`, path, act);
}

/** `line` names the action in the notice after a no. */
export function askToOverwrite(c: ViewContext, line: string, path: string, act: () => void): void {
  const text = `${path} exists: overwrite?`;
  c.ui.set({ confirm: { line, text, undoes: 0, part: '', act }, notice: null });
}

/** Milliseconds of exporting between two looks at keys and data, and between two notes of the progress (chosen). */
const SLICE_MS = 10;
const NOTE_MS = 200;

async function writeExport(c: ViewContext, path: string): Promise<void> {
  const { ui } = c;
  if (ui.state.stop !== null) return ui.notify('warn', 'another export is running; Esc stops it');
  try {
    const exported = c.view.export(c, /\.(nd)?jsonl?$/.test(path));
    const text = typeof exported === 'string' ? exported : await inSlices(ui, path, exported);
    if (text === null) return ui.notify('warn', `export stopped; ${path} was not written`);
    await c.files.write(path, text);
    ui.notify('info', `${count(linesIn(text))} lines written to ${path}`);
  } catch (error) {
    ui.notify('bad', `${path}: ${(error as Error).message}`);
  }
}

/** The whole text, made in slices between which the console responds; null when it was stopped. */
async function inSlices(ui: UiStore, path: string, parts: Iterable<ExportPart>): Promise<string | null> {
  let stopped = false;
  ui.set({ stop: () => (stopped = true), notice: null });
  const texts: string[] = [];
  let noted = performance.now();
  let until = noted + SLICE_MS;
  try {
    for (const { text, done, of } of parts) {
      texts.push(text);
      const now = performance.now();
      if (now < until) continue;
      if (now - noted >= NOTE_MS) {
        noted = now;
        ui.set({ running: `export to ${path}: ${count(done)} of ${count(of)}, Esc stops` });
      }
      await new Promise((resolve) => setImmediate(resolve));
      if (stopped) return null;
      until = performance.now() + SLICE_MS;
    }
    return texts.join('');
  } finally {
    ui.set({ stop: null, running: null });
  }
}

function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
