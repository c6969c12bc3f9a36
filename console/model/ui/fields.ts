// Fields while they are edited: keys to text, completion and verdict after every change, recall, and the palette's
// lines. What a kind of field does is in the table of who opens it.

import { commandWord } from '../session/admin-line.ts';
import { answerItems, textField } from '../session/admin-store.ts';
import { type CompletionTables, commonPrefix, complete } from './completion.ts';
import type { Controller, KeyPress } from './controller.ts';
import type { Field, FieldKind } from './field.ts';
import { editKey, insert, type Line, lineOf, remember, walk } from './line-editor.ts';
import { type PaletteRow, paletteRows } from './palette.ts';
import { namedQueries } from './saved-queries.ts';

const COMMAND_LINE: FieldKind = {
  kind: 'command',
  recall: 'commands',
  complete: (c, line) => complete(line.text, line.cursor, c.fields.tables()),
  accept: (c, text) => c.submit(text),
};

export class FieldKeeper {
  private readonly c: Controller;
  private readonly palette: readonly PaletteRow[];
  private programs: string[] = [];

  constructor(controller: Controller) {
    this.c = controller;
    this.palette = paletteRows(controller.options.views);
  }

  open(kind: FieldKind, line: Line, prompt: Field['prompt'] = null): void {
    this.edit({ ...kind, line, completion: null, choice: -1, check: null, offered: false, prompt }, line);
  }

  openCommand(line: Line): void {
    this.learnNames();
    this.open(COMMAND_LINE, line);
  }

  prompt(kind: FieldKind, label: string, subject = '', text = '') {
    if (this.c.state.readonly && kind.changes === true)
      return this.c.notify('warn', 'read-only: nothing can be changed from here');
    this.open(kind, lineOf(text), { label, subject });
  }

  /** Escape and a key typed in quick succession look like Alt and that key. No Alt binding exists outside
   * of fields, so there it is the two keys; in a field it is, unless it edits. */
  splitEscape(press: KeyPress): KeyPress | null {
    if (!press.name.startsWith('alt+')) return null;
    const { field } = this.c.state;
    if (field !== null && editKey(field.line, press.name) !== undefined) return null;
    const name = press.name.slice(4);
    return { name, text: name === 'space' ? ' ' : [...name].length === 1 ? name : '' };
  }

  key(field: Field, press: KeyPress) {
    const { c } = this;
    const { name } = press;
    if (name === 'escape' || name === 'ctrl+c' || name === 'ctrl+g') {
      field.follow?.(c, '');
      return c.set({ field: null });
    }
    if (name === 'enter') return this.accept(field);
    if (name === 'tab' || name === 'shift+tab') return this.completeField(field, name === 'tab' ? 1 : -1);
    if (name === 'ctrl+r' && field.list !== undefined) {
      c.set({ field: null });
      return field.list(c);
    }
    if (name === 'up' || name === 'down') return this.recall(field, name === 'up' ? 1 : -1);
    if (name === 'backspace' && field.line.text === '' && field.kind !== 'query')
      return c.set({ field: null });
    const edited = editKey(field.line, name);
    if (edited !== undefined) return this.edit(field, edited);
    if (press.text !== '') this.edit(field, insert(field.line, press.text));
  }

  /** Every change of a field's text comes through here: completion, verdict and live filters follow it. */
  edit(field: Field, line: Line): void {
    const { c } = this;
    const completion = field.complete?.(c, line) ?? null;
    const check = field.verdict?.(c, line.text, field.prompt?.subject ?? '') ?? null;
    field.follow?.(c, line.text);
    c.set({ field: { ...field, line, choice: -1, completion, check, offered: false }, notice: null });
  }

  /** A line of the palette: a command of the console or an admin command. */
  submit(line: string) {
    const { c } = this;
    const text = line.trim();
    if (text === '') return c.set({ field: null });
    c.set({ field: null, commands: remember(c.state.commands, text) });
    const word = commandWord(text);
    const own = this.palette.find((row) => row.name === word);
    if (own !== undefined) return own.run(c, text.slice(word.length).trim());
    c.operator.submit(text);
  }

  private accept(field: Field) {
    if (field.check !== null && !field.check.ok) return this.refuse(field);
    this.c.set({ field: null });
    field.accept?.(this.c, field.line.text, field.prompt?.subject ?? '');
  }

  private refuse(field: Field) {
    const { otherwise } = field;
    if (otherwise === undefined) return;
    if (!field.offered) return this.c.set({ field: { ...field, offered: true } });
    this.c.set({ field: null });
    otherwise.accept(this.c, field.line.text);
  }

  private recall(field: Field, step: 1 | -1): void {
    if (field.recall === undefined) return;
    const walked = walk(this.c.state[field.recall], field.line, step);
    this.c.set({ [field.recall]: walked.recall });
    this.edit(field, walked.line);
  }

  /** Tab: first the common part, then one candidate after the other. */
  private completeField(field: Field, step: 1 | -1) {
    const completion = field.completion;
    if (completion === null || completion.candidates.length === 0) return;
    const { candidates, from } = completion;
    const before = field.line.text.slice(0, from);
    const after = field.line.text.slice(field.line.cursor);
    const typed = field.line.text.slice(from, field.line.cursor);
    const put = (text: string): Line => ({ text: before + text + after, cursor: from + text.length });
    if (candidates.length === 1) {
      const text = (candidates[0] as { text: string }).text;
      return this.edit(field, put(text.endsWith('/') ? text : `${text} `));
    }
    const common = commonPrefix(candidates);
    if (field.choice < 0 && common.length > typed.length) return this.edit(field, put(common));
    const choice = (field.choice + step + candidates.length) % candidates.length;
    const text = candidates[choice]?.text ?? '';
    this.c.set({ field: { ...field, line: put(text), choice } });
  }

  /** What command lines are completed from. */
  tables(): CompletionTables {
    const { options, session } = this.c;
    const known = session.source.commands;
    return {
      commands: [
        ...options.tables.commands.filter((row) => known === undefined || known.has(row.name)),
        ...this.palette,
      ],
      params: options.tables.params,
      programs: this.programs,
      backends: session.backends.map((b) => b.name),
      instances: options.instances.names,
      queries: namedQueries(options.queries).map((one) => one.name),
    };
  }

  private learnNames(): void {
    void this.c.session.source.command('vcl.list -j').then(({ status, body }) => {
      if (status === 200) this.programs = answerItems(body).map((item) => textField(item, 'name'));
    });
  }
}
