// Sending a body to a client that takes it in its own time: every byte comes, in order, and a body that breaks
// is never ended.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Extension } from '../../../daemon/contract/extension.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import type { Room, Writer } from '../../../daemon/flow/flow.ts';
import { copyOf, type Piece } from '../../../daemon/flow/piece.ts';
import { ClientBody, startBody } from '../../../daemon/request/delivery.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { deliveryChain } from '../filters/filter-setup.ts';

/** A stored body, a client that drains on demand, and the bytes it received. */
class Sending {
  readonly got: Buffer[] = [];
  private queued = 0;
  finished = true;
  failed = false;
  outcome: boolean | null = null;
  /** Bytes that the client had yet to take at the end. */
  left = -1;
  consumed = -1;
  private stored: Buffer;
  private waiting: (() => void) | null = null;
  private progress: (() => void) | null = null;
  private settle: (() => void) | null = null;
  readonly done: Promise<void>;

  private readonly slow: boolean;
  private readonly untakenPieces: Piece[] = [];
  /** References to the object that pieces hold, and how often the connection was cut. */
  refs = 0;
  cuts = 0;

  constructor(stored: Buffer, slow: boolean) {
    this.stored = stored;
    this.slow = slow;
    this.done = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  /** Bytes that the client has not taken. */
  get untaken(): number {
    return this.queued;
  }

  start(plan: { from?: number; to?: number; length?: number; chunked?: boolean }, filters = ''): this {
    const session = {
      write: (piece: Piece): Room => {
        this.write(piece);
        return this.queued === 0 ? 'more' : 'wait';
      },
      onRoom: (writer: Writer) => {
        this.waiting = () => writer.room();
        // Later than the filter's own callbacks.
        setTimeout(() => this.take(), 5);
      },
      cut: () => {
        this.cuts++;
      },
    };
    const reading = {
      onProgress: (_oc: number, reader: { progress(): void }) => {
        this.progress = () => reader.progress();
        return {
          detach: () => {
            this.progress = null;
          },
        };
      },
      bodyLength: () => this.stored.length,
      place: () => undefined,
      slice: (_oc: number, from: number, max: number) => this.stored.subarray(from, from + max),
      consume: (_oc: number, upTo: number) => {
        this.consumed = upTo;
      },
    };
    const facts = {
      isFailed: () => this.failed,
      isFinished: () => this.finished,
    };
    const references = {
      ref: () => {
        this.refs++;
      },
      deref: () => {
        this.refs--;
      },
    };
    const req = {
      core: {
        cache: { reading, facts, references },
        stepChecks: {},
        sendTurns: new ByteTurns((run) => setImmediate(run)),
        later: setImmediate,
      },
      session,
      attempt: { oc: 1, part: null, bodyWrites: 1, bodyBytesOut: 0 },
      onAbort: null,
    };
    const { chunked = false, length = -1, ...part } = plan;
    const whole = { from: 0, to: Number.POSITIVE_INFINITY };
    const chain = filters === '' ? null : deliveryChain(filters, { gzipped: true }, [PASSING]).chain;
    const framing = chunked ? 'chunked' : length >= 0 ? 'length' : 'close';
    const sink = new ClientBody(req as unknown as Request, framing, length);
    startBody(req as unknown as Request, { ...whole, ...part }, chain, sink, (reason) => {
      this.outcome = reason === null;
      this.left = this.untaken;
      this.settle?.();
    });
    return this;
  }

  private write(piece: Piece): void {
    this.got.push(copyOf(piece));
    if (!this.slow || piece.length === 0) return;
    this.queued += piece.length;
    piece.hold();
    this.untakenPieces.push(piece);
  }

  private take(): void {
    this.queued = 0;
    for (const piece of this.untakenPieces.splice(0)) piece.release();
    const reported = this.waiting;
    this.waiting = null;
    reported?.();
  }

  grow(bytes: Buffer): void {
    this.stored = Buffer.concat([this.stored, bytes]);
    this.progress?.();
  }

  end(failed: boolean): void {
    this.failed = failed;
    this.finished = !failed;
    this.progress?.();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.got);
  }
}

/** Passes on the pieces themselves. */
const PASSING = {
  name: 'sample',
  filters: {
    passing: { help: '', side: 'delivery', changes: 'nothing', open: () => ({ transform: () => null }) },
  },
} as unknown as Extension;

/** Does not pack well, so that its packed form has several slices. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let x = 1;
  for (let i = 0; i < length; i++) {
    x = (Math.imul(x, 1103515245) + 12345) >>> 0;
    bytes[i] = x >>> 24;
  }
  return bytes;
}

describe('a body on its way to a client', () => {
  const body = noise(300_000);

  it.each([
    ['fast', false],
    ['slow', true],
  ])('sends all of it to a %s client, flat, in chunks and unpacked', async (_name, slow) => {
    const flat = new Sending(body, slow).start({ length: body.length });
    await flat.done;
    expect(flat.bytes.equals(body)).toBe(true);
    const chunked = new Sending(body, slow).start({ chunked: true });
    await chunked.done;
    expect(chunked.bytes.subarray(-5).toString()).toBe('0\r\n\r\n');
    const unpacked = new Sending(gzipSync(body), slow).start({}, 'gunzip');
    await unpacked.done;
    expect(unpacked.bytes.equals(body)).toBe(true);
    expect([flat.outcome, chunked.outcome, unpacked.outcome]).toEqual([true, true, true]);
  });

  it.each(['', 'passing', 'gunzip passing', 'gunzip'])(
    'ends when a slow client has taken the last piece, through the filters "%s"',
    async (filters) => {
      const stored = filters.includes('gunzip') ? gzipSync(body) : body;
      const one = new Sending(stored, true).start({ length: body.length }, filters);
      await one.done;
      expect([one.outcome, one.left, one.refs]).toEqual([true, 0, 0]);
      expect(one.bytes.equals(body)).toBe(true);
    },
  );

  it('follows a body that is still arriving', async () => {
    const one = new Sending(body.subarray(0, 10), false);
    one.finished = false;
    one.start({ chunked: true });
    one.grow(body.subarray(10, 20));
    one.end(false);
    await one.done;
    expect(one.outcome).toBe(true);
    expect(one.bytes.toString('latin1')).toContain('a\r\n');
  });

  it('uses up what lies before a range as it comes: the fetch may wait for that', async () => {
    const one = new Sending(body.subarray(0, 10), false);
    one.finished = false;
    one.start({ from: 100, to: 105, length: 5 });
    expect(one.consumed).toBe(100);
    one.consumed = -1;
    one.grow(body.subarray(10, 20));
    expect(one.consumed).toBe(100);
    one.grow(body.subarray(20, 200));
    await one.done;
    expect([one.consumed, one.outcome]).toEqual([105, true]);
    expect(one.bytes.equals(body.subarray(100, 105))).toBe(true);
  });

  it('does not end a body whose fetch fails', async () => {
    const one = new Sending(body.subarray(0, 10), false);
    one.finished = false;
    one.start({ chunked: true });
    one.end(true);
    await one.done;
    expect(one.outcome).toBe(false);
    expect(one.bytes.toString('latin1')).not.toMatch(/0\r\n\r\n$/);
  });

  it('does not end one that is packed and breaks', async () => {
    const packed = gzipSync(body);
    packed.fill(0, packed.length - 8);
    const one = new Sending(packed, true).start({ chunked: true }, 'gunzip');
    await one.done;
    expect(one.outcome).toBe(false);
    expect(one.bytes.toString('latin1')).not.toMatch(/0\r\n\r\n$/);
  });

  it('sends no byte beyond the promised length, and fails when there are too few', async () => {
    const part = new Sending(body, false).start({ from: 5, to: 105, length: 100 });
    await part.done;
    expect(part.bytes.equals(body.subarray(5, 105))).toBe(true);
    const short = new Sending(body, false).start({ length: body.length + 1 });
    await short.done;
    expect(short.outcome).toBe(false);
    const more = new Sending(gzipSync(body), false).start({ length: 1000 }, 'gunzip');
    await more.done;
    expect(more.outcome).toBe(false);
    expect(more.bytes.length).toBeLessThanOrEqual(1000);
  });
});
