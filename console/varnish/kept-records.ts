// The newest log records that came, in blocks of whole records with the place of each in the stream: what Varnish's own
// ring is to a daemon that can read it backwards. What was logged before the stream began lies at places below zero, and
// is put before the rest once it is there. Bounded: the oldest blocks go first.

/** Bytes up to which what comes is put together: few records a second are no block each (chosen). */
const BLOCK = 64 << 10;

interface KeptBlock {
  /** Place of its first byte. */
  readonly at: number;
  readonly records: Uint8Array;
}

export class KeptRecords {
  private blocks: KeptBlock[] = [];
  private readonly most: number;
  private size = 0;

  /** @param most bytes that are kept */
  constructor(most: number) {
    this.most = most;
  }

  /** Places of the oldest byte and of the next that comes. */
  get start(): number {
    return this.blocks[0]?.at ?? 0;
  }

  get end(): number {
    const last = this.blocks.at(-1);
    return last === undefined ? 0 : last.at + last.records.length;
  }

  /** The records are the keeper's from now on. */
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

  /** Puts what was logged before the first block before it, the newest as far as there is room. */
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

  /** The records between two places, in order. */
  between(from: number, to: number): readonly Uint8Array[] {
    return this.blocks
      .filter((b) => b.at + b.records.length > from && b.at < to)
      .map(({ at, records }) => records.subarray(Math.max(0, from - at), to - at));
  }

  /** The place of the block that begins at most so many bytes before another place. */
  back(before: number, bytes: number): number {
    return this.blocks.find((b) => b.at >= before - bytes)?.at ?? before;
  }
}
