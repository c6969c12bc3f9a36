// Two instances as one: counters summed, logs in the order in which they come, names told apart by a prefix where
// they must be. Commands go to both, and the answers come one after the other; what changes something is refused
// unless both take it. The view is stale when one of the two is.

import type { CounterInfo, LogSubscription } from '../../protocol/messages.ts';
import type {
  CommandReply,
  ConnectionState,
  LogHandlers,
  Source,
  SourceEvents,
  Subscription,
} from './source.ts';

export interface NamedSource {
  name: string;
  source: Source;
}

interface Part extends NamedSource {
  info: CounterInfo[];
  values: bigint[];
  at: number;
  state: ConnectionState;
}

export class MergedSource implements Source {
  readonly label: string;
  private readonly parts: readonly Part[];

  constructor(a: NamedSource, b: NamedSource) {
    this.label = `${a.name}+${b.name}`;
    this.parts = [a, b].map((p) => ({
      ...p,
      info: [],
      values: [],
      at: 0,
      state: { state: 'connecting', attempt: 0 },
    }));
  }

  start(events: SourceEvents): void {
    for (const part of this.parts) {
      part.source.start({
        connection: (state) => {
          part.state = state;
          events.connection(this.connection());
        },
        counters: (info) => {
          part.info = info;
          part.values = info.map(() => 0n);
          events.counters(this.merged().map((m) => m.info));
        },
        values: (at, values) => {
          part.at = at;
          part.values = values;
          // One sample a round: when the last of the two has told its values.
          if (this.parts.every((p) => p.at > 0 && at - p.at < 10 && p.at <= at))
            events.values(
              at,
              this.merged().map((m) => m.value),
            );
        },
        event: (kind, text) => events.event(kind, `${part.name}: ${text}`),
      });
    }
  }

  async command(line: string): Promise<CommandReply> {
    const replies = await Promise.all(this.parts.map((p) => p.source.command(line)));
    const failed = replies.findIndex((r) => r.status !== 200);
    if (/ -j\b/.test(line) && failed < 0) return { status: 200, body: joinJson(replies.map((r) => r.body)) };
    const body = replies.map((r, i) => `${this.parts[i]?.name}: ${r.body.trimEnd()}`).join('\n');
    return { status: failed < 0 ? 200 : (replies[failed]?.status ?? 0), body };
  }

  log(sub: LogSubscription, handlers: LogHandlers): Subscription {
    let open = this.parts.length;
    const streams = this.parts.map((part) =>
      part.source.log(sub, {
        batch: (transactions) => handlers.batch(transactions),
        lost: (records, reason) => handlers.lost(records, reason),
        failed: (message) => handlers.failed(`${part.name}: ${message}`),
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

  setInterval(seconds: number): void {
    for (const { source } of this.parts) source.setInterval(seconds);
  }

  sampleNow(): void {
    for (const { source } of this.parts) source.sampleNow();
  }

  close(): void {
    for (const { source } of this.parts) source.close();
  }

  private connection(): ConnectionState {
    const down = this.parts.find((p) => p.state.state !== 'up');
    if (down !== undefined)
      return down.state.state === 'waiting'
        ? { ...down.state, reason: `${down.name}: ${down.state.reason}` }
        : down.state;
    const versions = this.parts.map((p) => (p.state.state === 'up' ? p.state.version : ''));
    return { state: 'up', identity: this.label, version: [...new Set(versions)].join('+') };
  }

  /** Counters of one name are summed; an uptime is that of the younger, a bitmap is nobody's. */
  private merged(): { info: CounterInfo; value: bigint }[] {
    const byName = new Map<string, { info: CounterInfo; value: bigint }>();
    for (const part of this.parts) {
      for (const [i, info] of part.info.entries()) {
        const value = part.values[i] ?? 0n;
        const known = byName.get(info.name);
        if (known === undefined) byName.set(info.name, { info, value });
        else if (info.format === 'd') known.value = value < known.value ? value : known.value;
        else if (info.flag !== 'b') known.value += value;
      }
    }
    return [...byName.values()];
  }
}

/** The items of two `-j` answers behind one head; objects that list by name are joined. */
function joinJson(bodies: readonly string[]): string {
  try {
    const lists = bodies.map((b) => JSON.parse(b) as unknown[]);
    const head = lists[0]?.slice(0, 3) ?? [];
    const items = lists.flatMap((l) => l.slice(3));
    const tables = items.every(
      (i) => typeof i === 'object' && i !== null && !('name' in i) && !('spec' in i),
    );
    return JSON.stringify([
      ...head,
      ...(tables && items.length > 1 ? [Object.assign({}, ...(items as object[]))] : items),
    ]);
  } catch {
    return bodies[0] ?? '';
  }
}
