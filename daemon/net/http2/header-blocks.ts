// Header blocks of a client: gathered from HEADERS and its CONTINUATIONs, which nothing may come between (RFC 9113 section
// 4.3). Every block is decoded, also of a stream that is refused or gone: the table of the connection must stay in step.

import { keep, type LentBytes } from '../../http1/lent-bytes.ts';
import { FLAG } from '../../http2/frames.ts';

/** CONTINUATIONs of a block: a head of any use has a few (CVE-2024-27316). */
const MOST_FRAMES = 64;

export interface BlockUser {
  /** A whole block, lent. @param flags of its HEADERS frame */
  block(stream: number, flags: number, buf: LentBytes, start: number, end: number): void;
  /** The client sends more of a block than anybody would. */
  blockTooLong(): void;
}

export class HeaderBlocks {
  /** The stream of a block that is not complete; 0 when there is none. */
  stream = 0;
  private flags = 0;
  private parts: Buffer[] = [];
  private length = 0;
  private readonly user: BlockUser;
  private readonly most: number;

  /** @param most bytes of a block that comes in several frames */
  constructor(user: BlockUser, most: number) {
    this.user = user;
    this.most = most;
  }

  /** The fragment of a HEADERS frame, without padding and priority. */
  begin(stream: number, flags: number, buf: LentBytes, start: number, end: number): void {
    if ((flags & FLAG.END_HEADERS) !== 0) this.user.block(stream, flags, buf, start, end);
    else {
      this.stream = stream;
      this.flags = flags;
      this.add(buf, start, end);
    }
  }

  /** That of a CONTINUATION of the same stream. */
  go(flags: number, buf: LentBytes, start: number, end: number): void {
    this.add(buf, start, end);
    if (this.stream === 0 || (flags & FLAG.END_HEADERS) === 0) return;
    const block = Buffer.concat(this.parts, this.length);
    const { stream } = this;
    this.clear();
    this.user.block(stream, this.flags, block, 0, block.length);
  }

  clear(): void {
    this.stream = 0;
    this.parts = [];
    this.length = 0;
  }

  private add(buf: LentBytes, start: number, end: number): void {
    this.length += end - start;
    if (this.length > this.most || this.parts.length >= MOST_FRAMES) {
      this.clear();
      this.user.blockTooLong();
      return;
    }
    this.parts.push(keep(buf, start, end));
  }
}
