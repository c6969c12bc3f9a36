// Buffers that records are read into. They are outside the heap: one for each read would have the collector mark all of the heap
// again and again, so they are lent, and used again once their reader is done.

/** Bits of the smallest and of the largest size that is kept: with a larger record only its head is read at first. */
const LEAST = 12;
const MOST = 19;
/** Bytes of unused buffers that are kept (chosen): the reads of a busy moment. */
const MOST_KEPT = 8 << 20;

export class ReadBuffers {
  /** By size. */
  private readonly unused: Buffer[][] = Array.from({ length: MOST + 1 }, () => []);
  private kept = 0;

  /** At least `bytes` long; its content is arbitrary. */
  lend(bytes: number): Buffer {
    const bits = Math.max(LEAST, 32 - Math.clz32(bytes - 1));
    const one = this.unused[bits]?.pop();
    if (one === undefined) return Buffer.allocUnsafeSlow(bits > MOST ? bytes : 2 ** bits);
    this.kept -= one.length;
    return one;
  }

  /** Takes back a lent buffer that is no longer in use. */
  give(buffer: Buffer): void {
    const list = this.unused[31 - Math.clz32(buffer.length)];
    if (list === undefined || this.kept + buffer.length > MOST_KEPT) return;
    this.kept += buffer.length;
    list.push(buffer);
  }
}
