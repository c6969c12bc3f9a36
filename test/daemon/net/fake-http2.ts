// A connection of HTTP/2 without a network: frames in as they are written for people, frames out, requests answered by the
// test instead of the state machine. An answer is the request's path, so that one on another's stream is seen.

import { own } from '../../../daemon/flow/piece.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import type { Turns } from '../../../daemon/turns/turns.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { HpackReader } from '../../harness/hpack-text.ts';
import { FRAME, type Frame, HEADER_LENGTH, PREFACE, settingsFrame } from '../../harness/http2-frames.ts';
import { bytesOfFrames, toldFrames } from '../../harness/http2-notation.ts';
import { sinkOf } from '../flow/flow-ends.ts';
import { FakeSession, type SharedParts } from './fake-session.ts';

const PARAMS: Readonly<Record<string, number>> = {
  h2_header_table_size: 4096,
  h2_initial_window_size: 65535,
  h2_max_concurrent_streams: 100,
  h2_max_frame_size: 16384,
  h2_max_header_list_size: 2147483647,
  h2_rapid_reset: 1,
  h2_rapid_reset_limit: 100,
  h2_rapid_reset_period: 60,
  h2_rx_window_increment: 1 << 20,
  h2_rx_window_low_water: 10 << 20,
  h2_window_timeout: 5,
};

export class FakeHttp2 extends FakeSession {
  /** Requests in their order. */
  readonly requests: Request[] = [];
  /** Those that were aborted while they waited. */
  aborted = 0;
  private readonly reader = new HpackReader();
  private readonly parsed: Frame[] = [];
  private partial = Buffer.alloc(0);
  private read = 0;

  /** @param params others than usual. @param greets has sent preface and settings
   * @param shared with other connections of a thread @param turns likewise */
  constructor(
    params: Readonly<Record<string, number>> = {},
    greets = true,
    shared?: SharedParts,
    turns: Turns | null = null,
  ) {
    super(false, turns, { ...PARAMS, ...params }, shared);
    this.answer = (req) => {
      this.requests.push(req);
      req.onAbort = () => {
        this.aborted++;
        finish(req);
      };
      if (req.http.url.startsWith('/wait')) return;
      if (req.session.stream?.hasBody === true) readBody(req);
      else answerPath(req);
    };
    if (greets) this.receive(Buffer.concat([PREFACE, settingsFrame()]));
  }

  /** All that the client sends, and all that follows from it. */
  frames(text: string): this {
    this.receive(bytesOfFrames(text));
    this.settle();
    return this;
  }

  bytes(bytes: Uint8Array): this {
    this.receive(Buffer.from(bytes));
    this.settle();
    return this;
  }

  /** Turns until nothing is left to do. */
  settle(): void {
    for (let turns = 0; this.turn(); turns++)
      if (turns > 10_000) throw new Error('there is always another turn');
  }

  /** Every frame that the client has got. */
  get got(): readonly Frame[] {
    const { written } = this.wire;
    for (; this.read < written.length; this.read++)
      this.partial = Buffer.concat([this.partial, Buffer.from(written[this.read] as string, 'latin1')]);
    let at = 0;
    while (this.partial.length - at >= HEADER_LENGTH) {
      const end = at + HEADER_LENGTH + this.partial.readUIntBE(at, 3);
      if (end > this.partial.length) break;
      const [type = 0, flags = 0] = this.partial.subarray(at + 3, at + 5);
      const payload = this.partial.subarray(at + HEADER_LENGTH, end);
      this.parsed.push({ type, flags, stream: this.partial.readUInt32BE(at + 5), payload });
      at = end;
    }
    this.partial = this.partial.subarray(at);
    return this.parsed;
  }

  /** The words for all that the client has got. */
  reported(): string {
    const reader = new HpackReader();
    const status = (block: Buffer): number =>
      Number(reader.read(block).find(([name]) => name === ':status')?.[1]);
    return toldFrames(this.got, status).join(' ; ') || 'nothing';
  }

  /** Bytes of the body of a stream so far. */
  body(stream: number): string {
    const own = this.got.filter((each) => each.type === FRAME.DATA && each.stream === stream);
    return Buffer.concat(own.map(({ payload }) => payload)).toString('latin1');
  }

  /** Path that each answer carries, in a field, by its stream. */
  answered(): Map<number, string> {
    const paths = new Map<number, string>();
    for (const { type, stream, payload } of this.got) {
      if (type !== FRAME.HEADERS) continue;
      paths.set(stream, this.reader.read(payload).find(([name]) => name === 'x-path')?.[1] ?? '');
    }
    return paths;
  }
}

function finish(req: Request): void {
  if (req.ended) return;
  req.ended = true;
  req.session.requestDone();
}

function readBody(req: Request): void {
  req.attachBody(Number(req.http.get('content-length') ?? -1));
  req.body?.start(
    sinkOf(
      () => undefined,
      () => answerPath(req),
      () => finish(req),
    ),
  );
}

/** Answers with the path as often as it says: /3*abc is answered by "/3*abc" three times. What follows a ? is the answer's
 * priority. */
export function answerPath(req: Request): void {
  const { url } = req.http;
  const times = Number(/^\/(\d+)\*/.exec(url)?.[1] ?? 1);
  const { stream } = req.session;
  const head = new HttpMessage(Tag.RespMethod);
  head.status = 200;
  head.push('x-path', `X-Path: ${url}`);
  const priority = /\?(.*)/.exec(url)?.[1];
  if (priority !== undefined) head.push('priority', `Priority: ${priority}`);
  stream?.head(head, false);
  if (stream?.end(own(Buffer.from(url.repeat(times), 'latin1'))) === 'wait')
    req.session.onRoom({ room: () => finish(req) });
  else finish(req);
}
