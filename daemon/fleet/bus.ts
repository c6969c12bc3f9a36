// The message bus as the fleet uses it. nats-bus.ts implements it; tests use a fake.

/** A message of the stream. */
export interface BusMessage {
  readonly seq: number;
  /** The node that published it: the last token of its subject. */
  readonly publisher: string;
  /** The id given by the publisher; '' for none. */
  readonly id: string;
  /** When the bus received it, in milliseconds since 1970. */
  readonly at: number;
  /** Number of messages after it in the stream. */
  readonly pending: number;
  readonly data: Uint8Array;
}

export interface StreamState {
  /** Creation time: identifies the stream among others of the same name. */
  readonly created: string;
  /** Sequence numbers of the first and the last stored message; `first` is last + 1 for an empty stream. */
  readonly first: number;
  readonly last: number;
  /** When the first stored message arrived, in milliseconds since 1970; 0 if none was ever dropped. */
  readonly droppedUntil: number;
  /** When the last stored message arrived; 0 for an empty stream. */
  readonly lastAt: number;
}

/** The result of one attempt to publish. */
export type PublishResult =
  | { readonly state: 'stored'; readonly seq: number }
  /** Certainly not stored: the bus refused it, or no server responded, in which case a retry makes sense. */
  | { readonly state: 'refused'; readonly detail: string; readonly again: boolean }
  | { readonly state: 'unanswered'; readonly detail: string };

/** The buckets whose values are changed by compare-and-set. */
export type BucketName = 'programs' | 'certificates';

/** A value in such a bucket. */
export interface StoredEntry {
  readonly revision: number;
  readonly data: Uint8Array;
}

/** The result of a change of a bucket. `changed`: a concurrent change came first. */
export type StoreResult =
  | { readonly state: 'stored'; readonly revision: number }
  | { readonly state: 'changed' }
  | { readonly state: 'refused' | 'unanswered'; readonly detail: string };

export interface Reading {
  /** Sequence number of the first message that may be delivered. */
  readonly from: number;
  /** Resolves with the reason when no further message will be delivered and no batch is being processed. */
  readonly ended: Promise<string>;
  close(): void;
}

export interface Bus {
  /** Connects; rejects if that fails. */
  open(): Promise<void>;
  readonly connected: boolean;
  /** The address of this machine as seen by the bus; null while unknown. */
  readonly address: string | null;
  publish(node: string, id: string, data: Uint8Array, ms: number): Promise<PublishResult>;
  stream(): Promise<StreamState>;
  /** When a message arrived; null if the stream does not have it. */
  timeOf(seq: number): Promise<number | null>;
  /** Delivers messages in batches, one after another, from a sequence number or a time. */
  read(
    from: { readonly seq: number } | { readonly time: number },
    take: (batch: readonly BusMessage[]) => Promise<void>,
  ): Promise<Reading>;
  /** Acknowledges to a publisher what this node has applied. */
  report(publisher: string, node: string, data: Uint8Array): void;
  /** Delivers all keys of a bucket, and again after each change. */
  readBucket(
    bucket: BucketName,
    take: (all: ReadonlyMap<string, StoredEntry>) => void,
  ): Promise<Omit<Reading, 'from'>>;
  /** Compare-and-set: changes a key whose revision is the given one, 0 for none; null deletes it. */
  storeEntry(
    bucket: BucketName,
    key: string,
    data: Uint8Array | null,
    revision: number,
  ): Promise<StoreResult>;
  /** Sends a heartbeat, which expires after a while. */
  beat(node: string, data: Uint8Array): Promise<void>;
  /** Leaves the fleet. Resolves when that is sent or has failed. */
  close(node: string): Promise<void>;
}

/** Notifications of the bus. */
export interface BusListener {
  connected(): void;
  disconnected(why: string): void;
  /** The connection is closed and will not be reopened. */
  closed(): void;
  /** A heartbeat of a node, sent `age` milliseconds ago; null if the node has left. */
  beat(node: string, data: Uint8Array | null, age: number): void;
  applied(node: string, data: Uint8Array): void;
  warn(text: string): void;
}
