// Keys and pastes to actions: a question, a field, a panel and the view get them in this order. Knows nothing of terminals;
// a test drives it with names of keys.

import { printable } from '../log/transaction.ts';
import type { KeyPress } from './field.ts';
import { SCROLL_KEYS } from './global-keys.ts';
import { keyLabels } from './keymap.ts';
import { editKey } from './line-editor.ts';
import type { ViewContext } from './view.ts';

const SCROLLS: ReadonlySet<string> = new Set(SCROLL_KEYS.map((row) => row.command));

export function pressKey(c: ViewContext, press: KeyPress): void {
  const quick = splitEscape(c, press);
  if (quick !== null) {
    pressSingle(c, { name: 'escape', text: '' });
    pressSingle(c, quick);
  } else pressSingle(c, press);
}

/** Pasted text goes into a field and nowhere else: a paste must not press keys. */
export function pasteText({ ui, fields }: ViewContext, text: string): void {
  const { field } = ui.state;
  if (field !== null) fields.insert(field, text);
}

/** Escape and a key typed in quick succession look like Alt and that key. No Alt binding exists outside of fields, so
 * there, and in a field that does not edit with it, they are two keys. */
function splitEscape({ ui }: ViewContext, press: KeyPress): KeyPress | null {
  if (!press.name.startsWith('alt+')) return null;
  const { field } = ui.state;
  if (field !== null && editKey(field.line, press.name) !== undefined) return null;
  const name = press.name.slice(4);
  return { name, text: name === 'space' ? ' ' : [...name].length === 1 ? name : '' };
}

function pressSingle(c: ViewContext, press: KeyPress) {
  const { ui, keymap, fields } = c;
  const { confirm, field, panel } = ui.state;
  if (ui.state.notice?.passing === true) ui.set({ notice: null });
  if (press.name === 'ctrl+c' && field === null && confirm === null) return c.host.quit();
  if (confirm !== null) return answer(c, press);
  if (field !== null) return fields.key(field, press);
  const keyed = panel?.kind === 'choices' ? panel.choices.find(({ key }) => key === press.name) : undefined;
  if (keyed !== undefined) {
    ui.set({ panel: null, notice: null });
    return keyed.take();
  }
  const ofPanel = panel === null ? undefined : keymap.inPanel(press.name);
  const passes = panel?.kind === 'text' && panel.passesKeys === true && press.name !== 'escape';
  if (passes && (ofPanel === undefined || ofPanel.command === 'back')) ui.set({ panel: null, notice: null });
  else if (panel !== null) return ofPanel === undefined ? nothing(c, press) : ofPanel.run(c);
  const row = keymap.inView(ui.state.view, press.name);
  if (row === undefined) return nothing(c, press);
  row.run(c);
}

/** A key without a meaning says so; the wheel is moved by accident. */
function nothing({ ui }: ViewContext, { name }: KeyPress): void {
  const [label] = keyLabels([name]);
  if (label === undefined || label === '') return;
  const instead = ui.state.panel === null ? '? lists the keys' : 'Esc closes this';
  ui.set({
    notice: { level: 'warn', text: `${printable(label)} does nothing here; ${instead}`, passing: true },
  });
}

/** While a question is open its panel can be scrolled; y is yes, every other key is no. */
function answer(c: ViewContext, press: KeyPress) {
  const row = c.ui.state.panel === null ? undefined : c.keymap.inPanel(press.name);
  if (row !== undefined && SCROLLS.has(row.command)) return row.run(c);
  c.operator.answer(press.name === 'y' || press.name === 'Y');
}
