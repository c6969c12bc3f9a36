// Actions on programs: show the source, compare, load from a file, use after showing the changes, check. If a program
// does not compile, the errors are shown at their lines and nothing is loaded.

import { printable } from '../../model/log/transaction.ts';
import { bareName, placed } from '../../model/session/admin-line.ts';
import { type ProgramFile, programFiles } from '../../model/session/program-files.ts';
import type { HostFiles, LintFinding } from '../../model/ui/console-host.ts';
import { panelTextCells } from '../../model/ui/layout.ts';
import type { Operator } from '../../model/ui/operator.ts';
import { type Panel, type ToneLine, textPanel } from '../../model/ui/panel.ts';
import type { UiStore } from '../../model/ui/ui-state.ts';
import { inlineCommand } from '../../model/ui/undo.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { compileErrors, lintRemark } from './compile-error.ts';
import { type Program, programChanges } from './program-changes.ts';
import { activeProgram, PROGRAMS_LINE, programRows } from './program-rows.ts';
import { annotatedSource, type RemarkedFile, remarkedFiles, type SourceRemark } from './source-remarks.ts';

/** Lines between a remark and the panel's top. */
const VIEW_LINES = 7;

/** A program to load. */
export interface ProgramText {
  /** File path or name. */
  path: string;
  text: string;
  /** Does the daemon read the file itself? Otherwise the text is sent. */
  file: boolean;
  /** Name to load it under, with a number appended if taken. */
  stem: string;
  part: string;
}

export class ProgramFlow {
  private readonly c: ViewContext;
  private readonly ui: UiStore;
  private readonly operator: Operator;
  private readonly files: HostFiles;

  constructor(c: ViewContext) {
    this.c = c;
    this.ui = c.ui;
    this.operator = c.operator;
    this.files = c.files;
  }

  async showSource(name: string): Promise<void> {
    const program = await this.program(name);
    if (program === null) return;
    const lines = program.files.flatMap((file, i): ToneLine[] => [
      ...(i === 0 ? [] : [[]]),
      [{ text: file.name, tone: 'title' }],
      ...annotatedSource(file.text, [], panelTextCells(this.ui.size)),
    ]);
    this.panel(`Source of ${name}`, lines);
  }

  /** Shows the changes from the active program. */
  async diff(name: string): Promise<void> {
    const active = activeProgram(this.c.session, name);
    if (name === active)
      return this.ui.notify('info', `${name} is the active program: select another one to compare with it`);
    const panel = await this.changes(name);
    if (panel !== null) this.ui.set({ panel });
  }

  /** Shows the changes and asks for confirmation. */
  async use(name: string): Promise<void> {
    if (this.ui.state.readonly) return this.ui.notify('warn', 'read-only: vcl.use is disabled');
    const active = activeProgram(this.c.session, name);
    if (name === active) return this.ui.notify('info', `${name} is already active`);
    const panel = await this.changes(name);
    this.operator.ask(
      `vcl.use ${name}`,
      panel,
      `use ${bareName(name)}${active === '' ? '' : ` instead of ${bareName(active)}`}${panel === null ? ' (its changes cannot be shown)' : ''}?`,
    );
  }

  /** Asks before it goes; the active program cannot. */
  discard(name: string) {
    if (name === activeProgram(this.c.session, name))
      return this.ui.notify('warn', `${name} is the active program: use another one first`);
    const labels = programRows(this.c.session).filter((row) => row.facts.target === name);
    if (labels.length > 0)
      return this.ui.notify('warn', `${name} has the label ${labels[0]?.key}: discard or move that first`);
    this.operator.submit(`vcl.discard ${name}`);
  }

  /** Reads, loads, and offers to use it. `part` is the target among several instances. */
  async load(path: string, part = ''): Promise<void> {
    const { session, ui } = this.c;
    if (ui.state.readonly) return ui.notify('warn', 'read-only: vcl.load is disabled');
    const source = await this.read(path);
    if (source === null) return;
    if (part === '' && session.source.parts !== undefined)
      return this.operator.askWhere(`load ${path}`, (where) => void this.load(path, where));
    const file = session.source.local === true;
    await this.loadText({ path, text: source, file, stem: path, part });
  }

  /** Loads it and offers to use it; false after a failed load, with errors shown. */
  async loadText({ path, text, file, stem, part }: ProgramText): Promise<boolean> {
    const { session } = this.c;
    // A stale list could make the name of a new program look unused.
    await session.admin.ask(PROGRAMS_LINE);
    const name = this.freeName(stem, part);
    const line = file
      ? `vcl.load ${name} "${this.files.absolute(path).replace(/["\\]/g, '\\$&')}"`
      : inlineCommand(name, text);
    const reply = await this.operator.run(line, 0, part);
    if (reply.status === 200) {
      await session.admin.ask(PROGRAMS_LINE);
      await this.use(part === '' ? name : placed(part, name));
      return true;
    }
    if (reply.status !== 106) return false;
    const main = file ? this.files.absolute(path) : path;
    const local = session.source.local === true;
    const files = await this.remarked(compileErrors(reply.body, main), { name: main, text }, local);
    this.remarks(`${path} does not compile`, files);
    return false;
  }

  /** Shows errors of the program check at their lines; false without errors, or if the check cannot run. */
  async showErrors(path: string): Promise<boolean> {
    // The check is this project's daemon, which lacks the modules of other products.
    if (this.c.session.source.product !== undefined) return false;
    const found = await this.check(path).catch(() => []);
    const errors = found.filter((one) => one.severity === 'error').map(lintRemark);
    const text = errors.length === 0 ? null : await this.read(path);
    if (text === null) return false;
    const files = await this.remarked(errors, { name: this.files.absolute(path), text }, true);
    this.remarks(`${path} does not compile`, files);
    return true;
  }

  /** Shows findings of the program check at their lines. */
  async lint(path: string): Promise<void> {
    const source = await this.read(path);
    if (source === null) return;
    try {
      const found = (await this.check(path)).map(lintRemark);
      if (found.length === 0) return this.ui.notify('info', `${path}: no problems found`);
      const files = await this.remarked(found, { name: this.files.absolute(path), text: source }, true);
      const { product } = this.c.session.source;
      const by = product === undefined ? '' : ` of proxyd's check, not of ${product}'s`;
      this.remarks(`${path}: ${found.length === 1 ? '1 remark' : `${found.length} remarks`}${by}`, files);
    } catch (error) {
      this.ui.notify('bad', `cannot check: ${(error as Error).message}`);
    }
  }

  /** Replays the last requests of the log against a file, without loading it. The daemon reads the file. */
  async tryFile(path: string): Promise<void> {
    const { session, ui } = this.c;
    if (ui.state.readonly) return ui.notify('warn', 'read-only: vcl.try is disabled');
    if (session.source.parts !== undefined)
      return ui.notify('warn', 'two instances are shown as one: choose one with :ctx');
    const file = session.source.local === true ? this.files.absolute(path) : path;
    ui.set({ running: `trying ${path}`, notice: null });
    try {
      const { status, body } = await session.source.command(
        `vcl.try trial "${file.replace(/["\\]/g, '\\$&')}"`,
      );
      if (status === 200) this.panel(`${path}: trial`, textLines(body));
      else if (status === 106) this.panel(`${path} does not compile`, textLines(body));
      else ui.notify('bad', `${path}: ${body.trim()}`);
    } catch (error) {
      ui.notify('bad', `${path}: ${(error as Error).message}`);
    } finally {
      ui.set({ running: null });
    }
  }

  /** Runs in a process of its own, which takes a while. */
  private async check(path: string): Promise<LintFinding[]> {
    this.ui.set({ running: `checking ${path}`, notice: null });
    try {
      return await this.files.lint(path);
    } finally {
      this.ui.set({ running: null });
    }
  }

  private remarks(title: string, files: readonly RemarkedFile[]): void {
    if (files.length === 0) return;
    const { lines, first } = remarkedFiles(files, panelTextCells(this.ui.size));
    const scroll = Math.max(0, first - VIEW_LINES);
    this.ui.set({ panel: textPanel(title, lines, scroll) });
  }

  /** Files that have remarks, main one first. Included files are only readable where the compiler sees the same ones. */
  private async remarked(
    remarks: readonly SourceRemark[],
    main: ProgramFile,
    local: boolean,
  ): Promise<RemarkedFile[]> {
    const names = new Set(remarks.map((r) => r.file));
    const order = [...names].sort((a, b) => Number(b === main.name) - Number(a === main.name));
    const text = async (name: string): Promise<string | null> => {
      if (name === main.name) return main.text;
      return local ? this.files.read(name).catch(() => null) : null;
    };
    return Promise.all(
      order.map(async (name) => ({
        name,
        text: await text(name),
        remarks: remarks.filter((r) => r.file === name),
      })),
    );
  }

  private async changes(name: string): Promise<Panel | null> {
    const active = activeProgram(this.c.session, name);
    const after = await this.program(name);
    const before = active === '' ? { name: 'none', files: [] } : await this.program(active);
    if (after === null || before === null) return null;
    const lines = programChanges(before, after);
    return textPanel(`Changes from ${before.name} to ${name}`, lines);
  }

  /** With all its files, including includes. */
  async program(name: string): Promise<Program | null> {
    const { status, body } = await this.c.session.source.command(`vcl.show -v ${name}`);
    const files = status === 200 ? programFiles(body) : [];
    if (files.length > 0) return { name, files };
    this.ui.notify('bad', status === 200 ? `${name}: its files cannot be read` : `${status} ${body.trim()}`);
    return null;
  }

  private async read(path: string): Promise<string | null> {
    try {
      return await this.files.read(path);
    } catch (error) {
      this.ui.notify('bad', `${path}: ${(error as Error).message}`);
      return null;
    }
  }

  /** Named after the file, with a number appended if taken. */
  private freeName(path: string, part: string): string {
    const base = (path.split('/').at(-1) ?? '').replace(/\.vcl$/, '').replace(/[^\w-]/g, '_');
    const stem = /^[A-Za-z]/.test(base) ? base : `p_${base}`;
    const taken = new Set(programRows(this.c.session).map((r) => r.key));
    for (let n = 1; ; n++) {
      const name = n === 1 ? stem : `${stem}_${n}`;
      if (!taken.has(part === '' ? name : placed(part, name))) return name;
    }
  }

  private panel(title: string, lines: readonly ToneLine[]): void {
    this.ui.set({ panel: textPanel(title, lines) });
  }
}

function textLines(text: string): ToneLine[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => [{ text: printable(line) }]);
}
