// The field being edited: keys to text, completion and verdict after every change, recall, and what Enter does with
// each kind of field.

import { PALETTE_COMMANDS } from './actions/palette-actions.ts';
import { answerItems, textField } from './admin-store.ts';
import { type Completion, type CompletionTables, commandWord, commonPrefix, complete } from './completion.ts';
import type { Controller, KeyPress } from './controller.ts';
import { editKey, insert, type Line, lineOf } from './line-editor.ts';
import { PALETTE_ROWS } from './palette.ts';
import type { PromptName } from './prompt-names.ts';
import { fileCompletion, PROMPTS } from './prompts.ts';
import { completeFromLog } from './query-values.ts';
import { type Recall, remember, walk } from './recall.ts';
import type { Field, FieldKind } from './ui-state.ts';

export class FieldKeeper {
  private readonly c: Controller;
  private programs: string[] = [];

  constructor(controller: Controller) {
    this.c = controller;
  }

  open(kind: FieldKind, line: Line, prompt: Field['prompt'] = null): void {
    if (kind === 'command') this.learnNames();
    this.edit({ kind, line, completion: null, choice: -1, check: null, prompt }, line);
  }

  prompt(name: PromptName, label: string, subject = '', text = '') {
    if (this.c.state.readonly && name !== 'lint' && name !== 'export')
      return this.c.notify('warn', 'read-only: nothing can be changed from here');
    this.open('prompt', lineOf(text), { name, label, subject });
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
      if (field.kind === 'filter') this.filter('');
      if (field.kind === 'search') this.search('');
      return c.set({ field: null });
    }
    if (name === 'enter') return this.accept(field);
    if (name === 'tab' || name === 'shift+tab') return this.completeField(field, name === 'tab' ? 1 : -1);
    if (name === 'up' || name === 'down') return this.recall(field, name === 'up' ? 1 : -1);
    if (name === 'backspace' && field.line.text === '' && field.kind !== 'query')
      return c.set({ field: null });
    const edited = editKey(field.line, name);
    if (edited !== undefined) return this.edit(field, edited);
    if (press.text !== '') this.edit(field, insert(field.line, press.text));
  }

  /** Every change of a field's text comes through here: completion, verdict and live filters follow it. */
  edit(field: Field, line: Line): void {
    const { options } = this.c;
    const next: Field = { ...field, line, choice: -1 };
    switch (field.kind) {
      case 'command':
        next.completion = complete(line.text, line.cursor, this.tables());
        break;
      case 'query':
        next.check = line.text.trim() === '' ? { ok: true } : options.checkQuery(line.text);
        next.completion = {
          ...(completeFromLog(line.text, line.cursor, this.c.session.log) ??
            options.completeQuery(line.text, line.cursor)),
          usage: '',
        };
        break;
      case 'filter':
        this.filter(line.text);
        break;
      case 'search':
        this.search(line.text);
        break;
      case 'prompt': {
        const row = PROMPTS[field.prompt?.name ?? 'export'];
        next.check = row.check?.(line.text, field.prompt?.subject ?? '') ?? null;
        next.completion = this.promptCompletion(row.completes, line);
      }
    }
    this.c.set({ field: next, notice: null });
  }

  /** A line of the palette. */
  submit(line: string) {
    const { c } = this;
    const text = line.trim();
    if (text === '') return c.set({ field: null });
    c.set({ field: null, commands: remember(c.state.commands, text) });
    const word = commandWord(text);
    const own = PALETTE_COMMANDS[word];
    if (own !== undefined) return own(c, text.slice(word.length).trim());
    c.operator.submit(text);
  }

  remembered(query: string): Recall {
    return remember(this.c.state.queries, query);
  }

  private filter(text: string): void {
    if (this.c.state.view === 'stats') this.c.stat({ type: 'filter', text });
    else this.c.list({ type: 'filter', text });
  }

  private search(text: string): void {
    const { panel } = this.c.state;
    if (panel?.kind === 'help') this.c.set({ panel: { ...panel, filter: text, scroll: 0 } });
    else this.c.log({ type: 'search', text });
  }

  private accept(field: Field) {
    const { c } = this;
    const { text } = field.line;
    switch (field.kind) {
      case 'command':
        return this.submit(text);
      case 'query':
        if (field.check !== null && !field.check.ok) return;
        return c.applyQuery(text.trim());
      case 'prompt': {
        if (field.check !== null && !field.check.ok) return;
        const { prompt } = field;
        c.set({ field: null });
        if (prompt !== null) PROMPTS[prompt.name].accept(c, text, prompt.subject);
        return;
      }
      case 'search':
        c.set({ field: null });
        if (c.state.panel === null && text !== '') c.run('log.next-match');
        return;
      default:
        return c.set({ field: null });
    }
  }

  private recall(field: Field, step: 1 | -1): void {
    if (field.kind !== 'command' && field.kind !== 'query') return;
    const which = field.kind === 'command' ? 'commands' : 'queries';
    const walked = walk(this.c.state[which], field.line, step);
    this.c.set({ [which]: walked.recall });
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

  private promptCompletion(completes: 'file' | 'ban' | undefined, line: Line): Completion | null {
    if (completes === 'file') {
      const head = line.text.slice(0, line.cursor);
      return fileCompletion(this.c.options.files.complete(head), head);
    }
    if (completes !== 'ban') return null;
    const offset = 'ban '.length;
    const found = complete(`ban ${line.text}`, line.cursor + offset, this.tables());
    return { ...found, from: found.from - offset };
  }

  private tables(): CompletionTables {
    const { options, session } = this.c;
    return {
      commands: [...options.tables.commands, ...PALETTE_ROWS],
      params: options.tables.params,
      programs: this.programs,
      backends: session.backends.map((b) => b.name),
      instances: options.instances.names,
      queries: Object.keys(options.queries.all()),
    };
  }

  private learnNames(): void {
    void this.c.session.source.command('vcl.list -j').then(({ status, body }) => {
      if (status === 200) this.programs = answerItems(body).map((item) => textField(item, 'name'));
    });
  }
}
