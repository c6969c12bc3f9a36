// The newest log records, in blocks of whole records with stream offsets: the equivalent of a log ring that can be
// read backwards. Records logged before the stream began have negative offsets and are prepended once available.
// Bounded: the oldest blocks are dropped first.

/** Small chunks are merged up to this many bytes, to avoid many tiny blocks (chosen). */
const BLOCK = 64 << 10;

interface KeptBlock {
  /** Offset of its first byte. */
  readonly at: number;
  readonly records: Uint8Array;
}

export class KeptRecords {
  private blocks: KeptBlock[] = [];
  private readonly most: number;
  private size = 0;

  /** @param most maximum bytes to keep */
  constructor(most: number) {
    this.most = most;
  }

  /** Offsets of the oldest byte and of the next one. */
  get start(): number {
    return this.blocks[0]?.at ?? 0;
  }

  get end(): number {
    const last = this.blocks.at(-1);
    return last === undefined ? 0 : last.at + last.records.length;
  }

  /** Takes ownership of the records. */
  push(records: Uint8Array): void {
    if (records.length === 0) return;
    const last = this.blocks.at(-1);
    if (last !== undefined && last.records.length + records.length <= BLOCK)
      this.blocks[this.blocks.length - 1] = { at: last.at, records: Buffer.concat([last.records, records]) };
    else this.blocks.push({ at: this.end, records });
    this.size += records.length;
    let gone = 0;
    while (this.size > this.most && gone < this.blocks.length - 1)
      this.size -= (this.blocks[gone++] as KeptBlock).records.length;
    if (gone > 0) this.blocks.splice(0, gone);
  }

  /** Prepends records logged before the first block, the newest ones as far as there is room. */
  prepend(older: readonly Uint8Array[]): void {
    let at = this.start;
    const before: KeptBlock[] = [];
    for (const records of [...older].reverse()) {
      if (records.length === 0) continue;
      if (this.size + records.length > this.most) break;
      at -= records.length;
      this.size += records.length;
      before.push({ at, records });
    }
    this.blocks = [...before.reverse(), ...this.blocks];
  }

  /** The records between two offsets, in order. */
  between(from: number, to: number): readonly Uint8Array[] {
    return this.blocks
      .filter((b) => b.at + b.records.length > from && b.at < to)
      .map(({ at, records }) => records.subarray(Math.max(0, from - at), to - at));
  }

  /** The offset of the block that begins at most this many bytes before another offset. */
  back(before: number, bytes: number): number {
    return this.blocks.find((b) => b.at >= before - bytes)?.at ?? before;
  }
}
