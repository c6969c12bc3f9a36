// The history of counters: samples them once a second for as long as the manager runs, and answers requests for a range of
// samples. An answer is a sequence of messages of about a hundred samples, made over turns of the event loop and no faster
// than the client reads. If no history can be stored, that is logged and the daemon runs without.

import type {
  CounterInfo,
  HistoryRequest,
  PastSample,
  ServerMessage,
} from '../../../../protocol/messages.ts';
import { CounterWatch, type Note } from '../../../stats/counter-watch.ts';
import { CountersHistory } from '../../../stats/counters-history.ts';
import { type CounterSnapshot, describeInto } from '../../../stats/counters-reader.ts';
import type { HistorySample } from '../../../stats/history-frames.ts';
import { turns } from '../../../turns/turns.ts';
import { choosing } from './counter-stream.ts';
import { type ListSink, listMessage, type Stream, type StreamError } from './stream.ts';

/** Unread bytes of the client; milliseconds between checks of them; samples per message (all chosen). */
const MAX_BUFFERED = 1 << 20;
const PAUSE_MS = 20;
const SAMPLES = 100;

/** Answers in progress for all connections together: each has a file in memory. */
const MAX_STREAMS = 16;

class HistoryStreams {
  private readonly history: CountersHistory;
  private readonly subscriptions = new Set<HistoryStream>();

  constructor(history: CountersHistory) {
    this.history = history;
  }

  open(id: number, request: HistoryRequest, sink: ListSink): Stream | StreamError {
    if (this.subscriptions.size >= MAX_STREAMS) {
      return { error: { code: 'too-many', message: `${MAX_STREAMS} histories are being read: ask again` } };
    }
    const stream = new HistoryStream(id, request, sink, this.history, () =>
      this.subscriptions.delete(stream),
    );
    this.subscriptions.add(stream);
    return stream;
  }
}

class HistoryStream implements Stream {
  private readonly id: number;
  private readonly sink: ListSink;
  private readonly filters: HistoryRequest['filters'];
  private readonly samples: Generator<HistorySample>;
  private timer: NodeJS.Timeout;
  private isClosed = false;
  private names: readonly string[] | null = null;
  private pick: readonly number[] = [];
  /** The values that the client knows, by index in `pick`. */
  private known: bigint[] = [];

  private readonly onClose: () => void;

  constructor(
    id: number,
    request: HistoryRequest,
    sink: ListSink,
    history: CountersHistory,
    onClose: () => void,
  ) {
    this.id = id;
    this.sink = sink;
    this.onClose = onClose;
    this.filters = request.filters;
    this.samples = history.samples(request.from * 1000, request.step);
    this.timer = setTimeout(() => void this.turn(), 0);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.samples.return(undefined);
    this.onClose();
  }

  private async turn(): Promise<void> {
    try {
      const full = this.sink.buffered() > MAX_BUFFERED;
      const isMore = full || (await turns.through(this.more(), () => !this.isClosed));
      if (this.isClosed) return;
      if (isMore === true) {
        this.timer = setTimeout(() => void this.turn(), full ? PAUSE_MS : 0);
        return;
      }
      this.sink.json({ t: 'end', id: this.id });
      this.close();
    } catch (cause) {
      this.sink.run(() => {
        throw cause;
      });
    }
  }

  /** Sends one message, in steps; false at the end. */
  private *more(): Generator<unknown, boolean> {
    let samples: PastSample[] = [];
    const send = (): void => {
      if (samples.length > 0) this.sink.json({ t: 'past', id: this.id, samples });
      samples = [];
    };
    for (let n = 0; n < SAMPLES; n++) {
      const { value: sample, done } = this.samples.next();
      if (done === true) {
        send();
        return false;
      }
      if (!sameNames(this.names, sample.names)) {
        send();
        yield* this.choose(sample.names);
      }
      this.names = sample.names;
      samples.push(this.changes(sample));
      yield;
    }
    send();
    return true;
  }

  private *choose(names: readonly string[]): Generator<unknown, void> {
    const info: CounterInfo[] = [];
    yield* describeInto(info, names);
    const pick = yield* choosing(info, this.filters ?? []);
    this.pick = pick;
    this.known = this.pick.map(() => 0n);
    const item = (k: number): string => JSON.stringify(info[pick[k] as number]);
    const empty: ServerMessage & { t: 'counters' } = { t: 'counters', id: this.id, info: [] };
    void this.sink.text(yield* listMessage(empty, 'info', pick.length, item));
  }

  private changes({ at, values }: HistorySample): PastSample {
    const out: PastSample = [at / 1000];
    for (let k = 0; k < this.pick.length; k++) {
      const value = values[this.pick[k] as number] as bigint;
      if (value === this.known[k]) continue;
      this.known[k] = value;
      const short = Number(value);
      out.push(k, Number.isSafeInteger(short) ? short : String(value));
    }
    return out;
  }
}

/** Each file of the history has its own array of names. */
function sameNames(a: readonly string[] | null, b: readonly string[]): boolean {
  return a === b || (a !== null && a.length === b.length && a.every((name, i) => name === b[i]));
}

const SECOND_MS = 1000;

export class HistoryStore {
  readonly streams: HistoryStreams;
  private readonly history: CountersHistory;
  private readonly watch: CounterWatch;
  private readonly timer: NodeJS.Timeout;
  private isClosed = false;

  /** @param note receives events derived from the counters
   * @param fault receives an error of a reading */
  constructor(
    directory: string,
    read: () => Promise<CounterSnapshot>,
    warn: (text: string) => void,
    note: Note,
    fault: (cause: unknown) => void,
  ) {
    this.history = new CountersHistory(directory, warn);
    this.watch = new CounterWatch(note);
    this.streams = new HistoryStreams(this.history);
    try {
      this.history.open();
    } catch (cause) {
      warn(`The counter history is disabled: ${(cause as Error).message}`);
    }
    let isBusy = false;
    this.timer = setInterval(async () => {
      // Many counters on a busy machine may take more than a second.
      if (isBusy) return;
      isBusy = true;
      try {
        await this.sample(read);
      } catch (cause) {
        clearInterval(this.timer);
        fault(cause);
      } finally {
        isBusy = false;
      }
    }, SECOND_MS);
    this.timer.unref();
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.history.close();
  }

  private async sample(read: () => Promise<CounterSnapshot>): Promise<void> {
    const sample = await read();
    if (this.isClosed) return;
    const now = Date.now();
    await turns.through(this.history.take(now, sample), () => !this.isClosed);
    if (!this.isClosed) this.watch.take(now, sample);
  }
}
