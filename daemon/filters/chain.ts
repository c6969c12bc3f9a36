// The filters that one body passes in their order, with the counts of each. Made when the head is mended; the filters
// themselves are made when the body begins to pass.

import { Tag } from '../../protocol/tables/tags.ts';
import type { EsiFeatures } from '../esi/esi-parser.ts';
import { asserted, type Sink } from '../flow/flow.ts';
import type { ByteParts } from '../http1/byte-parts.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import {
  BY_READING,
  type DeliveredBody,
  type DeliveryFilter,
  type FetchedBody,
  type FetchFilter,
  type FilterCounters,
  type FilterFlow,
  type FilterMaker,
  type FilterParams,
  type Page,
} from './filter.ts';
import type { FilterList } from './filter-table.ts';

/** A place in the chain. */
class Stage {
  readonly name: string;
  readonly maker: FilterMaker | null;
  readonly byReading: boolean;
  filter: FilterFlow | null = null;

  constructor(name: string, maker: FilterMaker | typeof BY_READING | null) {
    this.name = name;
    this.byReading = maker === BY_READING;
    this.maker = maker === BY_READING ? null : maker;
  }
}

/** The context that the bodies of both sides share with their filters. */
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

  /** Makes the filters in front of a sink; the first one, which is the sink of the body. */
  connect(sink: Sink, asserts = false): Sink {
    let next = sink;
    for (const stage of this.stages.toReversed()) {
      if (stage.maker === null) continue;
      stage.filter = stage.maker(asserted(next, asserts));
      next = stage.filter;
    }
    return next;
  }
}

/** A fetched body before any filter. */
export interface FetchScope extends ChainScope {
  readonly request: HttpMessage;
  readonly esiFeatures: EsiFeatures;
  /** Complaints about markup begin with `ERR:` and `WARN:`, as since Varnish 8.0. */
  readonly esiColon: boolean;
}

export class FetchChain extends Chain implements FetchedBody {
  readonly request: HttpMessage;
  readonly esiFeatures: EsiFeatures;
  readonly esiColon: boolean;
  gzipped = false;
  recoded = false;
  unpacked = -1;
  plan: Buffer | null = null;

  constructor(scope: FetchScope, { filters }: FilterList<FetchFilter>) {
    super(scope);
    this.request = scope.request;
    this.esiFeatures = scope.esiFeatures;
    this.esiColon = scope.esiColon;
    for (const filter of filters) this.stages.push(new Stage(filter.name, filter.open(this)));
  }

  /** Logs each filter, as Varnish does the last one first, whatever became of the body. */
  report(): void {
    const { log } = this;
    for (const { name, filter } of this.stages.toReversed()) {
      filter?.report(log);
      log.put(Tag.VfpAcct, `${name} ${filter?.calls ?? 0} ${filter?.bytes ?? 0}`);
    }
  }
}

/** A delivered body before any filter. */
export interface DeliveryScope extends ChainScope {
  readonly request: HttpMessage;
  readonly gzipped: boolean;
  readonly unpacked: number;
  readonly length: number;
  readonly openPage: (() => Page) | null;
  /** Not where a part would be none: pages of fragments, bodies of requests. */
  readonly cutsOpenBodies?: boolean;
  readonly isSeekable?: boolean;
}

export class DeliveryChain extends Chain implements DeliveredBody {
  readonly request: HttpMessage;
  readonly unpacked: number;
  readonly openPage: (() => Page) | null;
  readonly cutsOpenBodies: boolean;
  readonly isSeekable: boolean;
  parts: ByteParts | null = null;
  gzipped: boolean;
  length: number;
  isPart = false;
  from = 0;
  to = Number.POSITIVE_INFINITY;

  constructor(scope: DeliveryScope, { filters }: FilterList<DeliveryFilter>) {
    super(scope);
    this.request = scope.request;
    this.unpacked = scope.unpacked;
    this.cutsOpenBodies = scope.cutsOpenBodies === true;
    this.isSeekable = scope.isSeekable === true;
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
    for (const { name, byReading, filter } of this.stages) {
      // As in Varnish, only those bytes count for a filter that no later one has left out.
      const counted = byReading
        ? `${calls} ${bytes}`
        : `${filter?.calls ?? 0} ${Math.min(filter?.bytes ?? 0, bytes)}`;
      if (!byReading || bytes > 0) log.put(Tag.VdpAcct, `${name} ${counted}`);
      filter?.report(log);
    }
  }
}
