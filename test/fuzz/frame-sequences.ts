// Generated clients of HTTP/2: sequences of frames that are right, nearly right, or hostile, with what happens meanwhile on
// the other side. A seed repeats one.

import { type Field, hpackInteger, hpackLiterals } from '../harness/hpack-text.ts';
import { FLAG, FRAME, frame, PREFACE, settingsFrame, uint32, windowUpdate } from '../harness/http2-frames.ts';
import type { Random } from './random.ts';

/** `bytes` come from the client; the others are what the machine around the connection does. */
export type Event =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'turn' }
  | { readonly kind: 'block' }
  | { readonly kind: 'drain' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'half-close' }
  | { readonly kind: 'pass'; readonly seconds: number };

export interface Sequence {
  readonly events: readonly Event[];
  /** The client keeps to the rules: every request must be answered by its own path, within its windows. */
  readonly isClean: boolean;
  /** Bytes that the client takes of all answers. */
  readonly window: number;
}

/** Chosen so that a sequence has a few of everything. */
const MOST_STEPS = 40;
const FIRST_WINDOW = 65535;
const STATIC = 61;
const methodOf = (method: string): Buffer => hpackLiterals([[':method', method]]);
const GET = methodOf('GET');
const HEAD = methodOf('HEAD');
const POST = methodOf('POST');
const ORIGIN = hpackLiterals([
  [':scheme', 'http'],
  [':authority', 'a.example'],
]);

class Maker {
  readonly events: Event[] = [];
  window = FIRST_WINDOW;
  private readonly random: Random;
  private readonly isClean: boolean;
  private next = 1;
  /** Streams of which the request goes on, and all that were begun. */
  private open: number[] = [];
  private readonly begun: number[] = [0];
  /** Entries of the table, the oldest first. */
  private readonly entries: Field[] = [];

  constructor(random: Random, isClean: boolean) {
    this.random = random;
    this.isClean = isClean;
  }

  send(...frames: readonly Buffer[]): void {
    this.events.push({ kind: 'bytes', bytes: Buffer.concat(frames) });
  }

  step(): void {
    const { random } = this;
    const n = random.below(100);
    if (n < 34) this.request();
    else if (n < 50) this.data();
    else if (n < 54) this.trailers();
    else if (n < 58) this.reset();
    else if (n < 68) this.windows();
    else if (n < 72) this.settings();
    else if (n < 80) this.others();
    else if (n < 86 || this.isClean) this.around();
    else this.hostile();
  }

  private stream(): number {
    const { random, open, begun } = this;
    return open.length > 0 && random.chance(0.8) ? random.pick(open) : random.pick(begun);
  }

  private ends(stream: number): void {
    this.open = this.open.filter((each) => each !== stream);
  }

  private request(): void {
    const { random, isClean } = this;
    const stream = this.next;
    this.next += isClean || random.chance(0.9) ? 2 : random.pick([0, 1, 4, 100]);
    this.begun.push(stream);
    const hasBody = random.chance(0.3);
    if (hasBody) this.open.push(stream);
    const path = `/${random.pick(random.chance(0.01) ? [9000] : [1, 1, 3, 40, 400])}*${stream}-${random.below(1000)}`;
    const wait = random.chance(0.3) ? '/wait' : '';
    const method = hasBody ? POST : random.pick([GET, HEAD]);
    const target = hpackLiterals([[':path', wait + path]]);
    const block = Buffer.concat([method, target, ORIGIN, ...random.times(4, () => this.field())]);
    const flags = hasBody ? 0 : FLAG.END_STREAM;
    this.send(...this.block(stream, flags, block));
  }

  /** HEADERS, padded or not, perhaps with CONTINUATIONs. */
  private block(stream: number, flags: number, block: Buffer): Buffer[] {
    const { random } = this;
    if (random.chance(0.8)) return [frame(FRAME.HEADERS, flags | FLAG.END_HEADERS, stream, block)];
    if (random.chance(0.5)) {
      const padded = Buffer.concat([Buffer.from([3]), block, Buffer.alloc(3)]);
      return [frame(FRAME.HEADERS, flags | FLAG.END_HEADERS | FLAG.PADDED, stream, padded)];
    }
    const at = random.below(block.length);
    return [
      frame(FRAME.HEADERS, flags, stream, block.subarray(0, at)),
      frame(FRAME.CONTINUATION, FLAG.END_HEADERS, stream, block.subarray(at)),
    ];
  }

  private field(): Buffer {
    const { random, entries } = this;
    if (!this.isClean && random.chance(0.05)) return this.noise(6);
    if (entries.length > 0 && random.chance(0.4)) {
      const back = random.below(entries.length);
      return hpackInteger(STATIC + 1 + back, 7, 0x80);
    }
    const field: Field = random.chance(0.2)
      ? ['priority', `u=${random.below(9)}, i`]
      : [`x-${random.below(99)}`, 'v'];
    if (random.chance(0.5)) return hpackLiterals([field]);
    entries.push(field);
    return Buffer.concat([Buffer.from([0x40]), hpackLiterals([field]).subarray(1)]);
  }

  private data(): void {
    const { random } = this;
    const stream = this.isClean ? this.open[0] : this.stream();
    if (stream === undefined) return;
    const isLast = random.chance(0.3);
    if (isLast) this.ends(stream);
    const payload = Buffer.alloc(random.pick([0, 1, 70, 800]), 'd');
    if (random.chance(0.2)) {
      const padded = Buffer.concat([Buffer.from([2]), payload, Buffer.alloc(2)]);
      this.send(frame(FRAME.DATA, FLAG.PADDED | (isLast ? FLAG.END_STREAM : 0), stream, padded));
    } else this.send(frame(FRAME.DATA, isLast ? FLAG.END_STREAM : 0, stream, payload));
  }

  private trailers(): void {
    const stream = this.isClean ? this.open[0] : this.stream();
    if (stream === undefined) return;
    this.ends(stream);
    this.send(...this.block(stream, FLAG.END_STREAM, hpackLiterals([['x-trailer', '1']])));
  }

  private reset(): void {
    const stream = this.isClean ? this.open[0] : this.stream();
    if (stream === undefined) return;
    this.ends(stream);
    this.send(frame(FRAME.RST_STREAM, 0, stream, uint32(this.random.below(15))));
  }

  private windows(): void {
    const { random, isClean } = this;
    const bytes = random.pick(isClean ? [1, 10, 1000, 100_000] : [0, 1, 1000, 100_000, 0x7fffffff]);
    const stream = random.chance(0.5) ? 0 : this.stream();
    if (stream === 0) this.window += bytes;
    this.send(windowUpdate(stream, bytes));
  }

  private settings(): void {
    const { random, isClean } = this;
    const values: (readonly [number, number])[] = [
      [1, random.pick([0, 100, 4096, 65536])],
      [4, random.pick(isClean ? [0, 1, 1000, 65535, 1_000_000] : [0, 1, 70_000, 0x7fffffff, 0x80000000])],
      [5, random.pick([16384, 20_000, 16_777_215])],
      [random.below(20) + 10, random.below(1000)],
    ];
    if (random.chance(0.3)) this.send(frame(FRAME.SETTINGS, FLAG.ACK, 0));
    else this.send(settingsFrame(random.times(2, () => random.pick(values))));
  }

  private others(): void {
    const { random } = this;
    const stream = this.stream() || 1;
    this.send(
      random.pick([
        frame(FRAME.PING, random.below(2), 0, 'abcdefgh'),
        frame(FRAME.PRIORITY, 0, stream, Buffer.alloc(5)),
        frame(
          FRAME.PRIORITY_UPDATE,
          0,
          0,
          Buffer.concat([uint32(stream), Buffer.from(`u=${random.below(8)}`)]),
        ),
        frame(77, random.below(256), stream, this.noise(20)),
      ]),
    );
  }

  private around(): void {
    const { random } = this;
    const kind = random.pick([
      'turn',
      'turn',
      'block',
      'drain',
      'answer',
      'answer',
      'pass',
      'half-close',
    ] as const);
    if (kind === 'pass') this.events.push({ kind, seconds: random.pick([0.1, 1, 6, 70]) });
    else if (kind !== 'half-close' || (!this.isClean && random.chance(0.1))) this.events.push({ kind });
  }

  private hostile(): void {
    const { random } = this;
    const n = random.below(10);
    if (n === 0) this.send(frame(FRAME.GOAWAY, 0, 0, Buffer.alloc(8)));
    else if (n === 1) this.send(this.noise(40));
    else
      this.send(
        frame(random.below(18), random.below(256), random.pick([0, 1, 2, this.stream()]), this.noise(30)),
      );
  }

  private noise(most: number): Buffer {
    const { random } = this;
    return Buffer.from(random.times(most, () => random.below(256)));
  }
}

/** A sequence of any kind. */
export function makeSequence(random: Random): Sequence {
  const isClean = random.chance(0.3);
  const maker = new Maker(random, isClean);
  maker.send(PREFACE, settingsFrame());
  const steps = 1 + random.below(MOST_STEPS);
  for (let i = 0; i < steps; i++) maker.step();
  const isMutated = !isClean && random.chance(0.3);
  const events = isMutated ? mutated(maker.events, random) : maker.events;
  return { events: regrouped(events, random), isClean, window: maker.window };
}

/** A few bytes are others, missing or there twice. */
function mutated(events: readonly Event[], random: Random): Event[] {
  return events.map((event) => {
    if (event.kind !== 'bytes' || random.chance(0.8)) return event;
    const at = random.below(event.bytes.length);
    const [before, after] = [event.bytes.subarray(0, at), event.bytes.subarray(at + 1)];
    const some = random.times(2, () => random.below(256));
    return { kind: 'bytes', bytes: Buffer.concat([before, Buffer.from(some), after]) };
  });
}

/** The same bytes in other packets. */
function regrouped(events: readonly Event[], random: Random): Event[] {
  return events.flatMap((event): Event[] => {
    if (event.kind !== 'bytes' || random.chance(0.6)) return [event];
    const at = random.below(event.bytes.length + 1);
    return [
      { kind: 'bytes', bytes: event.bytes.subarray(0, at) },
      { kind: 'turn' },
      { kind: 'bytes', bytes: event.bytes.subarray(at) },
    ];
  });
}
