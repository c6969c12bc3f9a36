// The buffer in which a worker puts together what goes out in one piece: responses, and heads of requests to origins.
// What is written leaves at once, nearly always, so that one buffer serves all; when the kernel did not take everything,
// those bytes keep the buffer and there is a new one. It writes nothing itself.
//
// The views that are written are kept: responses to the same request are alike, and making a view costs as much as
// putting 50 bytes together.

const USUAL = 128 * 1024;
/** A power of two. */
const PARTS = 64;
const NOTHING = Buffer.alloc(0);

export class OutputBuffer {
  private bytes = Buffer.allocUnsafeSlow(USUAL);
  private readonly parts = new Array<Buffer>(PARTS).fill(NOTHING);
  /** Where each of them begins. */
  private readonly starts = new Int32Array(PARTS);

  /** At least `size` bytes; what was in them may be overwritten. */
  room(size: number): Buffer {
    if (this.bytes.length < size) this.replace(size);
    return this.bytes;
  }

  /** The bytes [start, end) of what room() gave. */
  part(bytes: Buffer, start: number, end: number): Buffer {
    if (bytes !== this.bytes) return bytes.subarray(start, end);
    const at = (start + end) & (PARTS - 1);
    const kept = this.parts[at] as Buffer;
    if (this.starts[at] === start && kept.length === end - start) return kept;
    const part = bytes.subarray(start, end);
    this.parts[at] = part;
    this.starts[at] = start;
    return part;
  }

  /** Some of it has not left yet: it must not be used again. */
  taken(): void {
    this.replace(USUAL);
  }

  private replace(size: number): void {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.parts.fill(NOTHING);
  }
}
