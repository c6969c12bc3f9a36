// The console for a screen reader: no screen, but lines that are spoken once. What changes is told when it changes:
// the view, the selected row, what is typed, questions, answers, errors, the connection. Keys are the same.

import type { Controller } from '../model/controller.ts';
import { selectedEntry, selectedPlace } from '../model/log-view.ts';
import { clock, percent, rate } from '../model/numbers.ts';
import { cursorIndex, visibleCounters } from '../model/stat-view.ts';
import { decodeRecords } from '../model/transaction.ts';
import { viewRow } from '../model/views.ts';

/** Seconds between two summaries of the dashboard. */
const SUMMARY_SECONDS = 15;

export class Reader {
  private readonly c: Controller;
  private readonly write: (text: string) => void;
  private readonly told = new Map<string, string>();
  private summaryAt = 0;

  constructor(controller: Controller, write: (text: string) => void) {
    this.c = controller;
    this.write = write;
  }

  /** Called after every change; tells what is new. */
  update(): void {
    const { state, session } = this.c;
    this.tell(
      'connection',
      `${session.connection.state === 'up' ? 'Connected' : session.connection.state === 'waiting' ? `No connection: ${session.connection.reason}` : 'Connecting'}.`,
      true,
    );
    this.tell('view', `${viewRow(state.view).title} view. ${this.remark()}`);
    this.tell('row', this.row());
    this.tell(
      'field',
      state.field === null
        ? ''
        : `${state.field.prompt?.label ?? state.field.kind}: ${state.field.line.text}${state.field.check !== null && !state.field.check.ok ? `. ${state.field.check.message}` : ''}`,
    );
    this.tell('confirm', state.confirm === null ? '' : `Question: ${state.confirm.text} y or n.`);
    this.tell('panel', this.panel());
    this.tell(
      'notice',
      state.notice === null ? '' : `${state.notice.level === 'info' ? '' : 'Warning: '}${state.notice.text}`,
    );
    const last = session.errors.at(session.errors.size - 1);
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
    const { session, state } = this.c;
    if (
      state.view !== 'dashboard' ||
      session.now() - this.summaryAt < SUMMARY_SECONDS ||
      session.requests.length === 0
    )
      return;
    this.summaryAt = session.now();
    const sick = session.backends.filter((b) => b.health === 'sick').map((b) => b.name);
    this.write(
      `${rate(session.requests.last() ?? 0)} requests a second, hit rate ${percent(session.hitRate.window(10).rate)}, ${session.backends.length} backends, ${sick.length === 0 ? 'none sick' : `sick: ${sick.join(', ')}`}.\r\n`,
    );
  }

  private remark(): string {
    const { c } = this;
    if (c.listView === null)
      return c.state.view === 'log'
        ? c.session.query === ''
          ? 'All transactions.'
          : `Query ${c.session.query}.`
        : '';
    const rows = c.listRows(c.listView).length;
    return rows === 1 ? '1 row.' : `${rows} rows.`;
  }

  private row(): string {
    const { c } = this;
    const { view } = c.state;
    if (c.listView !== null)
      return (
        c
          .selected(c.listView)
          ?.cells.map((cell) => cell.text)
          .filter(Boolean)
          .join(', ') ?? ''
      );
    if (view === 'stats') {
      const visible = visibleCounters(c.state.stat, c.session.counters.all());
      const name = visible[cursorIndex(c.state.stat, visible)];
      return name === undefined || c.state.stat.selected === ''
        ? ''
        : `${name.info.name}, ${name.info.description}`;
    }
    if (view !== 'log' || c.state.log.follow) return '';
    const entry = selectedEntry(c.state.log, c.session.log);
    if (entry === undefined) return '';
    if (entry.gap !== '') return entry.gap;
    const place = selectedPlace(c.state.log, c.session.log);
    const tx = entry.transactions[place.tx];
    if (tx !== undefined && place.record >= 0) {
      const record = decodeRecords(tx.records)[place.record];
      return record === undefined ? '' : `${record.name} ${record.text}`;
    }
    const s = entry.summary;
    return tx === undefined ? `${s.handling} ${s.status} ${s.method} ${s.url}` : `${tx.type} ${tx.vxid}`;
  }

  private panel(): string {
    const { panel } = this.c.state;
    if (panel === null) return '';
    if (panel.kind === 'text')
      return [panel.title, ...panel.lines.map((l) => l.map((s) => s.text).join(''))].join('\r\n');
    if (panel.kind === 'choices') {
      const choice = panel.choices[panel.scroll];
      return `${panel.title}: ${panel.scroll + 1} of ${panel.choices.length}, ${choice?.label ?? 'none'} ${choice?.note ?? ''}`;
    }
    return this.c.keymap
      .help(this.c.state.view, panel.filter)
      .flatMap((s) => [s.title, ...s.rows.map((r) => `${r.keys}: ${r.help}`)])
      .join('\r\n');
  }
}
