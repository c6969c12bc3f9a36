// The edge connector: receives invalidations, has the operations for the edge written to the queue's journal, and
// returns receipts. One per worker, created by the first program that imports `edge`; its settings are those of the
// program that was loaded last. Changed settings close the queue and open it again: pending entries are in the journal.
// The first of several threads has the queue; the others have the same settings, and pass their invalidations to it.

import { type BoundedRegex, compileRegex } from '../../queries/regex/bounded-regex.ts';
import type {
  EdgeDelivery,
  EdgeReceipt,
  EdgeService,
  EdgeSettings,
  Invalidation,
} from '../contract/invalidation.ts';
import type { CompiledProgram } from '../contract/program.ts';
import { allOf, limit, perMinuteFromQuota } from '../throttle/throttle.ts';
import { cacheTags, MAX_TAGS } from './cache-tags.ts';
import type { EdgeConfig } from './edge-config.ts';
import { edgeOperation, SITE_TAG } from './edge-operations.ts';
import type { HeaderSwitches } from './providers/edge-headers.ts';
import { makeProvider } from './providers/make-provider.ts';
import type { Provider } from './providers/provider.ts';
import { PurgeQueue } from './queue/purge-queue.ts';
import type { QueueCounters, QueueEvent } from './queue/queue-options.ts';
import type { Limiter } from './queue/sender.ts';

export interface ConnectorParts {
  /** Writes a log record outside of any transaction. */
  log(text: string): void;
  /** Counters are incremented as things happen, by successive queues; gauges are updated by sample(). */
  readonly counters: QueueCounters & { tokens_left: number };
  /** Logs a message for the operator. */
  warn(text: string): void;
  /** Whether the active program imports the connector. */
  activeImports(): boolean;
  /** The thread that has the queue; null if this one has it. */
  readonly elsewhere: QueueElsewhere | null;
}

/** The queue in another thread. Neither call rejects. */
export interface QueueElsewhere {
  record(event: Invalidation): Promise<EdgeReceipt>;
  /** Reports an invalidation that is sent to no network. */
  unsent(): void;
}

/** Milliseconds that a reply with mode = inline waits for the network. */
const INLINE_TIMEOUT = 30_000;
const IMPORT = 'edge';

export class EdgeConnector implements EdgeService, QueueElsewhere {
  readonly #parts: ConnectorParts;
  #config: EdgeConfig;
  #via: BoundedRegex;
  #provider: Provider;
  #queue: PurgeQueue | null = null;
  /** Why the configured queue could not be opened; null otherwise. */
  #broken: string | null = null;
  #warned = false;
  /** Calls that the throttle allows now. */
  #tokens: (() => number) | null = null;
  #switches: HeaderSwitches;
  settings: EdgeSettings;

  constructor(config: EdgeConfig, parts: ConnectorParts) {
    this.#parts = parts;
    this.#config = config;
    this.#via = viaRegex(config);
    this.#switches = switchesOf(config);
    this.settings = settingsOf(config);
    this.#provider = makeProvider(config, { ca: null });
  }

  get configured(): boolean {
    return this.#config.configured;
  }

  get config(): EdgeConfig {
    return this.#config;
  }

  get queue(): PurgeQueue | null {
    return this.#queue;
  }

  get broken(): string | null {
    return this.#broken;
  }

  /** Applies settings. Never rejects: problems with the queue are logged and shown. */
  async configure(config: EdgeConfig, directory: string, ca: string | null): Promise<void> {
    const former = this.#queue;
    this.#queue = null;
    await former?.close();
    this.#config = config;
    this.#via = viaRegex(config);
    this.#switches = switchesOf(config);
    this.settings = settingsOf(config);
    this.#broken = null;
    this.#provider = makeProvider(config, { ca });
    this.#warned = false;
    if (!config.configured || this.#parts.elsewhere !== null) return;
    try {
      const { limiter, left } = limiterOf(config);
      this.#tokens = left;
      this.#queue = await PurgeQueue.open({
        directory: directory,
        fsync: config.text('fsync') as 'always' | 'group',
        provider: this.#provider,
        limiter,
        maxEntries: config.number('max_entries'),
        maxAttempts: config.number('max_attempts'),
        backoffMin: config.number('backoff_min') * 1000,
        backoffMax: config.number('backoff_max') * 1000,
        maxAge: config.number('max_age') * 1000,
        dryRun: config.flag('dry_run'),
        event: (event) => this.#tell(event),
        totals: this.#parts.counters,
      });
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const hint = code === 'EACCES' ? "; let the worker's user reach it, or name another with dir" : '';
      this.#broken = `${message}${hint}`;
      this.#parts.warn(`Purges are not sent to the edge: ${this.#broken}`);
    }
  }

  /** Updates the gauges. */
  sample(): void {
    const { counters } = this.#parts;
    if (this.#queue !== null) Object.assign(counters, this.#queue.counters());
    counters.tokens_left = this.#tokens?.() ?? 0;
  }

  async close(): Promise<void> {
    await this.#queue?.close();
    this.#queue = null;
  }

  isEdge(via: string | null): boolean {
    return via !== null && this.#via.test(via);
  }

  headers(delivery: EdgeDelivery): Readonly<Record<string, string | null>> {
    const keys = cacheTags(delivery.keys, MAX_TAGS);
    const tags = [...keys.tags];
    if (this.#config.text('rule_fallback') === 'tag') {
      if (tags.length === MAX_TAGS) tags.pop();
      tags.push(SITE_TAG);
    }
    return this.#provider.formatHeaders(delivery, tags, this.#switches);
  }

  invalidated(event: Invalidation, program: CompiledProgram | null): Promise<EdgeReceipt> | null {
    const isImported = this.#parts.activeImports() || program?.imports.includes(IMPORT) === true;
    if (!isImported) return null;
    const { elsewhere } = this.#parts;
    if (this.configured) return (elsewhere ?? this).record(event);
    (elsewhere ?? this).unsent();
    return null;
  }

  /** Warns once that invalidations are sent to no network. */
  unsent(): void {
    if (!this.#warned)
      this.#parts.warn(
        'Purges are not sent to the edge: edge-connector.conf names no network, or lacks fields of its purge section',
      );
    this.#warned = true;
  }

  /** Writes the edge's part of an invalidation to the journal; never rejects. */
  async record(event: Invalidation): Promise<EdgeReceipt> {
    const provider = this.#provider;
    const queue = this.#queue;
    const name = this.#config.text('provider');
    const rejected = (op: string, detail: string): EdgeReceipt => {
      this.#parts.log(`edge: ${event.origin} ${event.kind} rejected: ${detail}`);
      return { provider: name, op, id: '', state: 'rejected', detail };
    };
    if (queue === null) return rejected(event.kind, this.#broken ?? 'the queue is not open yet');
    try {
      const operation = edgeOperation(event, this.#config, provider);
      if (typeof operation === 'string') return rejected(event.kind, operation);
      const added = await queue.add(operation.targets, event.origin);
      const refused = added.find(({ state }) => state === 'rejected');
      if (refused !== undefined) return rejected(operation.op, refused.reason ?? 'the queue is full');
      const id = added.map((entry) => entry.id).join(',');
      const state = added[0]?.state ?? 'queued';
      const note = operation.note === '' ? {} : { detail: operation.note };
      const receipt: EdgeReceipt = { provider: name, op: operation.op, id, state, ...note };
      if (this.#config.text('mode') !== 'inline' || state === 'dry-run') return receipt;
      const ends = await Promise.all(added.map((entry) => within(INLINE_TIMEOUT, queue.settled(entry.id))));
      const worst = ends.find((end) => end !== 'acked') ?? 'acked';
      return { ...receipt, state: worst as EdgeReceipt['state'] };
    } catch (cause) {
      return rejected(event.kind, (cause as Error).message);
    }
  }

  #tell(event: QueueEvent): void {
    const purge = event.purgeId === undefined ? '' : ` purge ${event.purgeId}`;
    const detail = event.detail === undefined || event.detail === '' ? '' : `: ${event.detail}`;
    this.#parts.log(`edge: ${event.origin} queue ${event.id} ${event.state}${purge}${detail}`);
  }
}

/** `retry` after a timeout: the entry remains in the queue. */
function within(ms: number, settled: Promise<string>): Promise<string> {
  return new Promise((done) => {
    const timer = setTimeout(() => done('retry'), ms);
    settled.then((state) => {
      clearTimeout(timer);
      done(state);
    });
  });
}

function viaRegex(config: EdgeConfig): BoundedRegex {
  return compileRegex(`(?i)${config.text('via_regex')}`);
}

function switchesOf(config: EdgeConfig): HeaderSwitches {
  return {
    edgeAge: config.text('edge_age') as 'drop' | 'keep',
    basis: config.text('basis') as 'remaining' | 'original',
    downstream: config.text('downstream') as 'ttl' | 'origin',
  };
}

function settingsOf(config: EdgeConfig): EdgeSettings {
  return {
    prefix: config.text('prefix'),
    tagHeader: config.text('tag_header_source').toLowerCase(),
    graceToEdge: config.text('grace_to_edge') as 'revalidate' | 'serve',
  };
}

/** Calls per period, and the burst; a monthly quota is converted to calls per minute. */
function limiterOf(config: EdgeConfig): { limiter: Limiter; left: () => number } {
  const calls = limit({
    calls: config.number('calls'),
    period: config.number('period'),
    strict: config.flag('strict'),
    concurrency: config.number('concurrency'),
  });
  const left = (): number => calls.snapshot().left;
  const quota = config.number('monthly_quota');
  if (quota === 0) return { limiter: calls, left };
  const both = allOf([calls, limit({ calls: perMinuteFromQuota(quota), period: 60 })]);
  return {
    limiter: { take: (n, signal) => both.take(n, signal), penalize: (ms) => calls.penalize(ms) },
    left,
  };
}
