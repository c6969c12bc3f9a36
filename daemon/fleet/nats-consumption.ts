// One reading of a stream through an ephemeral consumer: it ends when the server drops the consumer, when the stream falls
// silent, or on request, and reports why; the caller starts the next one. Also: batching of its messages, and the meaning of
// the client library's errors.

import {
  AckPolicy,
  type Consumer,
  type ConsumerConfig,
  type ConsumerMessages,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import { NoRespondersError, PermissionViolationError } from '@nats-io/transport-node';
import { turns } from '../turns/turns.ts';
import type { BusMessage } from './bus.ts';
import { NANO } from './fleet-names.ts';

/** Milliseconds that the server keeps a consumer without its client. */
const LIFE = 30_000;

export class NatsConsumption {
  /** Sequence number of the first message, and the number of messages available at the start. */
  readonly from: number;
  readonly pending: number;
  private readonly consumer: Consumer;
  private readonly messages: ConsumerMessages;
  private why = '';

  /** @param ahead messages to buffer here */
  static async open(
    js: JetStreamClient,
    jsm: JetStreamManager,
    stream: string,
    start: Partial<ConsumerConfig>,
    ahead: number,
  ): Promise<NatsConsumption> {
    const made = await jsm.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      inactive_threshold: LIFE * NANO,
      mem_storage: true,
      num_replicas: 1,
      ...start,
    });
    const consumer = await js.consumers.get(stream, made.name);
    const messages = await consumer.consume({ max_messages: ahead, expires: 10_000, idle_heartbeat: 2000 });
    return new NatsConsumption(consumer, messages, made.delivered.stream_seq + 1, made.num_pending);
  }

  private constructor(consumer: Consumer, messages: ConsumerMessages, from: number, pending: number) {
    this.consumer = consumer;
    this.messages = messages;
    this.from = from;
    this.pending = pending;
    void this.watch();
  }

  get over(): boolean {
    return this.why !== '';
  }

  readonly end = (why: string): void => {
    this.why ||= why;
    this.messages.stop();
  };

  /** Resolves with the reason when no further message will come.
   * @param idle resolves when no batch is being processed */
  async run(add: (m: JsMsg) => Promise<void> | void, idle: () => Promise<void>): Promise<string> {
    try {
      for await (const m of this.messages) await add(m);
    } catch (cause) {
      this.why ||= (cause as Error).message;
    }
    this.why ||= 'the reader ended';
    await idle();
    void this.consumer.delete().catch(() => undefined);
    return this.why;
  }

  private async watch(): Promise<void> {
    for await (const status of this.messages.status()) {
      if (status.type === 'heartbeats_missed' && status.count >= 2) this.end('the stream fell silent');
      else if (ENDS.has(status.type)) this.end(`reader: ${status.type.replaceAll('_', ' ')}`);
    }
  }
}

/** Statuses after which a consumer delivers nothing more. */
const ENDS: ReadonlySet<string> = new Set([
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'no_responders',
]);

/** Messages per batch, and buffered at most (chosen). */
const BATCH = 200;
export const AHEAD = 1000;

export class Batches {
  private readonly take: (batch: readonly BusMessage[]) => Promise<void>;
  private readonly isOver: () => boolean;
  private readonly failed: (why: string) => void;
  private next: BusMessage[] = [];
  private scheduled = false;
  private taking: Promise<void> | null = null;

  constructor(
    take: (batch: readonly BusMessage[]) => Promise<void>,
    isOver: () => boolean,
    failed: (why: string) => void,
  ) {
    this.take = take;
    this.isOver = isOver;
    this.failed = failed;
  }

  /** Resolves when another message can be added. */
  async add(message: BusMessage): Promise<void> {
    this.next.push(message);
    if (this.taking === null && !this.scheduled) {
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        this.go();
      });
    }
    // All messages of a read of the socket would be decoded in one turn otherwise.
    if (!turns.mayContinue()) await turns.next();
    while (this.next.length >= AHEAD && this.taking !== null) await this.taking;
  }

  /** Resolves when no batch is being processed. */
  async idle(): Promise<void> {
    while (this.taking !== null) await this.taking;
  }

  private go(): void {
    if (this.taking !== null || this.next.length === 0 || this.isOver()) return;
    const batch = this.next.splice(0, BATCH);
    this.taking = this.take(batch)
      .catch((cause: Error) => this.failed(cause.message))
      .then(() => {
        this.taking = null;
        this.go();
      });
  }
}

export interface StoreFailure {
  readonly state: 'refused' | 'unanswered';
  readonly detail: string;
  /** Whether a retry makes sense. */
  readonly again: boolean;
  /** A concurrent change of the same value came first. */
  readonly conflict: boolean;
}

export function failureOf(cause: unknown): StoreFailure {
  const detail = (cause as Error).message;
  const refused = { state: 'refused', detail, again: false, conflict: false } as const;
  if (reasonIs(cause, NoRespondersError))
    return { ...refused, detail: 'no server of the bus accepts it', again: true };
  if (cause instanceof JetStreamApiError)
    return { ...refused, again: cause.status === 503, conflict: CONFLICTS.has(cause.code) };
  if (reasonIs(cause, PermissionViolationError)) return refused;
  return { state: 'unanswered', detail, again: true, conflict: false };
}

const CONFLICTS: ReadonlySet<number> = new Set([
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
]);

export function reasonIs(cause: unknown, kind: new (...args: never[]) => Error): boolean {
  return cause instanceof kind || (cause instanceof Error && cause.cause instanceof kind);
}
