// Carries out what the operator decides: refuses when read-only, counts before it bans, asks before it destroys,
// remembers the state before, runs the command, logs it, and takes it back. Every change of the daemon, from a
// key, the palette or a flow, goes through run(); nothing else sends a command that changes something. Where two
// instances are shown as one, it finds out which is meant: from the names in the line, or by asking.

import type { CommandReply } from '../../../protocol/messages.ts';
import { addressOf, addressTo, commandWord, isChanging, isDestructive } from '../session/admin-line.ts';
import type { DaemonSession } from '../session/daemon-session.ts';
import type { CompletionTables } from './completion.ts';
import type { Choice, Panel, ToneLine } from './panel.ts';
import type { Action, Notice, UiState } from './ui-state.ts';
import { DRY_RUNS, UNDO } from './undo.ts';

const KEPT_ACTIONS = 200;

export interface OperatorHost {
  readonly session: DaemonSession;
  /** Name of the instance shown. */
  readonly instance: string;
  readonly state: UiState;
  set(change: Partial<UiState>): void;
  notify(level: Notice['level'], text: string): void;
}

export class Operator {
  private readonly host: OperatorHost;
  private readonly commands: CompletionTables['commands'];
  private nextId = 1;

  constructor(host: OperatorHost, commands: CompletionTables['commands']) {
    this.host = host;
    this.commands = commands;
  }

  /** A command line from a field or a key, with its question first when it destroys something. `part` is the one of
   * several instances that it is for, '' for all of them; undefined where that is to be found out. */
  submit(line: string, panel: Panel | null = null, part?: string) {
    const { host } = this;
    if (host.state.readonly && isChanging(addressOf(line, this.parts)?.line ?? line))
      return host.notify('warn', `read-only: ${commandWord(line)} is disabled`);
    if (this.lacks(commandWord(line)))
      return host.notify('warn', `${host.session.source.product} has no command ${commandWord(line)}`);
    const to = this.place(line, part);
    if (to === null) {
      const both: Choice = { label: 'both', note: '', take: () => this.submit(line, null, '') };
      return this.askWhere(firstLine(line), (where) => this.submit(line, null, where), [both]);
    }
    const word = commandWord(to.line);
    const dryRun = DRY_RUNS[word];
    if (dryRun !== undefined) return void this.count(to.line, dryRun, to.part);
    if (isDestructive(to.line, this.commands)) return this.ask(to.line, panel, undefined, to.part);
    void this.run(to.line, 0, to.part);
  }

  /** Puts the question; y runs the line. */
  ask(line: string, panel: Panel | null, text = `${firstLine(line)}  really?`, part?: string): void {
    const to = this.place(line, part) ?? { part: '', line };
    const where = to.part === '' ? '' : `${to.part}: `;
    const confirm = { line: to.line, text: `${where}${text}`, undoes: 0, part: to.part };
    this.host.set({ confirm, notice: null, ...(panel === null ? {} : { panel }) });
  }

  /** Which of the instances shown as one? The answer goes on with what was wanted. */
  askWhere(what: string, take: (part: string) => void, more: readonly Choice[] = []): void {
    const choices = this.parts.map((part): Choice => ({ label: part, note: '', take: () => take(part) }));
    const panel = { scroll: 0, title: `${what}: on which?`, choices: [...choices, ...more] };
    this.host.set({ panel: { kind: 'choices', ...panel } });
  }

  /** y or n to the question. */
  answer(yes: boolean) {
    const { confirm } = this.host.state;
    if (confirm === null) return;
    this.host.set({ confirm: null, panel: null });
    if (!yes) return this.host.notify('info', `not done: ${firstLine(confirm.line)}`);
    if (confirm.act !== undefined) return confirm.act();
    void this.run(confirm.line, confirm.undoes, confirm.part);
  }

  /** What a ban would hit, and then the question. */
  private async count(line: string, dryRun: string, part: string): Promise<void> {
    const { host } = this;
    const arguments_ = line.trim().slice(commandWord(line).length);
    host.set({ running: `${dryRun}${arguments_}`, notice: null });
    const reply = await host.session.source.command(addressTo(part, `${dryRun}${arguments_}`));
    host.set({ running: null });
    if (reply.status !== 200) {
      // A daemon without the count command still bans; only its no to the condition is an answer.
      if (reply.status === 101)
        return this.ask(line, banPanel(line), 'what it hits cannot be counted: really?', part);
      return host.notify('bad', `${reply.status} ${oneLine(reply.body)}`);
    }
    this.ask(line, banPanel(line), `${oneLine(reply.body)} Really?`, part);
  }

  /** Runs it and shows what came of it. Resolves with the answer; a long one is a panel. */
  async run(line: string, undoes = 0, part = ''): Promise<CommandReply> {
    const { host } = this;
    const { source, admin } = host.session;
    const shown = `${part === '' ? '' : `${part}: `}${firstLine(line)}`;
    host.set({ running: shown, notice: null });
    const changing = isChanging(line);
    // What both were before needs two commands to bring back.
    const undo = changing && (this.parts.length === 0 || part !== '') ? await this.undoOf(line, part) : null;
    const reply = await source.command(addressTo(part, line));
    if (host.state.running === shown) host.set({ running: null });
    if (changing) {
      this.log(shown, reply, undo, undoes, part);
      admin.refresh();
    }
    this.show(shown, reply, changing);
    return reply;
  }

  /** Asks whether the last change that can be undone is to be. */
  undo() {
    const { host } = this;
    const action = host.state.actions.find((d) => d.undo !== null && d.status === 200 && !d.undone);
    if (action === undefined || action.undo === null)
      return host.notify('warn', 'nothing that can be undone');
    if (host.state.readonly) return host.notify('warn', 'read-only: undo is disabled');
    if (action.instance !== host.instance)
      return host.notify('warn', `"${action.line}" was done on ${action.instance}: change to it first`);
    const text = `undo "${action.line}" by "${firstLine(action.undo)}"?`;
    host.set({ confirm: { line: action.undo, text, undoes: action.id, part: action.part }, notice: null });
  }

  private get parts(): readonly string[] {
    return this.host.session.source.parts ?? [];
  }

  /** Is it a command of this project's daemon that this one has not? Of others it says itself what it thinks. */
  lacks(word: string): boolean {
    const { commands } = this.host.session.source;
    return commands !== undefined && !commands.has(word) && this.commands.some((row) => row.name === word);
  }

  /** Can it be given here? Views and menus offer nothing else. */
  offers(word: string): boolean {
    return !this.lacks(word) && !(this.host.state.readonly && isChanging(word));
  }

  /** Where a line goes, as that instance understands it; null when only the operator knows. */
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
    const reply = await this.host.session.source.command(addressTo(part, ask));
    return reply.status === 200 ? row.undo(words, reply.body) : null;
  }

  private log(line: string, reply: CommandReply, undo: string | null, undoes: number, part: string): void {
    const { host } = this;
    const action: Action = {
      id: this.nextId++,
      at: host.session.now(),
      line,
      status: reply.status,
      answer: oneLine(reply.body),
      undo: undoes > 0 ? null : undo,
      undone: false,
      instance: host.instance,
      part,
    };
    const former = host.state.actions.map((d) =>
      d.id === undoes && reply.status === 200 ? { ...d, undone: true } : d,
    );
    host.set({ actions: [action, ...former].slice(0, KEPT_ACTIONS) });
  }

  private show(line: string, { status, body }: CommandReply, changing: boolean) {
    const { host } = this;
    const lines = body.replace(/\n+$/, '').split('\n');
    const good = status === 200 || status === 201;
    if (lines.length > 1 && !(changing && good)) {
      const tone = good ? 'text' : 'bad';
      const text = lines.map((l): ToneLine => [{ text: l, tone }]);
      const title = good ? line : `${line} (status ${status})`;
      return host.set({ panel: { kind: 'text', scroll: 0, title, lines: text } });
    }
    const said = oneLine(body);
    const canUndo = changing && host.state.actions[0]?.undo !== null && good;
    if (good) {
      // What came of it stands first: on a narrow screen the end of a long line is cut.
      const text = said === '' ? `done: ${line}` : `${line}: ${said}`;
      return host.notify('info', canUndo ? `U undoes  ${text}` : text);
    }
    host.notify('bad', status === 0 ? `not sent: ${said}` : `${status} ${said === '' ? 'failed' : said}`);
  }
}

/** The action log as lines, newest first. */
export function actionLines(actions: readonly Action[], clockOf: (at: number) => string): ToneLine[] {
  if (actions.length === 0) return [[{ text: 'Nothing was changed from here.', tone: 'muted' }]];
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

/** The whole of a ban while it is asked for: the footer has no room for a long one. */
function banPanel(line: string): Panel {
  const lines: ToneLine[] = [[{ text: line, tone: 'strong' }]];
  if (/\sreq\./.test(line))
    lines.push([
      { text: 'It looks at the request: an object goes when it is asked for next.', tone: 'muted' },
    ]);
  return { kind: 'text', scroll: 0, title: 'To be done after a yes', lines };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function oneLine(body: string): string {
  return body.trim().replace(/\s*\n\s*/g, ' · ');
}
