// Rows and texts to the clipboard and to files.

import type { ViewContext } from './view.ts';

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
  const text = `${path} is there already: overwrite it?`;
  c.ui.set({ confirm: { line, text, undoes: 0, part: '', act }, notice: null });
}

async function writeExport(c: ViewContext, path: string): Promise<void> {
  try {
    const text = c.view.export(c, /\.(nd)?jsonl?$/.test(path));
    await c.files.write(path, text);
    const lines = text.split('\n').length - 1;
    c.ui.notify('info', `${lines} lines written to ${path}`);
  } catch (error) {
    c.ui.notify('bad', `${path}: ${(error as Error).message}`);
  }
}
