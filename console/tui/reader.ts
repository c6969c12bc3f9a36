// The console for a screen reader: no screen, but lines that are spoken once. What changes is spoken when it changes:
// the view, the selected row, what is typed, questions, answers, errors, the connection. Keys are the same. The numbers of a
// row move all the time: they are spoken when the operator does something, and now and then.

import { clock } from '../model/ui/numbers.ts';
import type { UiState } from '../model/ui/ui-state.ts';
import type { ViewContext } from '../model/ui/view.ts';
import { spokenHealth } from './components/health-strip.tsx';

/** Seconds between two summaries of a view, and between two readings of a row that nobody has moved to. */
const SUMMARY_SECONDS = 15;

export class Reader {
  private readonly c: ViewContext;
  private readonly write: (text: string) => void;
  private readonly told = new Map<string, string>();
  private summaryAt = 0;
  private rowAt = 0;
  /** As it was then: it changes with what the operator does, and not with what the daemon sends. */
  private seen: UiState | null = null;

  constructor(c: ViewContext, write: (text: string) => void) {
    this.c = c;
    this.write = write;
  }

  /** Called after every change; tells what is new. */
  update(): void {
    const { session, view } = this.c;
    const { state } = this.c.ui;
    this.tell('health', `${spokenHealth(this.c)}.`, true);
    const told = this.told.get('row') ?? '';
    if (state !== this.seen || told === '' || session.now() - this.rowAt >= SUMMARY_SECONDS) {
      this.seen = state;
      this.rowAt = session.now();
      this.tell('view', `${view.title} view. ${view.spokenRemark(this.c)}`);
      this.tell('row', view.spokenRow(this.c));
    }
    this.tell('field', this.field());
    this.tell('confirm', state.confirm === null ? '' : `Question: ${state.confirm.text} y or n.`);
    this.tell('panel', this.panel());
    this.tell(
      'notice',
      state.notice === null ? '' : `${state.notice.level === 'info' ? '' : 'Warning: '}${state.notice.text}`,
    );
    const last = session.log.errors.at(session.log.errors.size - 1);
    if (last !== undefined && last.gap === '')
      this.tell(
        'error',
        `Error ${last.summary.status} at ${clock(last.summary.at, session.utc)}: ${last.summary.method} ${last.summary.url} ${last.summary.error || last.fetchError}`,
      );
    this.summary();
  }

  private tell(what: string, text: string, always = false): void {
    if (this.told.get(what) === text) return;
    this.told.set(what, text);
    if (text !== '' || always) this.write(`${text}\r\n`);
  }

  private summary(): void {
    const { session, view } = this.c;
    if (session.now() - this.summaryAt < SUMMARY_SECONDS) return;
    const text = view.spokenSummary(this.c);
    if (text === '') return;
    this.summaryAt = session.now();
    this.write(`${text}\r\n`);
  }

  private field(): string {
    const { field } = this.c.ui.state;
    if (field === null) return '';
    const { check, offered, otherwise, prompt, kind, line } = field;
    const problem = offered ? otherwise?.offer : check?.ok === false ? check.message : undefined;
    return `${prompt?.label ?? kind}: ${line.text}${problem === undefined ? '' : `. ${problem}`}`;
  }

  private panel(): string {
    const { panel } = this.c.ui.state;
    if (panel === null) return '';
    if (panel.kind === 'text')
      return [panel.title, ...panel.lines.map((l) => l.map((s) => s.text).join(''))].join('\r\n');
    if (panel.kind === 'choices') {
      const choice = panel.choices[panel.scroll];
      return `${panel.title}: ${panel.scroll + 1} of ${panel.choices.length}, ${choice?.label ?? 'none'} ${choice?.note ?? ''}`;
    }
    return this.c.keymap
      .help(this.c.view.name, panel.filter)
      .flatMap((s) => [s.title, ...s.rows.map((r) => `${r.keys}: ${r.help}`)])
      .join('\r\n');
  }
}
