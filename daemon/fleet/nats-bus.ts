// The bus over NATS with JetStream: the one file that knows the client's library. Makes stream and bucket when they are
// absent, and never alters them. The library connects again by itself, for ever, and repeats subscriptions; readers of the
// stream are made anew by whoever reads, since a lost connection may have swallowed messages.

import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  NoRespondersError,
  PermissionViolationError,
} from '@nats-io/transport-node';
import type { Bus, BusListener, BusMessage, PublishResult, Reading, StreamState } from './bus.ts';
import { FleetNames, GONE, LONGEST_MESSAGE, lastWord, STREAM_LIMITS } from './fleet-names.ts';

export interface BusSettings {
  readonly servers: readonly string[];
  readonly fleet: string;
  readonly node: string;
  /** Contents of a creds file. */
  readonly creds: Uint8Array | null;
  readonly user: { readonly name: string; readonly password: string } | null;
  /** Certificates of the authorities that the servers' are signed by. */
  readonly ca: string | null;
}

/** A lost connection is noticed after two of these, in milliseconds. */
const PING = 2000;
const CONNECT = 3000;
const AGAIN = 500;
/** Messages given at once, and asked for ahead. */
const BATCH = 200;
const AHEAD = 1000;
/** How long a reader's place is kept by the server without it. */
const READER_LIFE = 30_000;
const NANO = 1e6;
const REPLICAS = 3;

export class NatsBus implements Bus {
  private readonly names: FleetNames;
  private readonly settings: BusSettings;
  private readonly listener: BusListener;
  private nc: NatsConnection | null = null;
  private js: JetStreamClient | null = null;
  private jsm: JetStreamManager | null = null;
  private kv: KV | null = null;
  private readonly readings = new Set<(why: string) => void>();
  private closed = false;
  connected = false;

  constructor(settings: BusSettings, listener: BusListener) {
    this.settings = settings;
    this.listener = listener;
    this.names = new FleetNames(settings.fleet);
  }

  /** Connects; rejects when that fails at first. */
  async open(): Promise<void> {
    const { servers, node, creds, user, ca } = this.settings;
    const options: ConnectionOptions = {
      servers: [...servers],
      name: `proxyd ${node}`,
      maxReconnectAttempts: -1,
      reconnectTimeWait: AGAIN,
      reconnectJitter: AGAIN,
      pingInterval: PING,
      maxPingOut: 2,
      timeout: CONNECT,
      ignoreAuthErrorAbort: true,
      ...(creds === null ? {} : { authenticator: credsAuthenticator(creds) }),
      ...(user === null ? {} : { user: user.name, pass: user.password }),
      ...(ca !== null ? { tls: { ca } } : servers.some((s) => s.startsWith('tls:')) ? { tls: {} } : {}),
    };
    const nc = await connect(options);
    if (this.closed) {
      await nc.close();
      return;
    }
    try {
      await this.join(nc);
    } catch (cause) {
      await nc.close();
      throw cause;
    }
  }

  private async join(nc: NatsConnection): Promise<void> {
    this.nc = nc;
    this.jsm = await jetstreamManager(nc, { checkAPI: false, timeout: CONNECT });
    this.js = jetstream(nc, { timeout: CONNECT });
    await this.makeStream();
    await this.makeBucket(nc);
    this.kv = await new Kvm(this.js).open(this.names.nodes);
    const { node } = this.settings;
    nc.subscribe(this.names.applied(node, '*'), {
      callback: (error, m) => {
        if (error === null) this.listener.applied(lastWord(m.subject), m.data);
      },
    });
    nc.subscribe(`$KV.${this.names.nodes}.*`, {
      callback: (error, m) => {
        if (error !== null) return;
        const gone = m.headers?.has('KV-Operation') === true;
        this.listener.beat(lastWord(m.subject), gone ? null : m.data, 0);
      },
    });
    this.connected = true;
    void this.follow(nc);
    this.listener.connected();
    this.readNodes().catch((cause: Error) =>
      this.listener.warn(`the other nodes are not known yet: ${cause.message}`),
    );
  }

  /** The nodes that there are already, with the time since their last sign of life. */
  private async readNodes(): Promise<void> {
    const { kv } = this;
    if (kv === null) return;
    for await (const node of await kv.keys()) {
      const entry = await kv.get(node);
      if (entry?.operation !== 'PUT') continue;
      this.listener.beat(node, entry.value, Math.max(0, Date.now() - entry.created.getTime()));
    }
  }

  private async follow(nc: NatsConnection): Promise<void> {
    for await (const status of nc.status()) {
      switch (status.type) {
        case 'disconnect':
          this.lost('the connection to the bus was lost');
          break;
        case 'reconnect':
          this.connected = true;
          this.listener.connected();
          break;
        case 'error':
          this.listener.warn(status.error.message);
          break;
        case 'slowConsumer':
          this.endReadings('messages came faster than they were taken');
          break;
        default:
      }
    }
    if (!this.closed) this.lost('the connection to the bus was closed');
  }

  private lost(why: string): void {
    if (!this.connected) return;
    this.connected = false;
    this.endReadings(why);
    this.listener.disconnected(why);
  }

  private endReadings(why: string): void {
    for (const end of [...this.readings]) end(why);
  }

  private async makeStream(): Promise<void> {
    const { stream, invalidations } = this.names;
    const { seconds, messages, bytes, repeatedWithin } = STREAM_LIMITS;
    const config: Partial<StreamConfig> & { name: string } = {
      name: stream,
      subjects: [invalidations],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_age: seconds * 1000 * NANO,
      max_msgs: messages,
      max_bytes: bytes,
      max_msg_size: LONGEST_MESSAGE,
      duplicate_window: repeatedWithin * 1000 * NANO,
      allow_direct: false,
    };
    await this.made(stream, (replicas) => this.manager.streams.add({ ...config, num_replicas: replicas }));
  }

  private async makeBucket(nc: NatsConnection): Promise<void> {
    const { nodes } = this.names;
    const kvm = new Kvm(this.js ?? nc);
    await this.made(`KV_${nodes}`, (replicas) =>
      kvm.create(nodes, {
        history: 1,
        ttl: GONE,
        max_bytes: 4 * 1024 * 1024,
        maxValueSize: 4096,
        storage: StorageType.Memory,
        replicas,
      }),
    );
  }

  /** Makes what is not there, in three copies where the servers are a cluster that has room for them. */
  private async made(stream: string, make: (replicas: number) => Promise<unknown>): Promise<void> {
    if (await this.exists(stream)) return;
    if (this.nc?.info?.cluster !== undefined) {
      try {
        await make(REPLICAS);
        return;
      } catch (cause) {
        if (await this.exists(stream)) return;
        this.listener.warn(`${stream} is kept in one copy: ${(cause as Error).message}`);
      }
    }
    try {
      await make(1);
    } catch (cause) {
      // Another node may have been faster.
      if (!(await this.exists(stream))) throw cause;
    }
  }

  private async exists(stream: string): Promise<boolean> {
    try {
      await this.manager.streams.info(stream);
      return true;
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.status === 404) return false;
      throw cause;
    }
  }

  private get manager(): JetStreamManager {
    if (this.jsm === null) throw new Error('the bus is not there yet');
    return this.jsm;
  }

  async publish(node: string, id: string, data: Uint8Array, ms: number): Promise<PublishResult> {
    const { js } = this;
    if (js === null || !this.connected)
      return { state: 'refused', detail: 'no connection to the bus', again: true };
    try {
      const subject = this.names.invalidate(node);
      const { seq } = await js.publish(subject, data, { msgID: id, timeout: ms, retries: 1 });
      return { state: 'stored', seq };
    } catch (cause) {
      const detail = (cause as Error).message;
      if (reasonIs(cause, NoRespondersError))
        return { state: 'refused', detail: 'no server of the bus takes it', again: true };
      if (cause instanceof JetStreamApiError)
        return { state: 'refused', detail, again: cause.status === 503 };
      if (reasonIs(cause, PermissionViolationError)) return { state: 'refused', detail, again: false };
      return { state: 'unanswered', detail };
    }
  }

  async stream(): Promise<StreamState> {
    // Whoever removes it while the fleet runs gets another.
    await this.makeStream();
    const { created, state } = await this.manager.streams.info(this.names.stream);
    const first = state.messages === 0 ? state.last_seq + 1 : state.first_seq;
    const droppedUntil = first === 1 ? 0 : state.messages === 0 ? Date.now() : Date.parse(state.first_ts);
    return { created: String(created), first, last: state.last_seq, droppedUntil };
  }

  async timeOf(seq: number): Promise<number | null> {
    try {
      const message = await this.manager.streams.getMessage(this.names.stream, { seq });
      return message === null ? null : message.time.getTime();
    } catch (cause) {
      if (cause instanceof JetStreamApiError && cause.status === 404) return null;
      throw cause;
    }
  }

  async read(
    from: { readonly seq: number } | { readonly time: number },
    take: (batch: readonly BusMessage[]) => Promise<void>,
  ): Promise<Reading> {
    const { js, names } = this;
    if (js === null) throw new Error('the bus is not there yet');
    const start =
      'seq' in from
        ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from.seq }
        : {
            deliver_policy: DeliverPolicy.StartTime,
            opt_start_time: new Date(from.time).toISOString(),
          };
    const made = await this.manager.consumers.add(names.stream, {
      ack_policy: AckPolicy.None,
      inactive_threshold: READER_LIFE * NANO,
      mem_storage: true,
      num_replicas: 1,
      ...start,
    });
    const consumer = await js.consumers.get(names.stream, made.name);
    const messages = await consumer.consume({ max_messages: AHEAD, expires: 10_000, idle_heartbeat: 2000 });
    let over = '';
    const end = (why: string): void => {
      over ||= why;
      messages.stop();
    };
    this.readings.add(end);
    void (async () => {
      for await (const status of messages.status()) {
        if (status.type === 'heartbeats_missed' && status.count >= 2) end('the stream fell silent');
        else if (ENDS.has(status.type)) end(`reader: ${status.type.replaceAll('_', ' ')}`);
      }
    })();
    const batches = new Batches(take, () => over !== '', end);
    const run = async (): Promise<string> => {
      try {
        for await (const m of messages) await batches.add(busMessage(m));
      } catch (cause) {
        over ||= (cause as Error).message;
      }
      over ||= 'the reader ended';
      this.readings.delete(end);
      await batches.idle();
      void consumer.delete().catch(() => undefined);
      return over;
    };
    return { from: made.delivered.stream_seq + 1, ended: run(), close: () => end('closed') };
  }

  report(publisher: string, node: string, data: Uint8Array): void {
    if (this.connected) this.nc?.publish(this.names.applied(publisher, node), data);
  }

  async beat(node: string, data: Uint8Array): Promise<void> {
    const { nc, kv } = this;
    if (nc === null || kv === null || !this.connected) return;
    try {
      await kv.put(node, data);
    } catch (cause) {
      // It is in memory, and goes with the last server that has it.
      if (!reasonIs(cause, NoRespondersError)) throw cause;
      await this.makeBucket(nc);
      await kv.put(node, data);
    }
  }

  async close(node: string): Promise<void> {
    this.closed = true;
    this.endReadings('closed');
    const { nc, kv } = this;
    if (nc === null) return;
    if (this.connected) await Promise.race([kv?.delete(node).catch(() => undefined), after(500)]);
    this.connected = false;
    await Promise.race([nc.close().catch(() => undefined), after(500)]);
  }
}

/** Gathers what comes in one turn, and while the batch before is taken. */
class Batches {
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

  /** Resolves when more may come. */
  async add(message: BusMessage): Promise<void> {
    this.next.push(message);
    if (this.taking === null && !this.scheduled) {
      this.scheduled = true;
      setImmediate(() => {
        this.scheduled = false;
        this.go();
      });
    }
    while (this.next.length >= AHEAD && this.taking !== null) await this.taking;
  }

  /** Resolves when no batch is being taken any more. */
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

function busMessage(m: JsMsg): BusMessage {
  return {
    seq: m.seq,
    publisher: lastWord(m.subject),
    id: m.headers?.get('Nats-Msg-Id') ?? '',
    at: Number(m.timestampNanos / BigInt(NANO)),
    pending: m.info.pending,
    data: m.data,
  };
}

/** Statuses after which a reader gets nothing more. */
const ENDS: ReadonlySet<string> = new Set([
  'consumer_not_found',
  'stream_not_found',
  'consumer_deleted',
  'no_responders',
]);

function reasonIs(cause: unknown, kind: new (...args: never[]) => Error): boolean {
  return cause instanceof kind || (cause instanceof Error && cause.cause instanceof kind);
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
