// Two instances as one: counters are summed, logs are interleaved as they arrive. Things of one of them (backends,
// programs, parameters, bans) are shown separately under its name, and a command that names them goes there alone;
// other queries go to both. The data is stale when either is. Where a change is made is decided by the operator
// (operator.ts), never here.

import type {
  CommandReply,
  CounterInfo,
  HistoryRequest,
  LogSubscription,
} from '../../../protocol/messages.ts';
import { MGT_COUNTERS, WRK_COUNTERS } from '../../../protocol/tables/counters.ts';
import type {
  ConnectionState,
  LogHandlers,
  PastPoint,
  Source,
  SourceEvents,
  Subscription,
} from '../../client/source.ts';
import { increase } from '../counters/hit-rate.ts';
import { addressOf, commandWord, placed } from './admin-line.ts';
import { ChildStatus, STATE, STATE_SINCE } from './child-status.ts';
import { mergePoints, nameAmong, sideBySide, type Timed } from './merged-past.ts';

export interface NamedSource {
  name: string;
  source: Source;
}

interface Sample extends Timed {
  info: CounterInfo[];
  values: bigint[];
}

interface Part extends NamedSource {
  info: CounterInfo[];
  values: bigint[];
  /** By counter, in the order of `info`: its total over all workers since this view was opened; undefined before the
   * first reading. */
  totals: (bigint | undefined)[];
  /** Its samples until both parts have some; the last is the present one. */
  past: Sample[];
  /** Has its sample of this round arrived? */
  fresh: boolean;
  state: ConnectionState;
  readonly status: ChildStatus;
}

interface Place {
  part: Part;
  index: number;
}

interface MergedRow {
  info: CounterInfo;
  places: Place[];
}

export class MergedSource implements Source {
  readonly label: string;
  readonly parts: readonly string[];
  private readonly open: readonly Part[];
  private plan: { of: readonly (readonly CounterInfo[])[]; rows: readonly MergedRow[] } | null = null;
  /** Do both have samples? */
  private joined = false;

  constructor(a: NamedSource, b: NamedSource) {
    this.label = `${a.name}+${b.name}`;
    this.parts = [a.name, b.name];
    this.open = [a, b].map((p) => ({
      ...p,
      info: [],
      values: [],
      totals: [],
      past: [],
      fresh: false,
      state: { state: 'connecting', attempt: 0 },
      status: new ChildStatus(),
    }));
  }

  start(events: SourceEvents): void {
    for (const part of this.open) {
      part.source.start({
        connection: (state) => {
          part.state = state;
          events.connection(this.connection());
        },
        counters: (info) => {
          const rows = part.status.describe(info, part.source.product);
          if (this.joined) describe(part, rows);
          else part.info = rows;
          // Until both have samples there is nothing to describe.
          if (this.joined) events.counters(this.rows().map((row) => row.info));
        },
        values: (at, read) => {
          const values = part.status.values(at, read);
          if (this.joined) take(part, values);
          else part.past.push({ at, info: part.info, values });
          part.fresh = true;
          // One sample a round: when both have arrived.
          if (!this.open.every((p) => p.fresh)) return;
          for (const each of this.open) each.fresh = false;
          if (!this.joined) this.join(events);
          events.values(at, this.values(), true);
        },
        past: (at, values) => {
          // After a lost connection the next values include the gap.
          if (!this.joined) part.past.push({ at, info: part.info, values: part.status.values(at, values) });
        },
        event: (word, text, noted) => events.event(word, `${part.name}: ${text}`, noted),
      });
    }
  }

  /** Joins the samples of both. The last one is the present. */
  private join(events: SourceEvents): void {
    this.joined = true;
    for (const part of this.open) part.info = [];
    let infos: readonly (readonly CounterInfo[])[] = [];
    sideBySide(
      this.open.map((part) => part.past.splice(0)),
      (i, { info, values }) => {
        const part = this.open[i] as Part;
        if (part.info !== info) describe(part, info);
        take(part, values);
      },
      (at) => {
        const now = this.open.map((part) => part.info);
        if (now.some((info, i) => info !== infos[i])) events.counters(this.rows().map((row) => row.info));
        infos = now;
        events.past(at, this.values(), true);
      },
    );
  }

  async history(request: HistoryRequest): Promise<readonly PastPoint[]> {
    const asked = this.open.map(({ source }) => source.history?.(request) ?? Promise.resolve([]));
    const histories = await Promise.all(asked);
    return mergePoints(
      this.open.map((part, i) => ({
        part: part.name,
        counters: part.info.flatMap((info, index) => {
          if (!counts(info)) return [];
          const total = Number(part.totals[index] ?? 0n);
          return { name: info.name, value: Number(part.values[index] ?? 0n), total };
        }),
        points: histories[i] as readonly PastPoint[],
      })),
    );
  }

  async command(line: string): Promise<CommandReply> {
    const address = addressOf(line, this.parts);
    const to = address === null ? this.open : this.open.filter((p) => p.name === address.part);
    const text = address?.line ?? line;
    const replies = await Promise.all(to.map((p) => p.source.command(text)));
    const first = replies[0] as CommandReply;
    const failed = replies.findIndex((r) => r.status !== 200);
    // The answer of one instance has the names that it was asked with.
    if (address !== null) return first;
    if (/ -j\b/.test(line) && failed < 0)
      return { status: 200, body: joinJson(commandWord(line), this.parts, replies) };
    const body = replies.map((r, i) => `${this.parts[i]}: ${r.body.trimEnd()}`).join('\n');
    return { status: failed < 0 ? 200 : (replies[failed]?.status ?? 0), body };
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    let open = this.open.length;
    let unready = open;
    const streams = this.open.map((part) =>
      part.source.log(sub, {
        // Each reports it again after a reconnect.
        ready: () => {
          if (--unready === 0) handlers.ready?.();
        },
        batch: (transactions) => handlers.batch(transactions),
        lost: (records, reason) => handlers.lost(records, reason),
        failed: (message) => handlers.failed(`${part.name}: ${message}`),
        ...(handlers.earlier === undefined ? {} : { earlier: handlers.earlier }),
        ended: () => {
          if (--open === 0) handlers.ended?.();
        },
      }),
    );
    return {
      close: () => {
        for (const stream of streams) stream.close();
      },
    };
  }

  /** The product, where it is the same. */
  get product(): string | undefined {
    const [a, b] = this.open;
    return a?.source.product === b?.source.product ? a?.source.product : undefined;
  }

  /** The limits of either. */
  get eventLimits(): string | undefined {
    return this.open.flatMap(({ source }) => source.eventLimits ?? [])[0];
  }

  /** The commands that both have; unknown if either may have all. */
  get commands(): ReadonlySet<string> | undefined {
    const [a, b] = this.open.map(({ source }) => source.commands);
    return a === undefined || b === undefined ? undefined : new Set([...a].filter((word) => b.has(word)));
  }

  get canReplay(): boolean {
    return this.open.every((part) => part.source.canReplay === true);
  }

  setInterval(seconds: number): void {
    for (const { source } of this.open) source.setInterval(seconds);
  }

  sampleNow(): void {
    for (const { source } of this.open) source.sampleNow();
  }

  close(): void {
    for (const { source } of this.open) source.close();
  }

  private connection(): ConnectionState {
    const down = this.open.find((p) => p.state.state !== 'up');
    if (down !== undefined)
      return down.state.state === 'waiting'
        ? { ...down.state, reason: `${down.name}: ${down.state.reason}` }
        : down.state;
    const versions = this.open.map((p) => (p.state.state === 'up' ? p.state.version : ''));
    return { state: 'up', identity: this.label, version: [...new Set(versions)].join('+') };
  }

  /** The merged counters and their parts; made again when the counters of either change. */
  private rows(): readonly MergedRow[] {
    const { plan } = this;
    if (plan !== null && this.open.every((part, i) => part.info === plan.of[i])) return plan.rows;
    const byName = new Map<string, MergedRow>();
    for (const part of this.open) {
      for (const [index, info] of part.info.entries()) {
        const name = nameAmong(part.name, info.name);
        const row = byName.get(name) ?? { info: { ...info, name }, places: [] };
        row.places.push({ part, index });
        byName.set(name, row);
      }
    }
    const rows = [...byName.values()];
    this.plan = { of: this.open.map((part) => part.info), rows };
    return rows;
  }

  /** Counters of one name are summed, of some the worse is taken, those of backends and threads stay apart; an
   * uptime is that of the younger. */
  private values(): bigint[] {
    const stateOf = (part: Part): bigint => valueAt({ part, index: part.info.findIndex(isState) });
    const worse = this.open.reduce((a, b) => (stateOf(b) > stateOf(a) ? b : a));
    return this.rows().map(({ info, places }) => {
      const values = places.map(valueAt);
      const [first = 0n] = values;
      if (values.length < 2) return first;
      const sorted = [...values].sort((a, b) => (a < b ? -1 : 1));
      if (WORST.has(info.name)) return sorted.at(-1) ?? first;
      // The age of the worse state, which is the one shown.
      if (info.name === STATE_SINCE) return values[places.findIndex(({ part }) => part === worse)] ?? first;
      if (info.format === 'd') return sorted[0] ?? first;
      return values.reduce((a, b) => a + b);
    });
  }
}

function isState(info: CounterInfo): boolean {
  return info.name === STATE;
}

/** A monotonic counter has its total over all workers, others their last value. */
function valueAt({ part, index }: Place): bigint {
  const info = part.info[index];
  return (info !== undefined && counts(info) ? part.totals[index] : part.values[index]) ?? 0n;
}

/** Counters whose sum has no meaning. */
const WORST: ReadonlySet<string> = new Set(
  Object.entries({ MGT: MGT_COUNTERS, WRK: WRK_COUNTERS }).flatMap(([group, rows]) =>
    rows.flatMap((row) => ('threads' in row && row.threads === 'worst' ? [`${group}.${row.name}`] : [])),
  ),
);

/** A monotonic counter: it grows while its worker lives, and a sum must not shrink at a restart. */
function counts(info: CounterInfo): boolean {
  return info.flag === 'c' && info.format !== 'd';
}

/** Sets the counters of a part; those that stay keep their values. */
function describe(part: Part, info: CounterInfo[]): void {
  const places = new Map(part.info.map((row, i) => [row.name, i]));
  const kept = info.map((row) => places.get(row.name) ?? -1);
  part.values = kept.map((i) => part.values[i] ?? 0n);
  part.totals = kept.map((i) => part.totals[i]);
  part.info = info;
}

function take(part: Part, values: bigint[]): void {
  const { info, totals, values: last } = part;
  const up = info.findIndex((row) => row.name === 'MAIN.uptime');
  const restarted = (values[up] ?? 0n) < (last[up] ?? 0n);
  for (let i = 0; i < info.length; i++) {
    const row = info[i] as CounterInfo;
    if (!counts(row)) continue;
    const value = values[i] ?? 0n;
    const total = totals[i];
    const reset = restarted && !row.name.startsWith('MGT.');
    totals[i] = total === undefined ? value : total + increase(last[i] ?? 0n, value, reset);
  }
  part.values = values;
}

/** Joins the items of two `-j` answers, with the names of the instances in theirs. */
function joinJson(word: string, parts: readonly string[], replies: readonly CommandReply[]): string {
  try {
    const lists = replies.map((r) => JSON.parse(quoteWide(r.body)) as unknown[]);
    const head = lists[0]?.slice(0, 3) ?? [];
    const items = lists.map((l, i) => l.slice(3).map((item) => placedItem(word, parts[i] as string, item)));
    if (word === 'backend.list') return JSON.stringify([...head, Object.assign({}, ...items.flat())]);
    const all = items.flat();
    // Adjacent rows for the same parameter of both.
    const paired = items[0]?.flatMap((item, i) => [item, items[1]?.[i]]);
    const same = word === 'param.show' && items[0]?.length === items[1]?.length;
    return JSON.stringify([...head, ...((same ? paired : undefined) ?? all)]);
  } catch {
    return replies[0]?.body ?? '';
  }
}

/** Bitmaps are 64 bits wide: as numbers they would lose their last digits. */
function quoteWide(body: string): string {
  return body.replace(/: (\d{16,})(?=[,\s}])/g, ': "$1"');
}

function placedItem(word: string, part: string, item: unknown): unknown {
  if (typeof item !== 'object' || item === null || word === 'storage.list') return item;
  const it = item as Record<string, unknown>;
  if (word === 'backend.list')
    return Object.fromEntries(Object.entries(it).map(([name, value]) => [placed(part, name), value]));
  const out: Record<string, unknown> = { ...it, instance: part };
  if (typeof it.name === 'string') out.name = placed(part, it.name);
  if (Array.isArray(it.deps)) out.deps = it.deps.map((name) => placed(part, String(name)));
  const { label } = it;
  if (typeof label === 'object' && label !== null && 'name' in label)
    out.label = { ...label, name: placed(part, String(label.name)) };
  return out;
}
