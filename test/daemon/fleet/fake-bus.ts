// A bus in memory: a stream that can be trimmed, truncated or recreated, and connections that fail on demand.
import type {
  BucketName,
  Bus,
  BusMessage,
  PublishResult,
  Reading,
  StoredEntry,
  StoreResult,
  StreamState,
} from '../../../daemon/fleet/bus.ts';

interface Open {
  take(batch: readonly BusMessage[]): Promise<void>;
  end(why: string): void;
  sent: number;
}

export class FakeBus implements Bus {
  connected = true;

  async open(): Promise<void> {}

  readonly address: string | null = '10.0.0.9';
  created = 'one';
  messages: BusMessage[] = [];
  last = 0;
  pending = 0;
  results: PublishResult[] = [];
  readonly ids: string[] = [];
  readonly reports: [string, number][] = [];
  private readonly readings = new Set<Open>();
  private busy: Promise<void> = Promise.resolve();

  /** Puts a message into the stream. */
  put(text: string, publisher = 'other', id = ''): number {
    const seq = ++this.last;
    this.messages.push({
      seq,
      publisher,
      id,
      at: 1000 + seq,
      pending: this.pending,
      data: Buffer.from(text),
    });
    this.deliver();
    return seq;
  }

  trim(to: number): void {
    this.messages = this.messages.filter(({ seq }) => seq >= to);
  }

  /** Ends all readings. */
  lose(): void {
    this.connected = false;
    for (const each of [...this.readings]) each.end('lost');
  }

  async publish(_node: string, id: string): Promise<PublishResult> {
    this.ids.push(id);
    return this.results.shift() ?? { state: 'stored', seq: this.put('{}', 'self', id) };
  }

  async stream(): Promise<StreamState> {
    const first = this.messages[0]?.seq ?? this.last + 1;
    const droppedUntil = first === 1 ? 0 : 1000 + first;
    const lastAt = this.messages.at(-1)?.at ?? 0;
    return { created: this.created, first, last: this.last, droppedUntil, lastAt };
  }

  async timeOf(seq: number): Promise<number | null> {
    return this.messages.find((m) => m.seq === seq)?.at ?? null;
  }

  async read(
    from: { readonly seq: number } | { readonly time: number },
    take: (batch: readonly BusMessage[]) => Promise<void>,
  ): Promise<Reading> {
    const start =
      'seq' in from ? from.seq : (this.messages.find(({ at }) => at >= from.time)?.seq ?? this.last + 1);
    let end: (why: string) => void = () => {};
    const ended = new Promise<string>((resolve) => (end = resolve));
    const open: Open = {
      take,
      sent: start - 1,
      end: (why) => {
        this.readings.delete(open);
        void this.busy.then(() => end(why));
      },
    };
    this.readings.add(open);
    setImmediate(() => this.deliver());
    return { from: start, ended, close: () => open.end('closed') };
  }

  report(publisher: string, _node: string, data: Uint8Array): void {
    this.reports.push([publisher, (JSON.parse(Buffer.from(data).toString()) as { seq: number }).seq]);
  }

  /** The bucket of programs, and that of certificates. */
  readonly entries = new Map<string, StoredEntry>();
  readonly certificates = new Map<string, StoredEntry>();
  private revision = 0;
  private readonly takers: {
    readonly bucket: BucketName;
    take(all: ReadonlyMap<string, StoredEntry>): void;
  }[] = [];

  async readBucket(
    bucket: BucketName,
    take: (all: ReadonlyMap<string, StoredEntry>) => void,
  ): Promise<Omit<Reading, 'from'>> {
    const taker = { bucket, take };
    this.takers.push(taker);
    take(this.bucket(bucket));
    return { ended: new Promise(() => {}), close: () => this.takers.splice(this.takers.indexOf(taker), 1) };
  }

  async storeEntry(
    bucket: BucketName,
    key: string,
    data: Uint8Array | null,
    revision: number,
  ): Promise<StoreResult> {
    const all = this.bucket(bucket);
    if ((all.get(key)?.revision ?? 0) !== revision) return { state: 'changed' };
    if (data === null) all.delete(key);
    else all.set(key, { revision: ++this.revision, data });
    for (const each of this.takers) if (each.bucket === bucket) each.take(all);
    return { state: 'stored', revision: this.revision };
  }

  private bucket(name: BucketName): Map<string, StoredEntry> {
    return name === 'programs' ? this.entries : this.certificates;
  }

  async beat(): Promise<void> {}
  async close(): Promise<void> {}

  private deliver(): void {
    for (const open of this.readings) {
      const batch = this.messages.filter(({ seq }) => seq > open.sent);
      if (batch.length === 0) continue;
      open.sent = this.last;
      this.busy = this.busy
        .then(() => (this.readings.has(open) ? open.take(batch) : undefined))
        .catch((cause: Error) => open.end(cause.message));
    }
  }
}
