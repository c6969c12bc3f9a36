// What happened to a Varnish, as its log says: commands that reached the child, whoever gave them, and backends that changed.
// The log does not say when, nor who; the child's pings say the second. What never reaches the child is not in it: parameters
// (parameter-watch.ts), what is done while it does not run, and bans and purges by programs.
//
// Special case: a child that starts is given programs by its manager, as by an operator. A load says when the program was
// compiled, and is the same event again; other commands before its `start` are no events.

import { RecordCursor } from '../../protocol/log-record.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { NotedAs } from '../client/source.ts';

export interface LogEvent extends NotedAs {
  readonly text: string;
}

const KINDS: Readonly<Record<string, NotedAs['kind']>> = {
  'vcl.load': 'program',
  'vcl.use': 'program',
  'vcl.label': 'program',
  'vcl.discard': 'program',
  'backend.set_health': 'health',
  ban: 'ban',
};

const OK = 200;
/** `vcl.load "boot" vcl_boot.1795551775.704660/vgc.so 1auto`: the file was made when the program was compiled. */
const LOADED = /^vcl\.load "?([^"\s]+)"? \S*?\.(\d{9,}\.\d+)\//;
/** The second word that an event of proxyd has. */
const UP_OR_DOWN: Readonly<Record<string, string>> = { healthy: 'up', sick: 'down' };
/** The answer stands in quotes in later releases than 6.0. */
const CHANGED = /^(\S+) (?:Went|Back) (healthy|sick) \S+ \d+ \d+ \d+ \S+ \S+ ?"?(.*?)"?$/;
const PONG = /^Wr 200 \d+ PONG (\d+)/;
/** A request's own times; the last of them is about when it was logged. */
const STAMP = /^\w+: (\d{9,}\.\d+) /;

export class LogEvents {
  private asked = '';
  private at = 0;
  /** What the child was told before it was started, if that is what it is; null once it runs. */
  private early: LogEvent[] | null = null;

  /** Another child begins its log: what comes before its `start` is its manager's. */
  begin(): void {
    this.early = [];
  }

  /** `now` in epoch seconds; without it the time is that of the log. */
  read(records: Uint8Array, now?: number): LogEvent[] {
    const cursor = new RecordCursor(records);
    const out: LogEvent[] = [];
    while (cursor.next()) {
      if (cursor.tag === Tag.CLI) out.push(...this.cli(cursor.text, now));
      else if (cursor.tag === Tag.Backend_health) out.push(...this.health(cursor.text, now));
      else if (now === undefined && cursor.tag === Tag.Timestamp) this.see(STAMP.exec(cursor.text)?.[1]);
    }
    return out;
  }

  /** What was taken for a start was none: it is not in the log any more. */
  settle(): LogEvent[] {
    const { early } = this;
    this.early = null;
    return early ?? [];
  }

  private see(time: string | undefined): void {
    if (time !== undefined) this.at = Math.max(this.at, Number(time));
  }

  private cli(text: string, now: number | undefined): LogEvent[] {
    if (text.startsWith('Rd ')) {
      this.asked = text.slice(3).trim();
      return [];
    }
    const pong = PONG.exec(text);
    if (pong !== null) {
      this.see(pong[1]);
      // A child that starts has a second or more until its first.
      return this.settle();
    }
    const line = this.asked;
    this.asked = '';
    if (Number(/^Wr (\d+)/.exec(text)?.[1]) !== OK) return [];
    if (line === 'start') {
      this.early = null;
      return [];
    }
    const word = line.split(' ', 1)[0] ?? '';
    const kind = KINDS[word];
    if (kind === undefined) return [];
    const loaded = LOADED.exec(line);
    if (loaded !== null) return [{ at: Number(loaded[2]), kind, text: `vcl.load ${loaded[1]}` }];
    const event = { at: now ?? this.at, kind, text: line.replace(/^(vcl\.\w+) "([^"\s]+)"/, '$1 $2') };
    if (this.early === null) return event.at === 0 ? [] : [event];
    this.early.push(event);
    return [];
  }

  private health(text: string, now: number | undefined): LogEvent[] {
    const found = CHANGED.exec(text);
    const at = now ?? this.at;
    if (found === null || at === 0) return [];
    const [, name, state, answer] = found;
    const why = answer === '' ? '' : `: ${answer}`;
    return [{ at, kind: 'health', text: `${name} went ${state} (${UP_OR_DOWN[state ?? '']})${why}` }];
  }
}
