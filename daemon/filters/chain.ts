// The filters that one body passes, one behind the other, with what is counted of each. Made when the head is mended;
// its processors are made when the body begins to pass.

import { Tag } from '../../protocol/tables/tags.ts';
import type { EsiFeatures } from '../esi/esi-parser.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import {
  BY_READING,
  type DeliveredBody,
  type DeliveryFilter,
  type FetchedBody,
  type FetchFilter,
  type FilterCounters,
  type FilterParams,
  type Outlet,
  type Page,
  type Processor,
  type ProcessorMaker,
} from './filter.ts';
import type { FilterList } from './filter-table.ts';

/** A place in the chain, the outlet of its processor. */
class Stage implements Outlet {
  readonly name: string;
  readonly maker: ProcessorMaker | null;
  readonly byReading: boolean;
  processor: Processor | null = null;
  /** How often and how many bytes it gave. */
  calls = 0;
  bytes = 0;
  /** Where its bytes go, whom it asks for more, and who hears of its failure. */
  next: { data(bytes: Buffer, last: boolean): boolean } | null = null;
  before: { resume(): void } | null = null;
  owner: Outlet | null = null;

  constructor(name: string, maker: ProcessorMaker | typeof BY_READING | null) {
    this.name = name;
    this.byReading = maker === BY_READING;
    this.maker = maker === BY_READING ? null : maker;
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (this.next === null) return false;
    if (bytes.length > 0) this.calls++;
    this.bytes += bytes.length;
    return this.next.data(bytes, last);
  }

  ready(): void {
    if (this.before !== null) this.before.resume();
    else this.owner?.ready();
  }

  fail(): void {
    this.owner?.fail();
  }
}

/** What both sides' bodies have in common with their filters. */
export interface ChainScope {
  readonly head: HttpMessage;
  readonly log: MessageLog;
  readonly stats: FilterCounters;
  readonly params: FilterParams;
}

class Chain {
  readonly head: HttpMessage;
  readonly log: MessageLog;
  readonly stats: FilterCounters;
  readonly params: FilterParams;
  protected readonly stages: Stage[] = [];
  private working: Stage[] = [];

  constructor({ head, log, stats, params }: ChainScope) {
    this.head = head;
    this.log = log;
    this.stats = stats;
    this.params = params;
  }

  /** Whether any filter has something to do: else bytes pass beside the chain. */
  get works(): boolean {
    return this.stages.some((stage) => stage.maker !== null);
  }

  /** Makes the processors; what comes out, the wish for more and failures go to `owner`. */
  connect(owner: Outlet): void {
    this.working = this.stages.filter((stage) => stage.maker !== null);
    this.working.forEach((stage, i) => {
      stage.owner = owner;
      stage.before = this.working[i - 1]?.processor ?? null;
      stage.processor = (stage.maker as ProcessorMaker)(stage);
      const previous = this.working[i - 1];
      if (previous !== undefined) previous.next = stage.processor;
      stage.next = owner;
    });
  }

  /** Bytes for the first filter, as Processor.data(). */
  data(bytes: Buffer, last: boolean): boolean {
    return this.working[0]?.processor?.data(bytes, last) ?? true;
  }

  /** The owner takes bytes again. */
  resume(): void {
    this.working.at(-1)?.processor?.resume();
  }

  /** Nothing more goes in or comes out; what was counted stays. */
  close(): void {
    for (const stage of this.working) {
      stage.next = null;
      stage.owner = null;
      stage.before = null;
      stage.processor?.close();
    }
  }
}

/** What a fetch knows of its body before any filter. */
export interface FetchScope extends ChainScope {
  readonly request: HttpMessage;
  readonly esiFeatures: EsiFeatures;
}

export class FetchChain extends Chain implements FetchedBody {
  readonly request: HttpMessage;
  readonly esiFeatures: EsiFeatures;
  gzipped = false;
  recoded = false;
  unpacked = -1;
  plan: Buffer | null = null;

  constructor(scope: FetchScope, { filters }: FilterList<FetchFilter>) {
    super(scope);
    this.request = scope.request;
    this.esiFeatures = scope.esiFeatures;
    for (const filter of filters) this.stages.push(new Stage(filter.name, filter.open(this)));
  }

  /** Logs each filter, as Varnish does the last one first, whatever became of the body. */
  report(): void {
    const { log } = this;
    for (const { name, calls, bytes, processor } of this.stages.toReversed()) {
      processor?.report(log);
      log.put(Tag.VfpAcct, `${name} ${calls} ${bytes}`);
    }
  }
}

/** What a delivery knows of its body before any filter. */
export interface DeliveryScope extends ChainScope {
  readonly request: HttpMessage;
  readonly gzipped: boolean;
  readonly unpacked: number;
  readonly length: number;
  readonly openPage: (() => Page) | null;
}

export class DeliveryChain extends Chain implements DeliveredBody {
  readonly request: HttpMessage;
  readonly unpacked: number;
  readonly openPage: (() => Page) | null;
  gzipped: boolean;
  length: number;
  isPart = false;
  from = 0;
  to = Number.POSITIVE_INFINITY;

  constructor(scope: DeliveryScope, { filters }: FilterList<DeliveryFilter>) {
    super(scope);
    this.request = scope.request;
    this.unpacked = scope.unpacked;
    this.gzipped = scope.gzipped;
    this.length = scope.length;
    this.openPage = scope.openPage;
    for (const filter of filters) {
      const maker = filter.open(this);
      // A filter without anything to do is none, as in Varnish.
      if (maker !== null) this.stages.push(new Stage(filter.name, maker));
    }
  }

  /** The names of the filters that have something to do. */
  get workingNames(): string[] {
    return this.stages.filter((stage) => stage.maker !== null).map(({ name }) => name);
  }

  get isSource(): boolean {
    return !this.works;
  }

  /**
   * Logs each filter, the first one first.
   * @param calls and `bytes`: what went to the client, for filters that only chose what is read
   */
  report(calls: number, bytes: number): void {
    const { log } = this;
    for (const stage of this.stages) {
      // As in Varnish, only those bytes count for a filter that no later one has left out.
      const counted = stage.byReading
        ? `${calls} ${bytes}`
        : `${stage.calls} ${Math.min(stage.bytes, bytes)}`;
      if (!stage.byReading || bytes > 0) log.put(Tag.VdpAcct, `${stage.name} ${counted}`);
      stage.processor?.report(log);
    }
  }
}
