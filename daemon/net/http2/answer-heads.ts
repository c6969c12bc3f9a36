// Heads of answers as HEADERS frames. Blocks are written where they leave from; one that is larger than a frame of the client
// is cut into CONTINUATIONs afterwards, which is rare.

import type { HttpMessage } from '../../http1/message.ts';
import { FLAG, FRAME, FRAME_HEADER, putFrame } from '../../http2/frames.ts';
import { HpackEncoder, nameOf } from '../../http2/hpack-encoder.ts';
import { fieldBound } from '../../http2/response-field.ts';
import type { Core } from '../../transaction/core.ts';
import type { HotHead } from '../../transaction/hot-heads.ts';
import type { FrameOutput } from './frame-output.ts';

/** Fields of one connection of HTTP/1, which mean nothing to HTTP/2 (RFC 9113 section 8.2.2). */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
]);
/** Table size updates and a status. */
const HEAD_REST = 32;
const AGE = nameOf('age');

export class AnswerHeads {
  readonly encoder = new HpackEncoder();
  /** The client's SETTINGS_MAX_FRAME_SIZE. */
  maxFrame: number;
  private readonly core: Core;
  private readonly output: FrameOutput;

  constructor(core: Core, output: FrameOutput, maxFrame: number) {
    this.core = core;
    this.output = output;
    this.maxFrame = maxFrame;
  }

  /** Returns the bytes of the block. */
  message(stream: number, resp: HttpMessage, ends: boolean): number {
    const { encoder, output } = this;
    const { all } = this.core.hotHeads.framed;
    let bound = HEAD_REST;
    for (let i = 0; i < resp.n; i++) bound += fieldBound(resp.keys[i] as string, resp.lines[i] as string);
    output.reserve(FRAME_HEADER + bound);
    const out = output.bytes;
    let at = encoder.status(out, encoder.begin(out, output.at + FRAME_HEADER), resp.status);
    for (let i = 0; i < resp.n; i++) {
      const key = resp.keys[i] as string;
      if (!NOT_SENT.has(key)) at = encoder.field(out, at, all.of(key, resp.lines[i] as string));
    }
    return this.close(stream, at, ends);
  }

  /** The head of a plain hit: its stored fields and those that the proxy adds. */
  hot(stream: number, hot: HotHead, id: string, age: number, ends: boolean): number {
    const { encoder, output } = this;
    const { hotHeads, idHeader } = this.core;
    const { fields, bound } = hot.framed(hotHeads.framed);
    output.reserve(FRAME_HEADER + HEAD_REST + bound + id.length + idHeader.framed.length + HEAD_REST);
    const out = output.bytes;
    let at = encoder.status(out, encoder.begin(out, output.at + FRAME_HEADER), 200);
    for (let i = 0; i < fields.length; i++) at = encoder.field(out, at, fields[i] as (typeof fields)[number]);
    at = encoder.value(out, at, idHeader.framed, id);
    at = encoder.value(out, at, AGE, String(age));
    const { added } = hotHeads.framed;
    for (let i = 0; i < added.length; i++) at = encoder.field(out, at, added[i] as (typeof added)[number]);
    return this.close(stream, at, ends);
  }

  /** The block that ends at `end` of the output becomes a frame, or several. */
  private close(stream: number, end: number, ends: boolean): number {
    const { output, maxFrame } = this;
    const from = output.at + FRAME_HEADER;
    const length = end - from;
    const last = ends ? FLAG.END_STREAM : 0;
    if (length <= maxFrame) {
      putFrame(output.bytes, output.at, length, FRAME.HEADERS, last | FLAG.END_HEADERS, stream);
      output.at = end;
      return length;
    }
    const block = Buffer.from(output.bytes.subarray(from, end));
    for (let at = 0; at < length; at += maxFrame) {
      const n = Math.min(maxFrame, length - at);
      output.reserve(FRAME_HEADER + n);
      const flags = (at === 0 ? last : 0) | (at + n === length ? FLAG.END_HEADERS : 0);
      const type = at === 0 ? FRAME.HEADERS : FRAME.CONTINUATION;
      const past = putFrame(output.bytes, output.at, n, type, flags, stream);
      block.copy(output.bytes, past, at, at + n);
      output.at = past + n;
    }
    return length;
  }
}
