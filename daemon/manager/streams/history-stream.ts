// Answers to questions for the history of counters: what changed from sample to sample, in messages of some hundred
// samples, one a turn of the event loop or over several, and no more of them than the peer takes. An answer ends by itself.

import type { CounterInfo, HistoryRequest, PastSample, ServerMessage } from '../../../protocol/messages.ts';
import type { CountersHistory } from '../../stats/counters-history.ts';
import { describeInto } from '../../stats/counters-reader.ts';
import type { HistorySample } from '../../stats/history-frames.ts';
import { turns } from '../../turns/turns.ts';
import { choosing } from './counter-stream.ts';
import { type ListSink, listMessage, type Stream, type StreamError } from './sink.ts';

/** Bytes the peer may leave untaken; milliseconds until it is looked at again; samples of a message (all chosen). */
const MAX_BUFFERED = 1 << 20;
const PAUSE_MS = 20;
const SAMPLES = 100;

/** Answers under way for all connections together: each has a file in memory. */
const MAX_STREAMS = 16;

export class HistoryStreams {
  private readonly history: CountersHistory;
  private readonly open_ = new Set<HistoryStream>();

  constructor(history: CountersHistory) {
    this.history = history;
  }

  open(id: number, request: HistoryRequest, sink: ListSink): Stream | StreamError {
    if (this.open_.size >= MAX_STREAMS) {
      return { error: { code: 'too-many', message: `${MAX_STREAMS} histories are being read: ask again` } };
    }
    const stream = new HistoryStream(id, request, sink, this.history, () => this.open_.delete(stream));
    this.open_.add(stream);
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
  /** The values that the peer knows, by their places in `pick`. */
  private told: bigint[] = [];

  private readonly gone: () => void;

  constructor(
    id: number,
    request: HistoryRequest,
    sink: ListSink,
    history: CountersHistory,
    gone: () => void,
  ) {
    this.id = id;
    this.sink = sink;
    this.gone = gone;
    this.filters = request.filters;
    this.samples = history.samples(request.from * 1000, request.step);
    this.timer = setTimeout(() => void this.turn(), 0);
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearTimeout(this.timer);
    this.samples.return(undefined);
    this.gone();
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

  /** One message, in steps; false at the end. */
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
    this.told = this.pick.map(() => 0n);
    const told = (k: number): string => JSON.stringify(info[pick[k] as number]);
    const empty: ServerMessage & { t: 'counters' } = { t: 'counters', id: this.id, info: [] };
    void this.sink.text(yield* listMessage(empty, 'info', pick.length, told));
  }

  private changes({ at, values }: HistorySample): PastSample {
    const out: PastSample = [at / 1000];
    for (let k = 0; k < this.pick.length; k++) {
      const value = values[this.pick[k] as number] as bigint;
      if (value === this.told[k]) continue;
      this.told[k] = value;
      const short = Number(value);
      out.push(k, Number.isSafeInteger(short) ? short : String(value));
    }
    return out;
  }
}

/** Each file of the history has an array of its own. */
function sameNames(a: readonly string[] | null, b: readonly string[]): boolean {
  return a === b || (a !== null && a.length === b.length && a.every((name, i) => name === b[i]));
}
