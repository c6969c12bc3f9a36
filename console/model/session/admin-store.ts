// Answers to admin commands that views show, polled while such a view is open. The last answer stays when a newer one
// fails, so that a view does not go blank with the daemon; each answer has its time.

import type { CommandReply } from '../../../protocol/messages.ts';
import type { Source } from '../../client/source.ts';

const OK = 200;

export interface Ask {
  line: string;
  /** Seconds between two polls while the view is open. */
  every: number;
  /** The view has rows without this answer. */
  optional?: true;
}

export interface Answer {
  status: number;
  body: string;
  /** Epoch seconds. */
  at: number;
}

export class AdminStore {
  private readonly source: Source;
  private readonly now: () => number;
  private readonly changed: () => void;
  private readonly answers = new Map<string, Answer>();
  private readonly pending = new Map<string, Promise<Answer>>();
  /** Commands of once() sent since the last change. */
  private readonly asked = new Set<string>();
  private watched: readonly Ask[] = [];

  constructor(source: Source, now: () => number, changed: () => void) {
    this.source = source;
    this.now = now;
    this.changed = changed;
  }

  /** Sets the open view's commands; sends those whose answers are too old. */
  watch(asks: readonly Ask[]): void {
    this.watched = asks;
    this.tick();
  }

  /** Sends what is due, also after a clock was set back; called with every sample and every second. */
  tick(): void {
    for (const { line, every } of this.watched) {
      const known = this.answers.get(line);
      if (known === undefined || Math.abs(this.now() - known.at) >= every) void this.ask(line);
    }
  }

  /** Sends all again: a command was carried out, or the worker restarted. */
  refresh(): void {
    this.asked.clear();
    for (const { line } of this.watched) void this.ask(line);
  }

  /** The body of a command that is sent once, and again after a change; '' until it is answered. */
  once(line: string): string {
    if (!this.asked.has(line)) {
      this.asked.add(line);
      void this.ask(line);
    }
    return this.body(line);
  }

  answer(line: string): Answer | undefined {
    return this.answers.get(line);
  }

  /** The body of a successful answer, '' otherwise. */
  body(line: string): string {
    const known = this.answers.get(line);
    return known?.status === OK ? known.body : '';
  }

  /** Why there is no answer; '' with one. */
  unanswered(line: string): string {
    const known = this.answers.get(line);
    return known === undefined ? 'not answered yet' : notKnown(known);
  }

  /** Sends a command, or waits for the answer if it is already sent. Status 0 (no connection) never replaces an answer. */
  ask(line: string): Promise<Answer> {
    const sent = this.pending.get(line) ?? this.send(line);
    this.pending.set(line, sent);
    return sent;
  }

  private async send(line: string): Promise<Answer> {
    const reply = await this.source.command(line);
    this.pending.delete(line);
    const answer: Answer = { ...reply, at: this.now() };
    if (reply.status !== 0 || !this.answers.has(line)) this.answers.set(line, answer);
    this.changed();
    return answer;
  }
}

/** Why an answer has no data, such as that of a daemon without a worker; '' for one with data. */
export function notKnown({ status, body }: CommandReply): string {
  if (status === OK) return '';
  // The manager's answer to commands of the worker while there is none.
  if (/\(child not running\)/.test(body)) return 'no worker';
  return status === 0 ? 'no connection' : `not known: ${(body.split('\n', 1)[0] ?? '').replace(/\.$/, '')}`;
}

/** The objects of a `-j` answer, without version, command and time; [] for anything else. */
export function answerItems(body: string): unknown[] {
  try {
    // Bitmaps are 64 bits wide: as numbers they would lose their last digits.
    const value: unknown = JSON.parse(body.replace(/: (\d{16,})(?=[,\s}])/g, ': "$1"'));
    return Array.isArray(value) ? value.slice(3) : [];
  } catch {
    return [];
  }
}

/** A field of an unknown object as text; '' when there is none. */
export function textField(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return '';
  const field = (value as Record<string, unknown>)[name];
  return field === undefined || field === null ? '' : String(field);
}
