// Carries out changes of the daemon: refuses them when read-only, counts before a ban, asks before destructive
// commands, reads the former state, runs the command, logs it, and undoes it. Every change, from a key, the palette or
// a view, goes through run(); nothing else sends a command that changes something. With two merged instances it finds
// the one that is meant: by the names in the line, or by asking.

import type { CommandReply } from '../../../protocol/messages.ts';
import {
  addressOf,
  addressTo,
  commandWord,
  isChange,
  isChanging,
  isDestructive,
} from '../session/admin-line.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import type { Instances } from '../session/instances.ts';
import type { CompletionTables } from './completion.ts';
import { effectOf, missingFacts } from './effects.ts';
import { type Choice, choicePanel, type Panel, type ToneLine, textPanel } from './panel.ts';
import type { Action, UiStore } from './ui-state.ts';
import { DRY_RUNS, UNDO } from './undo.ts';

const KEPT_ACTIONS = 200;

export class Operator {
  private readonly ui: UiStore;
  private readonly instances: Instances;
  private readonly commands: CompletionTables['commands'];
  private nextId = 1;

  constructor(ui: UiStore, instances: Instances, commands: CompletionTables['commands']) {
    this.ui = ui;
    this.instances = instances;
    this.commands = commands;
  }

  /** Submits a command line, with a question first if it is destructive. `part` is the one of several instances that
   * it is for, '' for all of them; undefined to find it out. */
  submit(line: string, panel: Panel | null = null, part?: string) {
    const { ui } = this;
    if (ui.state.readonly && isChanging(addressOf(line, this.parts)?.line ?? line))
      return ui.notify('warn', `read-only: ${commandWord(line)} is disabled`);
    if (this.lacks(commandWord(line)))
      return ui.notify('warn', `${this.session.source.product} has no command ${commandWord(line)}`);
    const to = this.place(line, part);
    if (to === null) {
      const both: Choice = { label: 'both', note: '', take: () => this.submit(line, null, '') };
      return this.askWhere(firstLine(line), (where) => this.submit(line, null, where), [both]);
    }
    const word = commandWord(to.line);
    const dryRun = DRY_RUNS[word];
    if (dryRun !== undefined) return void this.count(to.line, dryRun, to.part);
    if (isDestructive(to.line, this.commands)) return this.askFirst(to.line, panel, to.part);
    void this.run(to.line, 0, to.part);
  }

  /** Submits several lines as one change, after one question with all of them. `part` as in submit(). */
  async submitAll(all: readonly string[], part?: string): Promise<void> {
    const { ui } = this;
    const lines = [...new Set(all)];
    const [first] = lines;
    if (first === undefined) return;
    if (lines.length === 1) return this.submit(first, null, part);
    const word = commandWord(addressOf(first, this.parts)?.line ?? first);
    if (ui.state.readonly) return ui.notify('warn', `read-only: ${word} is disabled`);
    if (this.lacks(word)) return ui.notify('warn', `${this.session.source.product} has no command ${word}`);
    const places = lines.map((line) => this.place(line, part));
    const to = places.filter((place) => place !== null);
    if (to.length < places.length) {
      const both: Choice = { label: 'both', note: '', take: () => void this.submitAll(lines, '') };
      return this.askWhere(`${lines.length} × ${word}`, (where) => void this.submitAll(lines, where), [both]);
    }
    const dryRun = DRY_RUNS[word];
    const shown: ToneLine[] = [];
    await this.learn(first);
    for (const { part: where, line } of to) {
      const counted = dryRun === undefined ? '' : await this.counted(line, dryRun, where);
      const effect = effectOf(line, this.session, where);
      shown.push([
        { text: `${where === '' ? '' : `${where}: `}${line}`, tone: 'strong' },
        { text: [counted, effect].map((text) => (text === '' ? '' : `  ${text}`)).join(''), tone: 'muted' },
      ]);
    }
    const name = `${lines.length} × ${word}`;
    const confirm = {
      line: name,
      text: `${name}, as listed?`,
      undoes: 0,
      part: '',
      act: () => void this.runAll(to),
    };
    ui.set({ confirm, notice: null, running: null, panel: textPanel('Confirm', shown) });
  }

  /** The answer to a dry run in one line. */
  private async counted(line: string, dryRun: string, part: string): Promise<string> {
    const counting = `${dryRun}${line.trim().slice(commandWord(line).length)}`;
    this.ui.set({ running: counting, notice: null });
    const reply = await this.session.source.command(addressTo(part, counting));
    return reply.status === 101 ? '' : oneLine(reply.body);
  }

  /** Runs lines one after another; a refused one does not stop the others, a lost connection and Escape do. */
  private async runAll(lines: readonly { part: string; line: string }[]): Promise<void> {
    const { ui, session } = this;
    let isStopped = false;
    const stop = (): void => {
      isStopped = true;
    };
    let done = 0;
    const failed: string[] = [];
    ui.set({ stop });
    for (const { part, line } of lines) {
      // Never on another daemon than the one of the question.
      if (isStopped || this.session !== session) break;
      const { status, body } = await this.run(line, 0, part);
      if (status === 200) done++;
      else failed.push(`${firstLine(line)}: ${status === 0 ? 'not sent' : status} ${oneLine(body)}`);
      if (status === 0) break;
    }
    ui.set({ stop: null });
    const left = lines.length - done - failed.length;
    const parts = [`${done} of ${lines.length} done`, ...failed.slice(0, 1)];
    if (left > 0) parts.push(`${left} not sent`);
    ui.notify(failed.length > 0 ? 'bad' : left > 0 ? 'warn' : 'info', `${parts.join('; ')}  A lists them`);
  }

  /** Asks whether to run a destructive line, as soon as its effect is known. */
  private askFirst(line: string, panel: Panel | null, part: string) {
    const { session } = this;
    if (missingFacts(line, session) === undefined) return this.ask(line, panel, '', part);
    void this.learn(line).then(() => {
      // Never on another daemon than the one that answered.
      if (session === this.session) this.ask(line, panel, '', part);
    });
  }

  /** Gets the answers that the effect of a line depends on. */
  private async learn(line: string): Promise<void> {
    const facts = missingFacts(line, this.session);
    if (facts === undefined) return;
    this.ui.set({ running: facts, notice: null });
    await this.session.admin.ask(facts);
    this.ui.set({ running: null });
  }

  /** Asks, with what the line would do to the traffic if the question has no text of its own; y runs the line. */
  ask(line: string, panel: Panel | null, text = '', part?: string): void {
    const to = this.place(line, part) ?? { part: '', line };
    const where = to.part === '' ? '' : `${to.part}: `;
    const effect = text === '' ? effectOf(to.line, this.session, to.part) : '';
    const question = text === '' ? `${where}Confirm ${firstLine(line)}` : `${where}${text}`;
    const clause = effect === '' ? '' : ` (${effect})`;
    const isCut = clause !== '' && question.length + clause.length + ANSWERS > this.ui.size.columns;
    const shown = panel ?? (isCut ? effectPanel(to.line, effect) : null);
    const asked = text === '' ? `${question}${isCut ? '' : clause}?` : question;
    const confirm = { line: to.line, text: asked, undoes: 0, part: to.part };
    this.ui.set({ confirm, notice: null, ...(shown === null ? {} : { panel: shown }) });
  }

  /** Asks for one of the merged instances; `take` continues with the answer. */
  askWhere(what: string, take: (part: string) => void, more: readonly Choice[] = []): void {
    const choices = this.parts.map((part): Choice => ({ label: part, note: '', take: () => take(part) }));
    this.ui.set({ panel: choicePanel(`${what}: on which instance?`, [...choices, ...more]) });
  }

  /** The answer to the question. */
  answer(yes: boolean) {
    const { confirm } = this.ui.state;
    if (confirm === null) return;
    this.ui.set({ confirm: null, panel: null });
    if (!yes) return this.ui.notify('info', `not done: ${firstLine(confirm.line)}`);
    if (confirm.act !== undefined) return confirm.act();
    void this.run(confirm.line, confirm.undoes, confirm.part);
  }

  /** Counts what a ban would hit, then asks. */
  private async count(line: string, dryRun: string, part: string): Promise<void> {
    const { ui } = this;
    const arguments_ = line.trim().slice(commandWord(line).length);
    ui.set({ running: `${dryRun}${arguments_}`, notice: null });
    const reply = await this.session.source.command(addressTo(part, `${dryRun}${arguments_}`));
    ui.set({ running: null });
    if (reply.status !== 200) {
      // A daemon without the count command can still ban; other errors are about the condition.
      if (reply.status === 101)
        return this.ask(
          line,
          banPanel(line),
          `${this.session.source.product ?? 'The daemon'} cannot count matches. Ban anyway?`,
          part,
        );
      return ui.notify('bad', `${reply.status} ${oneLine(reply.body)}`);
    }
    const then = commandWord(line) === 'ban.soft' ? 'Make them stale?' : 'Ban them?';
    this.ask(line, banPanel(line), `${oneLine(reply.body)} ${then}`, part);
  }

  /** Runs a line and shows the reply, a long one as a panel. Resolves with the reply. */
  async run(line: string, undoes = 0, part = ''): Promise<CommandReply> {
    const { ui } = this;
    const { source, admin } = this.session;
    const shown = `${part === '' ? '' : `${part}: `}${firstLine(line)}`;
    ui.set({ running: shown, notice: null });
    const changing = isChange(line);
    // The former states of both would need two commands.
    const undo = changing && (this.parts.length === 0 || part !== '') ? await this.undoOf(line, part) : null;
    const reply = await source.command(addressTo(part, line));
    if (ui.state.running === shown) ui.set({ running: null });
    if (changing) {
      this.log(shown, reply, undo, undoes, part);
      admin.refresh();
    }
    this.show(shown, reply, changing);
    return reply;
  }

  /** Asks whether to undo the last change that can be undone. */
  undo() {
    const { ui } = this;
    const action = ui.state.actions.find((d) => d.undo !== null && d.status === 200 && !d.undone);
    if (action === undefined || action.undo === null) return ui.notify('warn', 'nothing to undo');
    if (ui.state.readonly) return ui.notify('warn', 'read-only: undo is disabled');
    if (action.instance !== this.instances.name)
      return ui.notify('warn', `"${action.line}" was done on ${action.instance}: change to it first`);
    const text = `undo "${action.line}" by "${firstLine(action.undo)}"?`;
    ui.set({ confirm: { line: action.undo, text, undoes: action.id, part: action.part }, notice: null });
  }

  private get session(): DaemonSession {
    return this.instances.current;
  }

  private get parts(): readonly string[] {
    return this.session.source.parts ?? [];
  }

  /** Whether it is a command of this project's daemon that this one lacks. Unknown commands are left to the daemon. */
  lacks(word: string): boolean {
    const { commands } = this.session.source;
    return commands !== undefined && !commands.has(word) && this.commands.some((row) => row.name === word);
  }

  /** Whether it can be given here: views and menus offer nothing else. */
  offers(word: string): boolean {
    return !this.lacks(word) && !(this.ui.state.readonly && isChanging(word));
  }

  /** The instance of a line, and the line in its names; null when only the operator knows. */
  private place(line: string, part: string | undefined): { part: string; line: string } | null {
    if (part !== undefined || this.parts.length === 0) return { part: part ?? '', line };
    const address = addressOf(line, this.parts);
    return address ?? (isChanging(line) ? null : { part: '', line });
  }

  private async undoOf(line: string, part: string): Promise<string | null> {
    const words = line.trim().split(/\s+/);
    const row = UNDO.find((r) => r.command === words[0]);
    if (row === undefined) return null;
    const ask = row.ask(words);
    if (ask === null) return row.undo(words, '');
    const reply = await this.session.source.command(addressTo(part, ask));
    return reply.status === 200 ? row.undo(words, reply.body) : null;
  }

  private log(line: string, reply: CommandReply, undo: string | null, undoes: number, part: string): void {
    const { ui } = this;
    const action: Action = {
      id: this.nextId++,
      at: this.session.now(),
      line,
      status: reply.status,
      answer: oneLine(reply.body),
      undo: undoes > 0 ? null : undo,
      undone: false,
      instance: this.instances.name,
      part,
    };
    const former = ui.state.actions.map((d) =>
      d.id === undoes && reply.status === 200 ? { ...d, undone: true } : d,
    );
    ui.set({ actions: [action, ...former].slice(0, KEPT_ACTIONS) });
  }

  private show(line: string, { status, body }: CommandReply, changing: boolean) {
    const { ui } = this;
    const lines = body.replace(/\n+$/, '').split('\n');
    const good = status === 200 || status === 201;
    const answer = oneLine(body);
    const canUndo = changing && ui.state.actions[0]?.undo !== null && good;
    // The result comes first: on a narrow screen the end of a long line is cut.
    const done = answer === '' ? `done: ${line}` : `${line}: ${answer}`;
    const text = canUndo ? `U undoes  ${done}` : done;
    const fits = text.length + ANSWERS <= ui.size.columns;
    if (lines.length > 1 && !(changing && good && fits)) {
      const tone = good ? 'text' : 'bad';
      const title = good ? line : `${line} (status ${status})`;
      ui.set({
        panel: textPanel(
          title,
          lines.map((l): ToneLine => [{ text: l, tone }]),
        ),
      });
      if (canUndo) ui.notify('info', `U undoes  done: ${line}`);
      return;
    }
    if (good) return ui.notify('info', text);
    ui.notify('bad', status === 0 ? `not sent: ${answer}` : `${status} ${answer === '' ? 'failed' : answer}`);
  }
}

/** The action log as lines, newest first. */
export function actionLines(actions: readonly Action[], clockOf: (at: number) => string): ToneLine[] {
  if (actions.length === 0) return [[{ text: 'No changes from this console.', tone: 'muted' }]];
  return actions.map((d) => [
    { text: `${clockOf(d.at)}  `, tone: 'muted' },
    {
      text: d.status === 200 ? 'done    ' : `${String(d.status).padEnd(8)}`,
      tone: d.status === 200 ? 'good' : 'bad',
    },
    { text: d.line, tone: 'strong' },
    { text: d.answer === '' ? '' : `  ${d.answer}`, tone: 'muted' },
    { text: d.undone ? '  (undone)' : d.undo === null ? '' : `  U: ${firstLine(d.undo)}`, tone: 'accent' },
  ]);
}

/** The full text of a ban while its question is open: the bottom row has no room for a long one. */
function banPanel(line: string): Panel {
  const lines: ToneLine[] = [[{ text: line, tone: 'strong' }]];
  if (/\sreq\./.test(line))
    lines.push([
      { text: 'It tests the request: an object is removed when it is next requested.', tone: 'muted' },
    ]);
  return textPanel('Confirm', lines);
}

/** Cells around a question in the bottom row. */
const ANSWERS = 6;

/** The same for a question about the traffic. */
function effectPanel(line: string, effect: string): Panel {
  const clauses = effect.split('; ').map((text): ToneLine => [{ text, tone: 'text' }]);
  return textPanel('Confirm', [[{ text: line, tone: 'strong' }], ...clauses]);
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function oneLine(body: string): string {
  return body.trim().replace(/\s*\n\s*/g, ' · ');
}
