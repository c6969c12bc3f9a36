// Cuts what a client sends into frames. A frame that is there whole is used where it lies; of one that comes in pieces a
// buffer of its size is filled.

import { copyLent, type LentBytes } from '../../http1/lent-bytes.ts';
import { FRAME_HEADER } from '../../http2/frames.ts';

export interface FrameUser {
  /** Whether another frame is to be read at once. */
  readonly takesFrames: boolean;
  /** A frame whose payload is buf[start, end); the header stands in front of it. */
  frame(type: number, flags: number, stream: number, buf: LentBytes, start: number, end: number): void;
  /** A frame of more bytes than we take. */
  frameTooLong(length: number, type: number): void;
}

export class FrameReader {
  private readonly user: FrameUser;
  private readonly most: number;
  private readonly header: Buffer = Buffer.alloc(FRAME_HEADER);
  /** The frame that has come in part, with its header. */
  private frame: Buffer | null = null;
  /** Bytes of the header, or of the frame, that are there. */
  private filled = 0;

  /** @param most SETTINGS_MAX_FRAME_SIZE */
  constructor(user: FrameUser, most: number) {
    this.user = user;
    this.most = most;
  }

  /** A part of a frame has come. */
  get isWithin(): boolean {
    return this.filled > 0;
  }

  /** Reads buf[start, end); returns how far it came: short of `end` where the user takes no more for now. */
  read(buf: LentBytes, start: number, end: number): number {
    let at = start;
    while (at < end && this.user.takesFrames) {
      if (this.filled > 0 || end - at < FRAME_HEADER) {
        at = this.fill(buf, at, end);
        continue;
      }
      const length = lengthAt(buf, at);
      if (length > this.most) {
        this.user.frameTooLong(length, buf[at + 3] as number);
        return end;
      }
      const past = at + FRAME_HEADER + length;
      if (past > end) at = this.fill(buf, at, end);
      else {
        this.hand(buf, at, past);
        at = past;
      }
    }
    return at;
  }

  private fill(buf: LentBytes, start: number, end: number): number {
    let at = start;
    if (this.frame === null) {
      while (this.filled < FRAME_HEADER && at < end) this.header[this.filled++] = buf[at++] as number;
      if (this.filled < FRAME_HEADER) return at;
      const length = lengthAt(this.header, 0);
      if (length > this.most) {
        this.filled = 0;
        this.user.frameTooLong(length, this.header[3] as number);
        return end;
      }
      this.frame = Buffer.allocUnsafe(FRAME_HEADER + length);
      this.header.copy(this.frame);
    }
    const { frame } = this;
    const n = Math.min(frame.length - this.filled, end - at);
    copyLent(buf, at, at + n, frame, this.filled);
    this.filled += n;
    if (this.filled === frame.length) {
      this.frame = null;
      this.filled = 0;
      this.hand(frame, 0, frame.length);
    }
    return at + n;
  }

  private hand(buf: LentBytes, at: number, past: number): void {
    const stream =
      (((buf[at + 5] as number) & 0x7f) << 24) |
      ((buf[at + 6] as number) << 16) |
      ((buf[at + 7] as number) << 8) |
      (buf[at + 8] as number);
    this.user.frame(buf[at + 3] as number, buf[at + 4] as number, stream, buf, at + FRAME_HEADER, past);
  }
}

function lengthAt(buf: LentBytes, at: number): number {
  return ((buf[at] as number) << 16) | ((buf[at + 1] as number) << 8) | (buf[at + 2] as number);
}
