// Carries out what the operator decides: refuses when read-only, counts before it bans, asks before it destroys,
// remembers the state before, runs the command, logs it, and takes it back. Every change of the daemon, from a
// key, the palette or a flow, goes through run(); nothing else sends a command that changes something.

import type { CompletionTables } from './completion.ts';
import { commandWord, isChanging, isDestructive } from './completion.ts';
import type { ToneLine } from './list-view.ts';
import type { Session } from './session.ts';
import type { CommandReply } from './source.ts';
import type { Deed, Notice, Panel, UiState } from './ui-state.ts';
import { DRY_RUNS, UNDO } from './undo.ts';

const KEPT_DEEDS = 200;

export interface OperatorHost {
  readonly session: Session;
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

  /** A command line from a field or a key, with its question first when it destroys something. */
  submit(line: string, panel: Panel | null = null) {
    const { host } = this;
    const word = commandWord(line);
    if (host.state.readonly && isChanging(line)) return host.notify('warn', `read-only: ${word} is disabled`);
    const dryRun = DRY_RUNS[word];
    if (dryRun !== undefined) return void this.count(line, dryRun);
    if (isDestructive(line, this.commands)) return this.ask(line, panel);
    void this.run(line);
  }

  /** Puts the question; y runs the line. */
  ask(line: string, panel: Panel | null, text = `${firstLine(line)}  really?`): void {
    this.host.set({ confirm: { line, text, undoes: 0 }, notice: null, ...(panel === null ? {} : { panel }) });
  }

  /** y or n to the question. */
  answer(yes: boolean) {
    const { confirm } = this.host.state;
    if (confirm === null) return;
    this.host.set({ confirm: null, panel: null });
    if (!yes) return this.host.notify('info', `not done: ${firstLine(confirm.line)}`);
    void this.run(confirm.line, confirm.undoes);
  }

  /** What a ban would hit, and then the question. */
  private async count(line: string, dryRun: string): Promise<void> {
    const { host } = this;
    const arguments_ = line.trim().slice(commandWord(line).length);
    host.set({ running: `${dryRun}${arguments_}`, notice: null });
    const reply = await host.session.source.command(`${dryRun}${arguments_}`);
    host.set({ running: null });
    if (reply.status !== 200) {
      // A daemon without the count command still bans; only its no to the condition is an answer.
      if (reply.status === 101) return this.ask(line, null, `${line}  (cannot be counted)  really?`);
      return host.notify('bad', `${reply.status} ${oneLine(reply.body)}`);
    }
    this.ask(line, null, `${line}: ${oneLine(reply.body)} Really?`);
  }

  /** Runs it and shows what came of it. Resolves with the answer; a long one is a panel. */
  async run(line: string, undoes = 0): Promise<CommandReply> {
    const { host } = this;
    const { source, admin } = host.session;
    const shown = firstLine(line);
    host.set({ running: shown, notice: null });
    const changing = isChanging(line);
    const undo = changing ? await this.undoOf(line) : null;
    const reply = await source.command(line);
    if (host.state.running === shown) host.set({ running: null });
    if (changing) {
      this.log(shown, reply, undo, undoes);
      admin.refresh();
    }
    this.show(shown, reply, changing);
    return reply;
  }

  /** Asks whether the last change that can be undone is to be. */
  undo() {
    const { host } = this;
    const deed = host.state.deeds.find((d) => d.undo !== null && d.status === 200 && !d.undone);
    if (deed === undefined || deed.undo === null) return host.notify('warn', 'nothing that can be undone');
    if (host.state.readonly) return host.notify('warn', 'read-only: undo is disabled');
    const text = `undo "${deed.line}" by "${firstLine(deed.undo)}"?`;
    host.set({ confirm: { line: deed.undo, text, undoes: deed.id }, notice: null });
  }

  private async undoOf(line: string): Promise<string | null> {
    const words = line.trim().split(/\s+/);
    const row = UNDO.find((r) => r.command === words[0]);
    if (row === undefined) return null;
    const ask = row.ask(words);
    if (ask === null) return row.undo(words, '');
    const reply = await this.host.session.source.command(ask);
    return reply.status === 200 ? row.undo(words, reply.body) : null;
  }

  private log(line: string, reply: CommandReply, undo: string | null, undoes: number): void {
    const { host } = this;
    const deed: Deed = {
      id: this.nextId++,
      at: host.session.now(),
      line,
      status: reply.status,
      answer: oneLine(reply.body),
      undo: undoes > 0 ? null : undo,
      undone: false,
    };
    const former = host.state.deeds.map((d) =>
      d.id === undoes && reply.status === 200 ? { ...d, undone: true } : d,
    );
    host.set({ deeds: [deed, ...former].slice(0, KEPT_DEEDS) });
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
    const canUndo = changing && host.state.deeds[0]?.undo !== null && good;
    if (good) {
      const text = `${line}: ${said === '' ? 'done' : said}${canUndo ? '  (U undoes)' : ''}`;
      return host.notify('info', text);
    }
    host.notify('bad', status === 0 ? `not sent: ${said}` : `${status} ${said === '' ? 'failed' : said}`);
  }
}

/** The action log as lines, newest first. */
export function deedLines(deeds: readonly Deed[], clockOf: (at: number) => string): ToneLine[] {
  if (deeds.length === 0) return [[{ text: 'Nothing was changed from here.', tone: 'muted' }]];
  return deeds.map((d) => [
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

export function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

function oneLine(body: string): string {
  return body.trim().replace(/\s*\n\s*/g, ' · ');
}
