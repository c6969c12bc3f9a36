// The console for a screen reader: lines that are spoken once instead of a screen. Changes are spoken when they occur:
// the view, the selected row, the typed text, questions, replies, errors, the connection. Keys are the same. The
// numbers of a row change all the time: they are spoken after a key, and periodically.

import { clock } from '../model/ui/numbers.ts';
import type { UiState } from '../model/ui/ui-state.ts';
import type { ViewContext } from '../model/ui/view.ts';
import { spokenHealth } from './components/health-strip.tsx';

/** Seconds between two summaries of a view, and between two readings of an unchanged selection. */
const SUMMARY_SECONDS = 15;

export class Reader {
  private readonly c: ViewContext;
  private readonly write: (text: string) => void;
  private readonly spoken = new Map<string, string>();
  private summaryAt = 0;
  private rowAt = 0;
  /** The state of the last reading: it changes by keys, not by data. */
  private seen: UiState | null = null;

  constructor(c: ViewContext, write: (text: string) => void) {
    this.c = c;
    this.write = write;
  }

  /** Speaks the changes; called after each one. */
  update(): void {
    const { session, view } = this.c;
    const { state } = this.c.ui;
    this.speak('health', `${spokenHealth(this.c)}.`, true);
    const row = this.spoken.get('row') ?? '';
    if (state !== this.seen || row === '' || session.now() - this.rowAt >= SUMMARY_SECONDS) {
      this.seen = state;
      this.rowAt = session.now();
      this.speak('view', `${view.title} view. ${view.spokenRemark(this.c)}`);
      this.speak('row', view.spokenRow(this.c));
    }
    this.speak('field', this.field());
    this.speak('confirm', state.confirm === null ? '' : `Question: ${state.confirm.text} y or n.`);
    this.speak('panel', this.panel());
    this.speak(
      'notice',
      state.notice === null ? '' : `${state.notice.level === 'info' ? '' : 'Warning: '}${state.notice.text}`,
    );
    const last = session.log.errors.at(session.log.errors.size - 1);
    if (last !== undefined && last.gap === '')
      this.speak(
        'error',
        `Error ${last.summary.status} at ${clock(last.summary.at, session.utc)}: ${last.summary.method} ${last.summary.url} ${last.summary.error || last.fetchError}`,
      );
    this.summary();
  }

  private speak(what: string, text: string, always = false): void {
    if (this.spoken.get(what) === text) return;
    this.spoken.set(what, text);
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
