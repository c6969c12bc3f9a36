// Times in the kept log: a histogram, the group at a time, bookmarks. Groups are kept in the order of their ends, so that a
// time is found by bisection: unpacking all of twenty thousand groups would take the better part of a second.

import type { LogEntry } from '../../model/log/log-entry.ts';
import type { LogReader } from '../../model/log/log-store.ts';
import { amount, clock, dated } from '../../model/ui/numbers.ts';
import { type Choice, choicePanel } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { actOnLog } from './log-actions.ts';
import { nextError } from './log-search.ts';
import { LOG_STATE, selectedEntry } from './log-state.ts';

/** Lengths of a part of the histogram, in seconds, and the most parts (chosen). */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400];
const MOST_PARTS = 40;
/** Errors that are counted in a part, and the longest bar in cells (chosen). */
const MOST_ERRORS = 99;
const BAR = 24;
const MOST_BOOKMARKS = 50;

/** Epoch seconds at which a group ended; 0 of a mark. */
function endOf({ gap, summary }: LogEntry): number {
  return gap !== '' ? 0 : summary.at + (Number.isNaN(summary.seconds) ? 0 : summary.seconds);
}

/** The end of the first group from an index on, marks left out; Infinity without one. */
function timeFrom(store: LogReader, from: number): number {
  for (let i = from; i < store.size; i++) {
    const at = endOf(store.at(i) as LogEntry);
    if (at > 0) return at;
  }
  return Number.POSITIVE_INFINITY;
}

/** Index of the first group that ended at a time (epoch seconds) or later; the number of groups without one. */
export function indexAt(store: LogReader, at: number): number {
  let low = 0;
  let high = store.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeFrom(store, middle) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface LogPart {
  /** Epoch seconds of its beginning. */
  at: number;
  /** Index of its first group, and how many there are. */
  from: number;
  groups: number;
  /** Failed ones, counted up to MOST_ERRORS. */
  errors: number;
}

/** Parts of equal length that cover the log, the oldest first. */
export function logParts(store: LogReader): LogPart[] {
  const first = timeFrom(store, 0);
  let end = store.size - 1;
  while (end > 0 && endOf(store.at(end) as LogEntry) === 0) end--;
  if (first === Number.POSITIVE_INFINITY) return [];
  const last = endOf(store.at(end) as LogEntry);
  const step =
    STEPS.find((one) => (last - first) / one < MOST_PARTS - 1) ?? (last - first) / (MOST_PARTS - 1);
  const out: LogPart[] = [];
  let from = 0;
  for (let at = Math.floor(first / step) * step; from < store.size && out.length <= MOST_PARTS; at += step) {
    const next = Math.max(from, indexAt(store, at + step));
    out.push({ at, from, groups: next - from, errors: errorsIn(store, from, next) });
    from = next;
  }
  return out;
}

function errorsIn(store: LogReader, from: number, to: number): number {
  let n = 0;
  for (let i = nextError(store, from - 1, false); i >= 0 && i < to && n < MOST_ERRORS; n++)
    i = nextError(store, i, false);
  return n;
}

function jumpTo(c: ViewContext, entry: LogEntry | undefined): void {
  if (entry !== undefined) actOnLog(c, { type: 'jump', seq: entry.seq, place: { tx: -1, record: -1 } });
}

/** Requests and errors over the time of the log; Enter goes there. */
export function showHistogram(c: ViewContext) {
  const { shown } = c.session.log;
  const parts = logParts(shown);
  if (parts.length === 0) return c.ui.notify('warn', 'the log is empty');
  const most = Math.max(...parts.map(({ groups }) => groups));
  const selected = shown.indexOf(selectedEntry(c.ui.stateOf(LOG_STATE), shown)?.seq ?? 0);
  const here = parts.findLastIndex(({ from }) => from <= selected);
  const choices = parts.map(({ at, from, groups, errors }): Choice => {
    // Indexes change while the panel is open, when old groups go.
    const entry = shown.at(Math.min(from, shown.size - 1));
    const bar = '#'.repeat(groups === 0 ? 0 : Math.max(1, Math.round((groups / most) * BAR)));
    const failed = errors === 0 ? '' : `, ${errors === MOST_ERRORS ? `${errors} or more` : errors} failed`;
    return {
      label: `${dated(at, c.session.now(), c.session.utc)}  ${bar.padEnd(BAR)}  ${groups}${failed}`,
      note: '',
      take: () => jumpTo(c, entry),
    };
  });
  c.ui.set({ panel: choicePanel('Log over time', choices, Math.max(0, here)), notice: null });
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** The time that a text means, in epoch seconds: HH:MM, HH:MM:SS, the last that is over; or -30s, -5m, -2h before
 * now. NaN for any other text. */
export function timeOf(text: string, now: number, utc: boolean): number {
  const [, ago = '', unit = ''] = /^-(\d{1,6})([smh])$/.exec(text.trim()) ?? [];
  if (ago !== '') return now - Number(ago) * (UNITS[unit] as number);
  const match = /^(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text.trim());
  const [hour, minute, second] = [match?.[1], match?.[2], match?.[3] ?? 0].map(Number) as [
    number,
    number,
    number,
  ];
  if (match === null || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const day = new Date(now * 1000);
  if (utc) day.setUTCHours(hour, minute, second, 0);
  else day.setHours(hour, minute, second, 0);
  if (day.getTime() / 1000 > now) {
    if (utc) day.setUTCDate(day.getUTCDate() - 1);
    else day.setDate(day.getDate() - 1);
  }
  return day.getTime() / 1000;
}

export function promptTime(c: ViewContext): void {
  const { session } = c;
  c.fields.prompt(
    {
      kind: 'prompt',
      verdict: (text) =>
        Number.isNaN(timeOf(text, session.now(), session.utc))
          ? {
              ok: false,
              from: 0,
              to: Math.max(1, text.length),
              message: 'HH:MM:SS, HH:MM, -30s, -5m or -2h',
              expected: [],
            }
          : { ok: true },
      accept: (text) => goToTime(c, timeOf(text, session.now(), session.utc)),
    },
    'go to time',
  );
}

function goToTime(c: ViewContext, at: number) {
  const { log, utc } = c.session;
  const { shown } = log;
  const first = timeFrom(shown, 0);
  if (first === Number.POSITIVE_INFINITY) return c.ui.notify('warn', 'the log is empty');
  const index = indexAt(shown, at);
  jumpTo(c, shown.at(Math.min(index, shown.size - 1)));
  if (at < first) c.ui.notify('warn', `the log shown begins at ${clock(first, utc)}`);
  else if (index === shown.size) c.ui.notify('warn', `nothing after ${clock(at, utc)}`);
}

/** Sets a bookmark at the selected group, or removes it. */
export function toggleBookmark(c: ViewContext) {
  actOnLog(c, { type: 'move', rows: 0 });
  const state = c.ui.stateOf(LOG_STATE);
  const entry = selectedEntry(state, c.session.log.shown);
  if (entry === undefined) return c.ui.notify('warn', 'nothing is selected');
  const others = state.bookmarks.filter((seq) => seq !== entry.seq);
  const isNew = others.length === state.bookmarks.length;
  const bookmarks = (isNew ? [...others, entry.seq] : others).slice(-MOST_BOOKMARKS);
  c.ui.setState(LOG_STATE, { ...state, bookmarks });
  c.ui.notify('info', isNew ? `${amount(bookmarks.length, 'bookmark')}: ' lists them` : 'bookmark removed');
}

/** Bookmarks of groups that are still kept, the oldest first. */
export function chooseBookmark(c: ViewContext) {
  const { session } = c;
  const { kept, shown } = session.log;
  const state = c.ui.stateOf(LOG_STATE);
  const bookmarks = state.bookmarks.filter((seq) => seq >= kept.oldest && seq < kept.end);
  c.ui.setState(LOG_STATE, { ...state, bookmarks });
  if (bookmarks.length === 0) return c.ui.notify('warn', 'no bookmarks: ; sets one at the selected group');
  const choices = bookmarks
    .toSorted((a, b) => a - b)
    .map((seq): Choice => {
      const entry = kept.at(kept.indexOf(seq)) as LogEntry;
      const index = shown.indexOf(seq);
      const isShown = shown.at(index)?.seq === seq;
      const { at, method, url, status } = entry.summary;
      const text = entry.gap === '' ? `${method} ${url} ${status}` : entry.gap;
      return {
        label: `${at > 0 ? dated(at, session.now(), session.utc) : ''}  ${text}`,
        note: isShown ? '' : 'hidden by the query',
        take: () => (isShown ? jumpTo(c, entry) : c.ui.notify('warn', 'the query hides this group')),
      };
    });
  c.ui.set({ panel: choicePanel('Bookmarks', choices), notice: null });
}
