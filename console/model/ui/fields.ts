// Editing of fields: keys to text, completion and verdict after every change, history. The meaning of the text is the
// field's own (field.ts).

import { commonPrefix } from './completion.ts';
import type { Field, FieldKind, KeyPress } from './field.ts';
import { editKey, insert, type Line, lineOf, walk } from './line-editor.ts';
import type { UiStore } from './ui-state.ts';

export class Fields {
  private readonly ui: UiStore;

  constructor(ui: UiStore) {
    this.ui = ui;
  }

  open(kind: FieldKind, line: Line, prompt: Field['prompt'] = null): void {
    this.edit({ ...kind, line, completion: null, choice: -1, check: null, offered: false, prompt }, line);
  }

  prompt(kind: FieldKind, label: string, subject = '', text = '') {
    if (this.ui.state.readonly && kind.changes === true)
      return this.ui.notify('warn', 'read-only: nothing can be changed from here');
    this.open(kind, lineOf(text), { label, subject });
  }

  key(field: Field, press: KeyPress) {
    const { ui } = this;
    const { name } = press;
    if (name === 'escape' || name === 'ctrl+c' || name === 'ctrl+g') {
      field.follow?.('');
      return ui.set({ field: null });
    }
    if (name === 'enter') return this.accept(field);
    if (name === 'tab' || name === 'shift+tab') return this.complete(field, name === 'tab' ? 1 : -1);
    if (name === 'ctrl+r' && field.list !== undefined) {
      ui.set({ field: null });
      return field.list();
    }
    if (name === 'up' || name === 'down') return this.recall(field, name === 'up' ? 1 : -1);
    if (name === 'backspace' && field.line.text === '' && field.kind !== 'query')
      return ui.set({ field: null });
    const edited = editKey(field.line, name);
    if (edited !== undefined) return this.edit(field, edited);
    if (press.text !== '') this.insert(field, press.text);
  }

  insert(field: Field, text: string): void {
    this.edit(field, insert(field.line, text));
  }

  private edit(field: Field, line: Line): void {
    const completion = field.complete?.(line) ?? null;
    const check = field.verdict?.(line.text, field.prompt?.subject ?? '') ?? null;
    field.follow?.(line.text);
    this.ui.set({ field: { ...field, line, choice: -1, completion, check, offered: false }, notice: null });
  }

  private accept(field: Field) {
    if (field.check !== null && !field.check.ok) return this.refuse(field);
    this.ui.set({ field: null });
    field.accept?.(field.line.text, field.prompt?.subject ?? '');
  }

  private refuse(field: Field) {
    const { otherwise } = field;
    if (otherwise === undefined) return;
    if (!field.offered) return this.ui.set({ field: { ...field, offered: true } });
    this.ui.set({ field: null });
    otherwise.accept(field.line.text);
  }

  private recall(field: Field, step: 1 | -1): void {
    if (field.recall === undefined) return;
    const walked = walk(this.ui.state[field.recall], field.line, step);
    this.ui.set({ [field.recall]: walked.recall });
    this.edit(field, walked.line);
  }

  /** Tab: first the common prefix, then one candidate after the other. */
  private complete(field: Field, step: 1 | -1) {
    const { completion, line } = field;
    if (completion === null || completion.candidates.length === 0) return;
    const { candidates, from } = completion;
    const before = line.text.slice(0, from);
    const after = line.text.slice(line.cursor);
    const put = (text: string): Line => ({ text: before + text + after, cursor: from + text.length });
    const [first] = candidates;
    if (candidates.length === 1 && first !== undefined)
      return this.edit(field, put(first.text.endsWith('/') ? first.text : `${first.text} `));
    const common = commonPrefix(candidates);
    if (field.choice < 0 && common.length > line.cursor - from) return this.edit(field, put(common));
    const choice = (field.choice + step + candidates.length) % candidates.length;
    this.ui.set({ field: { ...field, line: put(candidates[choice]?.text ?? ''), choice } });
  }
}
