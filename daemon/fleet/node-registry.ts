// The nodes of the fleet as known here, by their heartbeats and acknowledgements. Reports to a publisher how many nodes
// have applied its message. Independent of bus and clock.

import { KeyedHeap } from '../keyed-heap.ts';
import { turns } from '../turns/turns.ts';
import { GONE, SILENT } from './fleet-names.ts';
import type { NodeRow, Reach } from './fleet-rows.ts';
import type { NodeState } from './node-messages.ts';

interface Node {
  /** In milliseconds of the registry's clock. */
  seen: number;
  applied: number;
  /** The stream of that position; undefined of a node of an older version. */
  stream: string | undefined;
  /** As of its last heartbeat. */
  state: NodeState;
  /** A message that it did not apply in time: until it does, no publisher waits for it. */
  late: number;
}

/** Names in a reply. */
const MAX_NAMED = 10;
/** Nodes kept: as many names as a hostile bus may invent (chosen). */
const MOST_NODES = 4096;
/** Publishers answered in one turn of the event loop (chosen): answering one takes some microseconds. */
const PER_TURN = 200;

export class NodeRegistry {
  private readonly nodes = new Map<string, Node>();
  private readonly own: string;
  private readonly now: () => number;
  private readonly stream: () => string;
  /** Publishers that wait for a message to be applied everywhere, by its sequence number. */
  private readonly waiting = new KeyedHeap<() => void>();
  /** The rest of them is handled in a later turn. */
  private isScheduled = false;
  /** When this node's own heartbeat was last received from the bus. */
  private ownSeen = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds
   * @param stream the one that this node reads: in another one, the same numbers are other messages */
  constructor(own: string, now: () => number, stream: () => string) {
    this.own = own;
    this.now = now;
    this.stream = stream;
  }

  /** The number of nodes, including this one. */
  get count(): number {
    this.forget();
    return this.nodes.size + 1;
  }

  /** A heartbeat, sent `age` milliseconds ago. */
  beat(name: string, state: NodeState, age: number): void {
    if (name === this.own) {
      this.ownBeat();
      return;
    }
    const node = this.nodes.get(name);
    const seen = this.now() - age;
    if (node === undefined) {
      if (age >= GONE || this.nodes.size >= MOST_NODES) return;
      this.nodes.set(name, { seen, applied: state.applied, stream: state.stream, state, late: 0 });
    } else {
      if (seen < node.seen) return;
      node.seen = seen;
      node.state = state;
      this.follow(node, state.stream);
      // The position may go back: the stream or the node was restarted.
      node.applied = state.applied;
    }
    this.resolveWaiting();
  }

  /** While the bus is down, silence of other nodes means nothing. When it is back they get time for a heartbeat;
   * until then they count as silent. */
  private ownBeat(): void {
    const now = this.now();
    if (now - this.ownSeen > SILENT) {
      const silent = now - SILENT - 1;
      for (const node of this.nodes.values()) node.seen = Math.max(node.seen, silent);
    }
    this.ownSeen = now;
  }

  left(name: string): void {
    this.nodes.delete(name);
    this.resolveWaiting();
  }

  /** A node has applied all messages of a stream up to this one. */
  applied(name: string, seq: number, stream: string | undefined): void {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    this.follow(node, stream);
    if (seq <= node.applied) return;
    node.applied = seq;
    node.seen = this.now();
    this.resolveWaiting();
  }

  /** A node that reads another stream has applied nothing of it yet, and was not late. */
  private follow(node: Node, stream: string | undefined): void {
    if (node.stream === stream) return;
    node.stream = stream;
    node.applied = 0;
    node.late = 0;
  }

  /** The last message of this node's stream that another one has applied. */
  private place({ applied, stream }: Node): number {
    return stream === undefined || (stream !== '' && stream === this.stream()) ? applied : 0;
  }

  /** All other nodes, by name. */
  list(): NodeRow[] {
    this.forget();
    const now = this.now();
    return [...this.nodes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, node]) => {
        const { seen, state } = node;
        const { life: _, stream: _stream, current, ...figures } = state;
        const silent = now - seen > SILENT;
        return {
          node: name,
          self: false,
          ...figures,
          state: silent ? 'silent' : current ? 'current' : 'behind',
          seen: (now - seen) / 1000,
          applied: this.place(node),
        };
      });
  }

  /** Resolves when every node that is current has applied the message, or after `ms`. */
  reached(seq: number, ms: number): Promise<Reach> {
    if (this.isEverywhere(seq)) return Promise.resolve(this.reach(seq));
    return new Promise((resolve) => {
      const finish = (): void => {
        if (!this.waiting.remove(finish)) return;
        clearTimeout(timer);
        for (const node of this.nodes.values()) if (this.place(node) < seq) node.late = seq;
        resolve(this.reach(seq));
      };
      // The timers of many publishers may fire at once.
      const timer = setTimeout(() => (turns.mayContinue() ? finish() : turns.later(finish)), ms);
      this.waiting.add(finish, seq);
    });
  }

  /** How many nodes have applied a message. */
  reach(seq: number): Reach {
    this.forget();
    const behind: string[] = [];
    let count = 0;
    for (const [name, node] of this.nodes) {
      if (this.place(node) >= seq) continue;
      count++;
      // Keeps only the first names: a list of all messages calls this for each of them.
      if (behind.length === MAX_NAMED && name > (behind.at(-1) as string)) continue;
      behind.push(name);
      behind.sort();
      behind.length = Math.min(behind.length, MAX_NAMED);
    }
    const nodes = this.nodes.size + 1;
    return { applied: nodes - count, nodes, behind };
  }

  private isEverywhere(seq: number): boolean {
    const silent = this.now() - SILENT;
    for (const node of this.nodes.values()) {
      const place = this.place(node);
      if (place < seq && node.state.current && node.seen > silent && place >= node.late) return false;
    }
    return true;
  }

  /** If a message is applied everywhere, so are the earlier ones. */
  private resolveWaiting(): void {
    for (let left = PER_TURN; !this.isScheduled; left--) {
      const { first, lowest } = this.waiting;
      if (first === undefined || !this.isEverywhere(lowest as number)) return;
      if (left === 0 || !turns.mayContinue()) {
        this.isScheduled = true;
        turns.later(() => {
          this.isScheduled = false;
          this.resolveWaiting();
        });
      } else first();
    }
  }

  private forget(): void {
    if (this.now() - this.ownSeen > SILENT) return;
    const gone = this.now() - GONE;
    for (const [name, { seen }] of this.nodes) if (seen <= gone) this.nodes.delete(name);
  }
}
