// The last answers to probes, from the Backend_health records of the log: the list of backends has the number of good
// polls, not the reasons of the others. A record names a backend without its program, and several warm programs may
// have one of the same name: an answer belongs to a row only if their windows agree.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Source, Subscription } from '../../client/source.ts';
import { printable } from '../log/transaction.ts';

/** The state of a probe's window after a poll, as both the log and the list of backends have it. */
export interface ProbeState {
  /** A letter for each property of the newest poll, else a dash: 4---X-RH. */
  bits: string;
  good: number;
  threshold: number;
  window: number;
}

export interface ProbeAnswer extends ProbeState {
  /** First line of the response, or the error. */
  text: string;
  /** Seconds until the answer was complete; 0 without one. */
  seconds: number;
}

/** The answer is quoted in releases of Varnish after 6.0. */
const RECORD = /^(\S+) \S+ (?:healthy|sick) (\S+) (\d+) (\d+) (\d+) (\S+) \S+ ?"?(.*?)"?$/;
/** Answers kept by name: the list of backends lags some polls behind the log. */
const KEPT = 8;
const MOST_NAMES = 4096;

export class ProbeAnswers {
  private readonly source: Source;
  private readonly changed: () => void;
  /** The newest last. */
  private readonly answers = new Map<string, ProbeAnswer[]>();
  private stream: Subscription | null = null;

  constructor(source: Source, changed: () => void) {
    this.source = source;
    this.changed = changed;
  }

  /** Subscribes to the log; further calls do nothing. */
  watch(): void {
    this.stream ??= this.source.log(
      { grouping: 'raw', from: 'head', filters: [{ kind: 'include-tags', tags: 'Backend_health' }] },
      {
        batch: (transactions) => {
          for (const tx of transactions) this.take(tx);
          this.changed();
        },
        lost: () => undefined,
        failed: () => undefined,
      },
    );
  }

  close(): void {
    this.stream?.close();
  }

  /** The last answer of the backend with this name that left its window in this state. */
  of(name: string, state: ProbeState): ProbeAnswer | undefined {
    return this.answers
      .get(name)
      ?.findLast(
        (a) =>
          a.bits === state.bits &&
          a.good === state.good &&
          a.threshold === state.threshold &&
          a.window === state.window,
      );
  }

  private take({ records }: LogTransaction): void {
    const cursor = new RecordCursor(Buffer.from(records.buffer, records.byteOffset, records.byteLength));
    while (cursor.next()) {
      const found = cursor.tag === Tag.Backend_health ? RECORD.exec(cursor.text) : null;
      if (found === null) continue;
      const [, name = '', bits = '', good, threshold, window, seconds, text = ''] = found;
      const known = this.answers.get(name) ?? [];
      known.push({
        bits,
        good: Number(good),
        threshold: Number(threshold),
        window: Number(window),
        seconds: Number(seconds),
        text: printable(text),
      });
      if (known.length > KEPT) known.shift();
      if (this.answers.size < MOST_NAMES || this.answers.has(name)) this.answers.set(name, known);
    }
  }
}

/** Whether a probe timed out. */
export function isTimeout(text: string): boolean {
  return / error \d+ \(Connection timed out\)$/.test(text);
}

/** A short text of an answer. @param within the timeout of the probe as the program has it (500ms); '' when unknown */
export function answerWords(text: string, within = ''): string {
  const status = /^HTTP\/\S+ (\d{3})\b/.exec(text)?.[1];
  if (status !== undefined) return `HTTP ${status}`;
  const tls = /^\w+ error (TLS: .*)$/.exec(text)?.[1];
  if (tls !== undefined) return tls;
  const failed = /^(Open|Poll|Read|Write) error \d+ \((.*)\)$/.exec(text);
  if (failed === null) return text.toLowerCase();
  const [, step = '', why = ''] = failed;
  if (why === 'Connection timed out') {
    const limit = within === '' ? 'time' : within.replace(/^([\d.]+) ?(\w+)$/, '$1 $2');
    return `no ${step === 'Open' ? 'connection' : 'answer'} in ${limit}`;
  }
  const doing = { Open: 'connect', Poll: 'poll', Read: 'read', Write: 'write' }[step] ?? step;
  return `${doing} ${why.replace(/^Connection /, '').toLowerCase()}`;
}
