// Events of a Varnish, derived from its log: commands that reached the child, whoever sent them, and health changes
// of backends. The log has neither their time, which the child's pings give to the second, nor their author. Missing
// are events that never reach the child: parameters (parameter-watch.ts), commands while it does not run, and bans
// and purges by programs. Special case: a starting child gets its programs from the manager as if from an operator. A
// load includes the time of compilation, and is the same event again; other commands before `start` are not events.

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
/** `vcl.load "boot" vcl_boot.1795551775.704660/vgc.so 1auto`: the file's timestamp is the time of compilation. */
const LOADED = /^vcl\.load "?([^"\s]+)"? \S*?\.(\d{9,}\.\d+)\//;
/** The second word of the corresponding proxyd events. */
const UP_OR_DOWN: Readonly<Record<string, string>> = { healthy: 'up', sick: 'down' };
/** Releases after 6.0 quote the response. */
const CHANGED = /^(\S+) (?:Went|Back) (healthy|sick) \S+ \d+ \d+ \d+ \S+ \S+ ?"?(.*?)"?$/;
const PONG = /^Wr 200 \d+ PONG (\d+)/;
/** Timestamps of requests; the last one is close to the time of logging. */
const STAMP = /^\w+: (\d{9,}\.\d+) /;

export class LogEvents {
  private asked = '';
  private at = 0;
  /** Commands before the start of a child, if this is one; null once it runs. */
  private early: LogEvent[] | null = null;

  /** A new child's log begins: commands before its `start` come from its manager. */
  begin(): void {
    this.early = [];
  }

  /** `now` in epoch seconds; if absent the log's time is used. */
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

  /** The presumed start was none: it is no longer in the log. */
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
      // A starting child takes a second or more until its first ping.
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
