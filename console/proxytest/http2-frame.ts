// A frame that was received or is to be sent (RFC 9113 section 6), taken apart.

import { FLAG, FRAME, frameName } from './http2-names.ts';

export class Frame {
  readonly type: number;
  readonly stream: number;
  readonly flags: number;
  readonly data: Buffer;
  /** Bytes of padding. */
  padding = 0;

  constructor(type: number, stream: number, flags: number, data: Uint8Array = Buffer.alloc(0)) {
    this.type = type;
    this.stream = stream;
    this.flags = flags;
    this.data = Buffer.from(data);
  }

  has(flag: number): boolean {
    return (this.flags & flag) !== 0;
  }

  bytes(): Buffer {
    const head = Buffer.alloc(9);
    head.writeUIntBE(this.data.length, 0, 3);
    head[3] = this.type;
    head[4] = this.flags;
    head.writeUInt32BE(this.stream, 5);
    return Buffer.concat([head, this.data]);
  }

  /** For the log. */
  get shown(): string {
    return `stream: ${this.stream}, type: ${frameName(this.type)} (${this.type}), flags: 0x${this.flags.toString(16).padStart(2, '0')}, size: ${this.data.length}`;
  }

  number(at: number): number {
    return this.data.readUInt32BE(at);
  }

  /** Of a SETTINGS frame, by their identifiers. */
  get settings(): Map<number, number> {
    const out = new Map<number, number>();
    for (let i = 0; i + 6 <= this.data.length; i += 6)
      out.set(this.data.readUInt16BE(i), this.data.readUInt32BE(i + 2));
    return out;
  }

  /** Its data without padding, or what is wrong with that. */
  unpadded(): Buffer | string {
    if (!this.has(FLAG.PADDED)) return this.data;
    const length = this.data[0] ?? 0;
    if (length >= this.data.length)
      return `invalid padding: ${length} bytes in a frame of ${this.data.length}`;
    this.padding = length;
    return this.data.subarray(1, this.data.length - length);
  }

  /** Why its size or stream is wrong; null if they are not. */
  problem(): string | null {
    const { length } = this.data;
    const exact = SIZES.get(this.type);
    if (exact !== undefined && length !== exact) return `Size should be ${exact}, but isn't (${length})`;
    if (this.type === FRAME.SETTINGS && length % 6 !== 0)
      return `Size should be a multiple of 6, but isn't (${length})`;
    if (this.type === FRAME.SETTINGS && this.stream !== 0)
      return `SETTINGS on stream ${this.stream} instead of 0`;
    if (this.type === FRAME.GOAWAY && length < 8) return `Size should be at least 8, but isn't (${length})`;
    return this.type > FRAME.CONTINUATION ? `wrong frame type ${this.type}` : null;
  }
}

const SIZES = new Map<number, number>([
  [FRAME.PRIORITY, 5],
  [FRAME.RST_STREAM, 4],
  [FRAME.PING, 8],
  [FRAME.WINDOW_UPDATE, 4],
]);
