// The nodes of the fleet as this one knows them: by their signs of life, and by what they say they have applied. Tells a
// publisher how far his message has come. Knows no bus and no clock of its own.

import { KeyedHeap } from '../keyed-heap.ts';
import { turns } from '../turns/turns.ts';
import { GONE, SILENT } from './fleet-names.ts';
import type { NodeRow, Reach } from './fleet-rows.ts';
import type { NodeState } from './node-messages.ts';

interface Node {
  /** In milliseconds of the roll's clock. */
  seen: number;
  applied: number;
  /** As it said last. */
  state: NodeState;
  /** Up to here it was waited for in vain: until it comes so far, nobody waits for it again. */
  late: number;
}

/** Names in an answer. */
const MOST_NAMED = 10;
/** Nodes that are kept: as many names as a hostile bus may bring (chosen). */
const MOST_NODES = 4096;
/** Publishers that are answered in one turn of the event loop (chosen): to write an answer takes some microseconds. */
const TOGETHER = 200;

export class NodeRegistry {
  private readonly nodes = new Map<string, Node>();
  private readonly own: string;
  private readonly now: () => number;
  /** Those who wait until a message is everywhere, by its number. */
  private readonly waiting = new KeyedHeap<() => void>();
  /** There are more of them than there was time for. */
  private looksLater = false;
  /** When this node's own sign of life came back from the bus. */
  private heard = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds */
  constructor(own: string, now: () => number) {
    this.own = own;
    this.now = now;
  }

  /** All nodes with this one. */
  get count(): number {
    this.forget();
    return this.nodes.size + 1;
  }

  /** A sign of life, so many milliseconds ago. */
  beat(name: string, state: NodeState, age: number): void {
    if (name === this.own) {
      this.hear();
      return;
    }
    const node = this.nodes.get(name);
    const seen = this.now() - age;
    if (node === undefined) {
      if (age >= GONE || this.nodes.size >= MOST_NODES) return;
      this.nodes.set(name, { seen, applied: state.applied, state, late: 0 });
    } else {
      if (seen < node.seen) return;
      node.seen = seen;
      node.state = state;
      // Another stream, or another life of the node, may be less far.
      node.applied = state.applied;
    }
    this.look();
  }

  /** While the bus carries nothing, silence says nothing of the others. When it does again they get time to speak; until they
   * have, they count as silent. */
  private hear(): void {
    const now = this.now();
    if (now - this.heard > SILENT) {
      const silent = now - SILENT - 1;
      for (const node of this.nodes.values()) node.seen = Math.max(node.seen, silent);
    }
    this.heard = now;
  }

  left(name: string): void {
    this.nodes.delete(name);
    this.look();
  }

  /** A node says that it has applied all up to here. */
  applied(name: string, seq: number): void {
    const node = this.nodes.get(name);
    if (node === undefined || seq <= node.applied) return;
    node.applied = seq;
    node.seen = this.now();
    this.look();
  }

  /** All nodes beside this one, by name. */
  list(): NodeRow[] {
    this.forget();
    const now = this.now();
    return [...this.nodes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([node, { seen, applied, state }]) => {
        const { life: _, current, ...figures } = state;
        const silent = now - seen > SILENT;
        return {
          node,
          self: false,
          ...figures,
          state: silent ? 'silent' : current ? 'current' : 'behind',
          seen: (now - seen) / 1000,
          applied,
        };
      });
  }

  /** Resolves when every node that is not behind has applied the message, or after `ms`. */
  reached(seq: number, ms: number): Promise<Reach> {
    if (this.isEverywhere(seq)) return Promise.resolve(this.reach(seq));
    return new Promise((resolve) => {
      const finish = (): void => {
        if (!this.waiting.remove(finish)) return;
        clearTimeout(timer);
        for (const node of this.nodes.values()) if (node.applied < seq) node.late = seq;
        resolve(this.reach(seq));
      };
      // The time of very many may be up at once.
      const timer = setTimeout(() => (turns.mayGoOn() ? finish() : turns.later(finish)), ms);
      this.waiting.add(finish, seq);
    });
  }

  /** How far a message has come. */
  reach(seq: number): Reach {
    this.forget();
    const behind: string[] = [];
    let count = 0;
    for (const [name, { applied }] of this.nodes) {
      if (applied >= seq) continue;
      count++;
      // The first ones by name: a list of all messages asks this for each of them.
      if (behind.length === MOST_NAMED && name > (behind.at(-1) as string)) continue;
      behind.push(name);
      behind.sort();
      behind.length = Math.min(behind.length, MOST_NAMED);
    }
    const nodes = this.nodes.size + 1;
    return { applied: nodes - count, nodes, behind };
  }

  private isEverywhere(seq: number): boolean {
    const silent = this.now() - SILENT;
    for (const { applied, state, seen, late } of this.nodes.values()) {
      if (applied < seq && state.current && seen > silent && applied >= late) return false;
    }
    return true;
  }

  /** Where one message is everywhere, those before it are. */
  private look(): void {
    for (let left = TOGETHER; !this.looksLater; left--) {
      const { first, lowest } = this.waiting;
      if (first === undefined || !this.isEverywhere(lowest as number)) return;
      if (left === 0 || !turns.mayGoOn()) {
        this.looksLater = true;
        turns.later(() => {
          this.looksLater = false;
          this.look();
        });
      } else first();
    }
  }

  private forget(): void {
    if (this.now() - this.heard > SILENT) return;
    const gone = this.now() - GONE;
    for (const [name, { seen }] of this.nodes) if (seen <= gone) this.nodes.delete(name);
  }
}
