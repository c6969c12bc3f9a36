// Generated sequences of frames against connections of HTTP/2: none throws or hangs, all that was held is given back, what is
// sent is whole frames in the order that streams have, and each answer is that of its own request.
//
// PROXYD_SEQUENCES=1000000 plays so many instead of those that fit into ten seconds; PROXYD_SEED=n begins with that seed.
import { describe, expect, it } from 'vitest';
import { Piece } from '../../daemon/flow/piece.ts';
import { HttpMessage } from '../../daemon/http1/message.ts';
import { Http2Stream } from '../../daemon/net/http2/http2-stream.ts';
import type { Request } from '../../daemon/transaction/request.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import { FakeHttp2 } from '../daemon/net/fake-http2.ts';
import { newSharedParts } from '../daemon/net/fake-session.ts';
import { HpackReader } from '../harness/hpack-text.ts';
import { FLAG, FRAME } from '../harness/http2-frames.ts';
import { runs } from '../harness/runs.ts';
import { type Event, makeSequence, type Sequence } from './frame-sequences.ts';
import { Random } from './random.ts';

const TOLD = process.env.PROXYD_SEQUENCES;
const SEQUENCES = Number(TOLD ?? Number.POSITIVE_INFINITY);
const MILLISECONDS = TOLD === undefined ? runs(10_000) : Number.POSITIVE_INFINITY;
const SEED = Number(process.env.PROXYD_SEED ?? Date.now() % 1e9);
const HOUR = 3_600_000;
/** One thread has all connections: buffers of one serve the next. */
const SHARED = newSharedParts();

class Played {
  readonly one = new FakeHttp2({ h2_max_concurrent_streams: 10 }, false, SHARED);
  /** Paths of requests by stream. */
  private readonly paths = new Map<number, string>();
  private readonly waiting: Request[] = [];
  private held = 0;
  private readonly sequence: Sequence;

  constructor(sequence: Sequence) {
    this.sequence = sequence;
    this.one.answer = (req) => this.begin(req);
  }

  /** The fault, or null. */
  run(): string | null {
    for (const event of this.sequence.events) this.play(event);
    this.one.settle();
    const wrong = this.wrongFrames();
    // The client goes, and what could not be stopped comes to its end.
    this.one.wire.isGone = true;
    this.one.session.lost();
    while (this.waiting.length > 0) this.answerOne(0);
    this.one.settle();
    return wrong ?? this.leaks();
  }

  private play(event: Event): void {
    const { one } = this;
    if (event.kind === 'bytes') {
      if (!one.wire.ended && !one.wire.isGone) one.receive(event.bytes);
    } else if (event.kind === 'turn') one.turn();
    else if (event.kind === 'block') one.wire.takes = false;
    else if (event.kind === 'drain') one.wire.drain();
    else if (event.kind === 'answer') this.answerOne(this.waiting.length - 1);
    else if (event.kind === 'half-close') one.session.receivedEnd();
    else if (one.closed === 0) one.pass(event.seconds);
  }

  private begin(req: Request): void {
    if (!(req.session instanceof Http2Stream)) {
      // A preface that was changed may be a request of HTTP/1.
      req.ended = true;
      req.session.requestDone();
      return;
    }
    this.paths.set(req.session.id, req.http.url);
    this.waiting.push(req);
    // Some cannot be stopped at once.
    if (!req.http.url.includes('7')) req.onAbort = () => this.finish(req);
    if (req.session.hasBody) {
      req.attachBody(-1);
      const end = (): void => this.answer(req);
      const sink = { gathers: 0, connect: () => undefined, flush: () => undefined };
      req.body?.start({
        ...sink,
        write: () => 'more',
        end: () => {
          end();
          return 'more';
        },
        abort: () => this.finish(req),
      });
    } else if (!req.http.url.startsWith('/wait')) this.answer(req);
  }

  private answerOne(at: number): void {
    const req = this.waiting[at];
    if (req === undefined) return;
    this.answer(req);
    // It may wait for its client, which has gone.
    if (this.one.wire.isGone) this.finish(req);
  }

  private answer(req: Request): void {
    // A request may be answered before its body has come to its end.
    const at = this.waiting.indexOf(req);
    if (req.ended || req.session.stream === null || at < 0) return;
    this.waiting.splice(at, 1);
    const { url, method } = req.http;
    const head = new HttpMessage(Tag.RespMethod);
    head.status = 200;
    head.push('x-path', `X-Path: ${url}`);
    if (method === 'HEAD') {
      req.session.stream.head(head, true);
      this.finish(req);
      return;
    }
    req.session.stream.head(head, false);
    const body = Buffer.from(bodyOf(url), 'latin1');
    const piece = new Piece([body], { hold: () => this.held++, release: () => this.held-- });
    if (req.session.stream.end(piece) === 'wait') {
      req.onAbort = () => this.finish(req);
      req.session.onRoom({ room: () => this.finish(req) });
    } else this.finish(req);
  }

  private finish(req: Request): void {
    const at = this.waiting.indexOf(req);
    if (at >= 0) this.waiting.splice(at, 1);
    if (req.ended) return;
    req.ended = true;
    req.session.requestDone();
  }

  private wrongFrames(): string | null {
    const reader = new HpackReader();
    const bodies = new Map<number, string>();
    const over = new Set<number>();
    let sent = 0;
    for (const { type, flags, stream, payload } of this.one.got) {
      if (type !== FRAME.HEADERS && type !== FRAME.DATA) continue;
      if (over.has(stream)) return `a frame of type ${type} of stream ${stream} after its end`;
      if ((flags & FLAG.END_STREAM) !== 0) over.add(stream);
      if (type === FRAME.HEADERS) {
        const path = reader.read(payload).find(([name]) => name === 'x-path')?.[1];
        if (path !== this.paths.get(stream)) return `stream ${stream} is answered for ${path}`;
        if (this.sequence.isClean && !path?.includes(`*${stream}-`)) return `stream ${stream} is ${path}`;
        bodies.set(stream, '');
        continue;
      }
      const before = bodies.get(stream);
      if (before === undefined) return `DATA of stream ${stream} before its head`;
      sent += payload.length;
      bodies.set(stream, before + payload.toString('latin1'));
    }
    for (const [stream, body] of bodies) {
      const whole = bodyOf(this.paths.get(stream) ?? '');
      if (!whole.startsWith(body)) return `stream ${stream} has another's body`;
    }
    if (this.sequence.isClean && sent > this.sequence.window)
      return `${sent} bytes for ${this.sequence.window}`;
    return null;
  }

  private leaks(): string | null {
    const { one } = this;
    const { spareBuffers } = one.session.core.esi;
    if (this.held !== 0) return `${this.held} pieces are held`;
    if (one.closed !== 1) return `the session has ended ${one.closed} times`;
    if (new Set(spareBuffers).size !== spareBuffers.length) return 'buffers were given back twice';
    return null;
  }
}

function bodyOf(path: string): string {
  const times = Number(/\/(\d+)\*/.exec(path)?.[1] ?? 1);
  return path.repeat(Math.min(times, 10_000));
}

describe('sequences of frames', () => {
  it(`from seed ${SEED} on`, { timeout: HOUR }, () => {
    const until = performance.now() + MILLISECONDS;
    let answers = 0;
    let played = 0;
    for (; played < SEQUENCES && performance.now() < until; played++) {
      const seed = SEED + played;
      let wrong: string | null;
      try {
        const run = new Played(makeSequence(new Random(seed)));
        wrong = run.run();
        answers += run.one.ran.length;
      } catch (error) {
        wrong = error instanceof Error ? (error.stack ?? error.message) : String(error);
      }
      if (wrong !== null) expect.fail(`PROXYD_SEED=${seed}: ${wrong}`);
    }
    console.log(`${played} sequences of frames, ${answers} requests, from seed ${SEED} on`);
    expect(answers).toBeGreaterThan(played);
  });
});
