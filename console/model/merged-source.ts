// Two instances as one: counters summed, logs in the order in which they come. What belongs to one of them (backends,
// programs, parameters, bans) is shown apart, under its instance's name, and a command that names it goes there alone;
// other questions go to both. The view is stale when one of the two is. It never decides where a change is made: that
// is the operator's (operator.ts).

import type { CommandReply, CounterInfo, LogSubscription } from '../../protocol/messages.ts';
import { MGT_COUNTERS, WRK_COUNTERS } from '../../protocol/tables/counters.ts';
import type { ConnectionState, LogHandlers, Source, SourceEvents, Subscription } from '../client/source.ts';
import { commandWord } from './completion.ts';
import { increase } from './hit-rate.ts';
import { addressOf, placed } from './instance-address.ts';

export interface NamedSource {
  name: string;
  source: Source;
}

interface Part extends NamedSource {
  info: CounterInfo[];
  values: bigint[];
  /** Of each counter its last reading, and what it has counted in all its workers while this view was open. */
  last: Map<string, bigint>;
  totals: Map<string, bigint>;
  /** Have its values of this round come? */
  fresh: boolean;
  state: ConnectionState;
}

export class MergedSource implements Source {
  readonly label: string;
  readonly parts: readonly string[];
  private readonly open: readonly Part[];

  constructor(a: NamedSource, b: NamedSource) {
    this.label = `${a.name}+${b.name}`;
    this.parts = [a.name, b.name];
    this.open = [a, b].map((p) => ({
      ...p,
      info: [],
      values: [],
      last: new Map(),
      totals: new Map(),
      fresh: false,
      state: { state: 'connecting', attempt: 0 },
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
          part.info = info;
          part.values = [];
          events.counters(this.merged().map((m) => m.info));
        },
        values: (at, values) => {
          take(part, values);
          part.fresh = true;
          // One sample a round: when the values of both have come.
          if (!this.open.every((p) => p.fresh)) return;
          for (const each of this.open) each.fresh = false;
          events.values(
            at,
            this.merged().map((m) => m.value),
            true,
          );
        },
        // Samples of two daemons would have to be put side by side.
        past: () => undefined,
        event: (word, text, noted) => events.event(word, `${part.name}: ${text}`, noted),
      });
    }
  }

  async command(line: string): Promise<CommandReply> {
    const address = addressOf(line, this.parts);
    const to = address === null ? this.open : this.open.filter((p) => p.name === address.part);
    const text = address?.line ?? line;
    const replies = await Promise.all(to.map((p) => p.source.command(text)));
    const first = replies[0] as CommandReply;
    const failed = replies.findIndex((r) => r.status !== 200);
    // What one instance says of itself alone was asked for by its own names.
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
        // Each says so again after its connection was lost.
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

  get retells(): boolean {
    return this.open.every((part) => part.source.retells === true);
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

  /** Counters of one name are summed, of some the worse is taken, those of backends and threads kept apart; an uptime is
   * that of the younger. */
  private merged(): { info: CounterInfo; value: bigint }[] {
    const byName = new Map<string, { info: CounterInfo; value: bigint }>();
    const stateOf = (part: Part): bigint => part.last.get(STATE) ?? 0n;
    const worse = this.open.reduce((a, b) => (stateOf(b) > stateOf(a) ? b : a));
    for (const part of this.open) {
      for (const [i, info] of part.info.entries()) {
        const group = info.name.slice(0, 4);
        const apart = group === 'VBE.' || group === 'THR.';
        const name = apart ? `${group}${placed(part.name, info.name.slice(4))}` : info.name;
        const value = (counts(info) ? part.totals.get(info.name) : part.values[i]) ?? 0n;
        const known = byName.get(name);
        if (known === undefined) byName.set(name, { info: apart ? { ...info, name } : info, value });
        else if (WORST.has(name)) known.value = value > known.value ? value : known.value;
        else if (name === STATE_SINCE) known.value = part === worse ? value : known.value;
        else if (info.format === 'd') known.value = value < known.value ? value : known.value;
        else known.value += value;
      }
    }
    return [...byName.values()];
  }
}

const STATE = 'MGT.worker_state';
/** The age of the state that is shown, which is the worse one. */
const STATE_SINCE = 'MGT.worker_since';
/** A sum of them would say nothing. */
const WORST: ReadonlySet<string> = new Set(
  Object.entries({ MGT: MGT_COUNTERS, WRK: WRK_COUNTERS }).flatMap(([group, rows]) =>
    rows.flatMap((row) => ('threads' in row && row.threads === 'worst' ? [`${group}.${row.name}`] : [])),
  ),
);

/** A counter proper: it only grows while its worker lives, and a sum of such must not shrink when one restarts. */
function counts(info: CounterInfo): boolean {
  return info.flag === 'c' && info.format !== 'd';
}

function take(part: Part, values: bigint[]): void {
  const uptime = values[part.info.findIndex((i) => i.name === 'MAIN.uptime')] ?? 0n;
  const restarted = uptime < (part.last.get('MAIN.uptime') ?? 0n);
  const last = new Map<string, bigint>();
  for (const [i, info] of part.info.entries()) {
    const value = values[i] ?? 0n;
    last.set(info.name, value);
    if (!counts(info)) continue;
    const before = part.last.get(info.name);
    const total = part.totals.get(info.name) ?? 0n;
    const anew = restarted && !info.name.startsWith('MGT.');
    part.totals.set(info.name, total + (before === undefined ? value : increase(before, value, anew)));
  }
  part.last = last;
  part.values = values;
}

/** The items of two `-j` answers after one head, their names with those of the instances. */
function joinJson(word: string, parts: readonly string[], replies: readonly CommandReply[]): string {
  try {
    const lists = replies.map((r) => JSON.parse(quoteWide(r.body)) as unknown[]);
    const head = lists[0]?.slice(0, 3) ?? [];
    const items = lists.map((l, i) => l.slice(3).map((item) => placedItem(word, parts[i] as string, item)));
    if (word === 'backend.list') return JSON.stringify([...head, Object.assign({}, ...items.flat())]);
    const all = items.flat();
    // The same parameter of both stands side by side.
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
