// Random histories of bodies that are sent to slow clients through filters while their objects are purged, evicted, still
// arriving, or cut off. The client's kernel copies bytes only when it takes them, and what the cache frees is overwritten:
// a piece that is released too early shows as a foreign byte, one that is never released as an object that stays.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Extension } from '../../../daemon/contract/extension.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import { type Abort, Flow, type Room, type Sink, type Writer } from '../../../daemon/flow/flow.ts';
import { buffersOf, LentPiece, type Piece } from '../../../daemon/flow/piece.ts';
import { answerRanges } from '../../../daemon/http1/range.ts';
import { StoreSink, StoreSource } from '../../../daemon/transaction/store-flow.ts';
import { assembled } from '../../harness/assembled-parts.ts';
import { runs } from '../../harness/runs.ts';
import { Bench } from '../cache/cache-setup.ts';
import { deliveryChain } from '../filters/filter-setup.ts';

const PASSING = {
  name: 'sample',
  filters: {
    passing: { help: '', side: 'delivery', changes: 'nothing', open: () => ({ transform: () => null }) },
  },
} as unknown as Extension;

/** A body of which every eight bytes name it and their place. */
function bodyOf(id: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 8 <= length; at += 8) {
    bytes.writeUInt32LE(id, at);
    bytes.writeUInt32LE(at, at + 4);
  }
  return bytes;
}

/** A client whose kernel has room for one piece, and copies it when the client reads. */
class SlowClient implements Sink {
  readonly gathers = 256 * 1024;
  readonly got: Buffer[] = [];
  outcome: Abort | 'whole' | null = null;
  private writer: Writer | null = null;
  private queued: Piece | null = null;

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: Piece): Room {
    if (this.queued !== null) throw new Error('bytes after a wait');
    if (piece.length === 0) return 'more';
    piece.hold();
    this.queued = piece;
    return 'wait';
  }

  end(piece: Piece): Room {
    return this.write(piece);
  }

  flush(): void {}

  /** The connection is cut; the kernel completes its last write later. */
  abort(): void {}

  /** The client reads; whether there was anything. */
  take(): boolean {
    const piece = this.queued;
    if (piece === null) return false;
    this.queued = null;
    for (const part of buffersOf(piece)) this.got.push(Buffer.from(part));
    piece.release();
    if (this.outcome === null) this.writer?.room();
    return true;
  }
}

/** Milliseconds until a body that does not end hangs. */
const PATIENCE = 20_000;

const KINDS = [
  'whole',
  'passing',
  'gunzip',
  'gunzip passing',
  'range',
  'range of gunzip',
  'parts',
  'private',
] as const;
type Kind = (typeof KINDS)[number];

class History {
  readonly bench = new Bench([{ name: 's0', kind: 'malloc', size: 1 << 20 }]);
  private readonly sent: { client: SlowClient; flow: Flow; expected: Buffer; left: boolean; grow(): void }[] =
    [];
  private next = 1;
  private readonly core;

  constructor() {
    const { cache } = this.bench;
    cache.storages.overwriteFreed(true);
    const later = (run: () => void): void => void setImmediate(run);
    this.core = { cache, sendTurns: new ByteTurns(later), later };
  }

  /** Stores a body, for which others may have to go; its object, or 0. */
  private store(bytes: Buffer): number {
    const { cache } = this.bench;
    const id = this.next++;
    const [, out] = this.bench.lookup(`/${id}`);
    cache.references.ref(out.busy);
    const isStored = this.bench.fetch(out.busy, id, bytes, { length: false });
    if (isStored) return out.busy;
    cache.references.deref(out.busy);
    return 0;
  }

  fill(size: number): void {
    const oc = this.store(bodyOf(this.next, size));
    if (oc !== 0) this.bench.cache.references.deref(oc);
  }

  send(kind: Kind, size: number): void {
    const plain = bodyOf(this.next, size);
    const isPacked = kind.includes('gunzip');
    const bytes = isPacked ? gzipSync(plain, { level: 1 }) : plain;
    if (kind === 'private') this.sendPrivate(plain);
    else {
      const oc = this.store(bytes);
      if (oc === 0) return;
      if (kind === 'parts') {
        this.sendParts(oc, plain);
        return;
      }
      const isRange = kind.startsWith('range');
      const [from, to] = isRange ? [Math.floor(size / 3), Math.floor(size / 2)] : [0, size];
      const names =
        kind === 'range of gunzip' ? 'gunzip range' : kind === 'range' || kind === 'whole' ? '' : kind;
      const request = isRange ? { Range: `bytes=${from}-${to - 1}` } : {};
      const body = { gzipped: isPacked, length: bytes.length, unpacked: isPacked ? size : -1, request };
      const source =
        kind === 'range' ? new StoreSource(this.core, oc, from, to) : new StoreSource(this.core, oc);
      this.begin(oc, source, names, body, plain.subarray(from, to), () => undefined);
    }
  }

  /** Two parts, the later one first. */
  private sendParts(oc: number, plain: Buffer): void {
    const { length } = plain;
    const half = Math.floor(length / 2);
    const Range = `bytes=${half}-${half + Math.floor(length / 4)},0-${Math.floor(length / 5)}`;
    const [first = { from: 0, to: 0 }, ...rest] = answerRanges(Range, length);
    if (rest.length === 0) {
      this.bench.cache.references.deref(oc);
      return;
    }
    const source = new StoreSource(this.core, oc, first.from, first.to, rest);
    this.begin(oc, source, 'range', { length, request: { Range } }, plain, () => undefined);
  }

  /** A body for this client alone, of which some comes now and then, as fast as it is taken. */
  private sendPrivate(plain: Buffer): void {
    const { cache } = this.bench;
    const oc = cache.filling.newPrivate();
    this.next++;
    if (!this.bench.prepare(oc, this.next, plain, { length: false, storage: 'Transient' })) {
      cache.references.deref(oc);
      return;
    }
    cache.references.ref(oc);
    const store = new StoreSink(cache.filling, oc, 'streaming');
    let at = 0;
    let state: 'open' | 'full' | 'over' = 'open';
    const over = (isWhole: boolean): void => {
      if (state === 'over') return;
      state = 'over';
      if (isWhole) cache.filling.finish(oc, true);
      else cache.filling.fail(oc);
      cache.references.deref(oc);
    };
    store.connect({
      room: () => {
        state = 'open';
      },
      stop: () => over(false),
    });
    cache.filling.unbusy(oc, true);
    const grow = (): void => {
      if (state !== 'open') return;
      const piece = new LentPiece(
        Buffer.from(plain.subarray(at, at + 50_000)),
        0,
        Math.min(50_000, plain.length - at),
      );
      at += piece.length;
      if (at < plain.length) {
        if (store.write(piece) === 'wait' && state === 'open') state = 'full';
      } else if (store.end(piece) === 'more') over(true);
    };
    this.begin(oc, new StoreSource(this.core, oc), '', {}, plain, grow);
  }

  private begin(
    oc: number,
    source: StoreSource,
    names: string,
    body: Parameters<typeof deliveryChain>[1],
    expected: Buffer,
    grow: () => void,
  ): void {
    const client = new SlowClient();
    const chain = names === '' ? null : deliveryChain(names, body, [PASSING]).chain;
    const into = chain?.connect(client, true) ?? client;
    const parts = chain?.parts ?? null;
    const one = {
      client,
      expected: parts === null ? expected : assembled(expected, parts),
      left: false,
      grow,
      flow: null as unknown as Flow,
    };
    one.flow = new Flow(source, into, true, (reason) => {
      client.outcome = reason ?? 'whole';
      this.bench.cache.references.deref(oc);
    });
    this.sent.push(one);
    one.flow.start();
  }

  /** One of those under way. */
  private pick(n: number) {
    const open = this.sent.filter(({ client }) => client.outcome === null);
    return open[n % Math.max(1, open.length)];
  }

  take(n: number): void {
    this.pick(n)?.client.take();
  }

  grow(n: number): void {
    this.pick(n)?.grow();
  }

  cut(n: number): void {
    const one = this.pick(n);
    if (one === undefined) return;
    one.left = true;
    one.flow.cancel('left');
  }

  purge(n: number): void {
    this.bench.cache.invalidation.purge(`/${1 + (n % this.next)}`, this.bench.now);
  }

  /** All clients read on until nothing is left. */
  async finish(): Promise<void> {
    // zlib works in threads of its own, which have to wait for their turn on a busy machine.
    for (const start = Date.now(); Date.now() - start < PATIENCE; ) {
      const open = this.sent.filter(({ client }) => client.outcome === null);
      if (open.length === 0) break;
      for (const { client, grow } of open) {
        grow();
        client.take();
      }
      this.bench.settle();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { client, expected, left } of this.sent) {
      client.take();
      expect(client.outcome).toBe(left ? 'left' : 'whole');
      const got = Buffer.concat(client.got);
      expect(got.equals(expected.subarray(0, left ? got.length : expected.length))).toBe(true);
    }
    for (let id = 1; id <= this.next; id++) this.purge(id - 1);
    this.bench.settle();
    this.bench.maintain();
    expect(this.bench.counters).toMatchObject({ n_object: 0, n_objectcore: 0 });
  }
}

const size = fc.integer({ min: 3, max: 260_000 });
const which = fc.nat(12);
type Act = (history: History) => void;
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...KINDS), size).map(
      ([kind, n]): Act =>
        (h) =>
          h.send(kind, n),
    ),
  },
  {
    weight: 4,
    arbitrary: which.map(
      (n): Act =>
        (h) =>
          h.take(n),
    ),
  },
  {
    weight: 2,
    arbitrary: which.map(
      (n): Act =>
        (h) =>
          h.grow(n),
    ),
  },
  {
    weight: 2,
    arbitrary: which.map(
      (n): Act =>
        (h) =>
          h.purge(n),
    ),
  },
  {
    weight: 2,
    arbitrary: size.map(
      (n): Act =>
        (h) =>
          h.fill(n),
    ),
  },
  {
    weight: 1,
    arbitrary: which.map(
      (n): Act =>
        (h) =>
          h.cut(n),
    ),
  },
);

it('give no client a foreign byte, and release every object', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(act, fc.boolean()), { minLength: 5, maxLength: 60, size: 'max' }),
      async (acts) => {
        const history = new History();
        for (const [go, turns] of acts) {
          go(history);
          history.bench.settle();
          if (turns) await new Promise((resolve) => setImmediate(resolve));
        }
        await history.finish();
      },
    ),
    { numRuns: runs(150) },
  );
});
