// What the fleet needs of the bus, so that its parts can be tried without one. nats-bus.ts is the real one.

/** A message of the stream. */
export interface BusMessage {
  readonly seq: number;
  /** Who published it: the last word of its subject. */
  readonly publisher: string;
  /** The id that it was published with; '' for none. */
  readonly id: string;
  /** Milliseconds since 1970, by the bus. */
  readonly at: number;
  /** How many the stream has after it. */
  readonly pending: number;
  readonly data: Uint8Array;
}

export interface StreamState {
  /** When it was made: another one of its name has another. */
  readonly created: string;
  /** Numbers of the first and the last message that it has; `first` is last + 1 when it has none. */
  readonly first: number;
  readonly last: number;
  /** When the first one came, in milliseconds since 1970; 0 when none was ever dropped. */
  readonly droppedUntil: number;
}

/** What became of one try to publish. */
export type PublishResult =
  | { readonly state: 'stored'; readonly seq: number }
  /** Certain: the bus has refused it, or nobody was there to take it, in which case another try makes sense. */
  | { readonly state: 'refused'; readonly detail: string; readonly again: boolean }
  | { readonly state: 'unanswered'; readonly detail: string };

/** A value of the bucket of programs. */
export interface StoredEntry {
  readonly revision: number;
  readonly data: Uint8Array;
}

/** What became of a change of that bucket. `changed`: somebody else was faster. */
export type StoreResult =
  | { readonly state: 'stored'; readonly revision: number }
  | { readonly state: 'changed' }
  | { readonly state: 'refused' | 'unanswered'; readonly detail: string };

export interface Reading {
  /** The number of the first message that may come. */
  readonly from: number;
  /** Why no more comes; resolves when no batch is being taken any more. */
  readonly ended: Promise<string>;
  close(): void;
}

export interface Bus {
  /** Connects; rejects if that fails. */
  open(): Promise<void>;
  readonly connected: boolean;
  /** This machine's, as the bus sees it; null while that is not known. */
  readonly address: string | null;
  publish(node: string, id: string, data: Uint8Array, ms: number): Promise<PublishResult>;
  stream(): Promise<StreamState>;
  /** When a message came; null when the stream does not have it. */
  timeOf(seq: number): Promise<number | null>;
  /** Gives messages in batches, one after another, from a number on or from a time. */
  read(
    from: { readonly seq: number } | { readonly time: number },
    take: (batch: readonly BusMessage[]) => Promise<void>,
  ): Promise<Reading>;
  /** Tells a publisher what this node has applied. */
  report(publisher: string, node: string, data: Uint8Array): void;
  /** Gives all that the bucket of programs has by its keys, and again after each change. */
  readPrograms(take: (all: ReadonlyMap<string, StoredEntry>) => void): Promise<Omit<Reading, 'from'>>;
  /** Changes a key that has this revision, 0 for none; null takes it away. */
  storeProgram(key: string, data: Uint8Array | null, revision: number): Promise<StoreResult>;
  /** A sign of life, which lasts for a while. */
  beat(node: string, data: Uint8Array): Promise<void>;
  /** Leaves. Resolves when that is sent, or cannot be. */
  close(node: string): Promise<void>;
}

/** What the bus says by itself. */
export interface BusListener {
  connected(): void;
  disconnected(why: string): void;
  /** It will not connect again by itself. */
  closed(): void;
  /** Of a node, so many milliseconds ago; null when it has left. */
  beat(node: string, data: Uint8Array | null, age: number): void;
  applied(node: string, data: Uint8Array): void;
  warn(text: string): void;
}
