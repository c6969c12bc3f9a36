// Records a source: it works as before, and each step is noted. Bounded: a recording that has grown too long leaves out
// the log.

import type { CommandReply, HistoryRequest, LogSubscription } from '../../../protocol/messages.ts';
import type { LogHandlers, PastPoint, Source, SourceEvents, Subscription } from '../../client/source.ts';
import { answerItems } from './admin-store.ts';
import { EVENTS_ASKED } from './event-log.ts';
import { encodeTransaction, type RecordedStep, type Recording } from './recording.ts';

/** Bytes of log and answers of a recording at most. */
const MOST_BYTES = 256 << 20;

export class RecordingSource implements Source {
  readonly label: string;
  readonly local?: boolean;
  readonly product?: string;
  readonly eventLimits?: string;
  private readonly source: Source;
  private readonly now: () => number;
  private recording: Recording | null = null;
  private stream: Subscription | null = null;
  private names: Extract<RecordedStep, { kind: 'counters' }> | null = null;
  private up: Extract<RecordedStep, { kind: 'up' }> | null = null;
  private values: bigint[] = [];
  private sampledAt = 0;
  private bytes = 0;
  /** The last answer to each command line. */
  private readonly answers = new Map<string, string>();

  constructor(source: Source, now: () => number) {
    this.source = source;
    this.now = now;
    this.label = source.label;
    if (source.local !== undefined) this.local = source.local;
    if (source.product !== undefined) this.product = source.product;
    if (source.eventLimits !== undefined) this.eventLimits = source.eventLimits;
  }

  get recorded(): boolean {
    return this.source.recorded === true;
  }

  get canReplay(): boolean {
    return this.source.canReplay === true;
  }

  history(request: HistoryRequest): Promise<readonly PastPoint[]> {
    return this.source.history?.(request) ?? Promise.resolve([]);
  }

  get commands(): ReadonlySet<string> | undefined {
    return this.source.commands;
  }

  get active(): boolean {
    return this.recording !== null;
  }

  /** Seconds recorded, and whether the limit was reached. */
  get progress(): { seconds: number; full: boolean } {
    const { recording } = this;
    return {
      seconds: recording === null ? 0 : this.now() - recording.start,
      full: this.bytes >= MOST_BYTES,
    };
  }

  begin(): void {
    const start = this.now();
    this.recording = { format: 'proxyd-console-recording/1', start, steps: [], commands: {} };
    this.bytes = 0;
    this.answers.clear();
    if (this.up !== null) this.note({ ...this.up, after: 0 });
    if (this.names !== null) {
      this.note({ ...this.names, after: 0 });
      const changed = this.values.map((v, i): [number, string] => [i, String(v)]);
      this.note({ after: 0, kind: 'values', at: this.sampledAt, changed });
    }
    void this.command(EVENTS_ASKED);
    this.stream = this.source.log(
      { grouping: 'request', from: 'tail' },
      {
        batch: (transactions) => {
          if (this.bytes >= MOST_BYTES) return;
          for (const tx of transactions) this.bytes += tx.records.byteLength;
          this.note({ after: this.after(), kind: 'log', transactions: transactions.map(encodeTransaction) });
        },
        lost: () => undefined,
        failed: () => undefined,
      },
    );
  }

  /** Ends the recording and returns it. */
  end(): Recording | null {
    const { recording } = this;
    this.stream?.close();
    this.stream = null;
    this.recording = null;
    return recording;
  }

  start(events: SourceEvents): void {
    this.source.start({
      connection: (state) => {
        if (state.state === 'up') {
          this.up = { after: 0, kind: 'up', identity: state.identity, version: state.version };
          this.note({ ...this.up, after: this.after() });
        } else if (state.state === 'waiting')
          this.note({ after: this.after(), kind: 'down', reason: state.reason });
        events.connection(state);
      },
      counters: (info) => {
        this.names = { after: 0, kind: 'counters', info };
        this.values = info.map(() => 0n);
        this.note({ ...this.names, after: this.after() });
        events.counters(info);
      },
      values: (at, values) => {
        const changed = values.flatMap((v, i): [number, string][] =>
          v === this.values[i] ? [] : [[i, String(v)]],
        );
        this.values = values;
        this.sampledAt = at;
        this.note({ after: this.after(), kind: 'values', at, changed });
        events.values(at, values);
      },
      // The history from before the recording is not part of it.
      past: (at, values, steady) => events.past(at, values, steady),
      event: (event, text, noted) => {
        const step = { after: this.after(), kind: 'event', event, text } as const;
        this.note(noted === undefined ? step : { ...step, noted });
        events.event(event, text, noted);
      },
    });
  }

  async command(line: string): Promise<CommandReply> {
    const reply = await this.source.command(line);
    this.keep(line, reply);
    return reply;
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    return this.source.log(sub, handlers);
  }

  setInterval(seconds: number): void {
    this.source.setInterval(seconds);
  }

  sampleNow(): void {
    this.source.sampleNow();
  }

  close(): void {
    this.stream?.close();
    this.source.close();
  }

  private keep(line: string, { status, body }: CommandReply): void {
    const { recording } = this;
    // Without a connection there is no answer.
    if (recording === null || status === 0 || this.bytes >= MOST_BYTES) return;
    const items = answerItems(body);
    // The time in front of each answer differs.
    const content = `${status} ${items.length === 0 ? body : JSON.stringify(items)}`;
    if (this.answers.get(line) === content) return;
    this.answers.set(line, content);
    this.bytes += body.length;
    if (recording.commands[line] === undefined) recording.commands[line] = { status, body };
    else this.note({ after: this.after(), kind: 'answer', line, status, body });
  }

  private after(): number {
    return this.recording === null ? 0 : Math.round((this.now() - this.recording.start) * 1000) / 1000;
  }

  private note(step: RecordedStep): void {
    this.recording?.steps.push(step);
  }
}
