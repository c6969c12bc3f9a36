// Counter subscriptions: reads the counters file at each subscriber's interval and sends the values that its
// filters let through. A subscriber whose connection is not drained gets no values until it is: each message
// is a whole state, so nothing is lost but time. `counters` is sent first and again when the set changes.

import { join } from 'node:path';
import type { CounterInfo, CounterSubscription } from '../../../protocol/messages.ts';
import type { MgtCounters } from '../../stats/counters.ts';
import { COUNTERS_FILE } from '../../stats/counters-format.ts';
import { CountersReader } from '../../stats/counters-reader.ts';
import type { Stream, StreamError, StreamSink } from './sink.ts';

/** More than log subscriptions of the same connection leave untaken: a busy log must not starve the counters. */
const MAX_BUFFERED = 5 * 1024 * 1024;

export class CounterStreams {
  private readonly reader: CountersReader;
  private readonly refresh: () => void;
  private readonly open_ = new Set<CounterStream>();

  /** `refresh` is called before each reading: the manager brings `mgt` (its uptime) up to date there. */
  constructor(dir: string, mgt: MgtCounters, refresh: () => void = () => {}) {
    this.reader = new CountersReader(join(dir, COUNTERS_FILE), mgt);
    this.refresh = refresh;
  }

  /** Starts a subscription. Nothing is sent before this returns: send `ok` right after. */
  open(id: number, sub: CounterSubscription, sink: StreamSink): Stream | StreamError {
    if (!(sub.interval >= 0))
      return { error: { code: 'bad-filter', message: 'interval must not be negative' } };
    const stream = new CounterStream(id, sub, sink, () => {
      this.refresh();
      return this.reader.read();
    });
    this.open_.add(stream);
    stream.onClose = () => this.open_.delete(stream);
    return stream;
  }

  /** One reading of everything: for /metrics and the like. */
  read(): { info: CounterInfo[]; values: bigint[] } {
    this.refresh();
    return this.reader.read();
  }

  close(): void {
    for (const stream of [...this.open_]) stream.close();
  }
}

class CounterStream implements Stream {
  onClose: () => void = () => {};
  private readonly id: number;
  private readonly sub: CounterSubscription;
  private readonly sink: StreamSink;
  private readonly read: () => { info: CounterInfo[]; values: bigint[] };
  private info: CounterInfo[] | null = null;
  private pick: number[] = [];
  // Two fields, not one: clearImmediate() given a timer spoils the runtime's count of immediates, and then a lone
  // setImmediate() of the whole process never runs.
  private readonly begin: NodeJS.Immediate;
  private timer: NodeJS.Timeout | null = null;
  private closed = false;

  constructor(
    id: number,
    sub: CounterSubscription,
    sink: StreamSink,
    read: () => { info: CounterInfo[]; values: bigint[] },
  ) {
    this.id = id;
    this.sub = sub;
    this.sink = sink;
    this.read = read;
    this.begin = setImmediate(() => this.first());
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearImmediate(this.begin);
    if (this.timer !== null) clearInterval(this.timer);
    this.onClose();
  }

  private first(): void {
    if (this.closed) return;
    this.tell();
    if (this.sub.interval > 0) {
      this.timer = setInterval(() => this.tell(), Math.max(50, this.sub.interval * 1000));
      return;
    }
    this.sink.json({ t: 'end', id: this.id });
    this.close();
  }

  private tell(): void {
    if (this.sink.buffered() > MAX_BUFFERED) return;
    const { info, values } = this.read();
    if (info !== this.info) {
      this.info = info;
      this.pick = selectCounters(info, this.sub.filters ?? []);
      this.sink.json({ t: 'counters', id: this.id, info: this.pick.map((i) => info[i] as CounterInfo) });
    }
    const at = Date.now() / 1000;
    this.sink.json({ t: 'values', id: this.id, at, values: this.pick.map((i) => String(values[i])) });
  }
}

/** Indexes of the counters that pass: the first filter that matches a name decides; a name that none matches
 * is in when the first filter excludes (or there is none). */
export function selectCounters(
  info: readonly CounterInfo[],
  filters: readonly { kind: 'include' | 'exclude'; glob: string }[],
): number[] {
  const rules = filters.map((f) => ({ include: f.kind === 'include', re: globToRegExp(f.glob) }));
  const rest = rules.length === 0 || rules.every((r) => !r.include);
  const out: number[] = [];
  for (const [i, { name }] of info.entries()) {
    const rule = rules.find((r) => r.re.test(name));
    if (rule === undefined ? rest : rule.include) out.push(i);
  }
  return out;
}

/** A shell glob (* ? [set]) over a whole name. */
export function globToRegExp(glob: string): RegExp {
  let out = '';
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i] as string;
    const close = c === '[' ? glob.indexOf(']', i + 2) : -1;
    if (c === '*') out += '.*';
    else if (c === '?') out += '.';
    else if (close > 0) {
      const set = glob
        .slice(i + 1, close)
        .replace(/[\\\]]/g, '\\$&')
        .replace(/^!/, '^');
      out += `[${set}]`;
      i = close;
    } else if (c === '\\' && i + 1 < glob.length) out += literal(glob[++i] as string);
    else out += literal(c);
  }
  return new RegExp(`^${out}$`, 's');
}

function literal(c: string): string {
  return /[\w]/.test(c) ? c : `\\${c}`;
}
