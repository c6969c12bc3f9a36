// Equal pieces of shared memory. The more there are, the more of them come from one mapping: the system gives large
// pages only within one, and among millions of objects those halve the time to read any place.
//
// Knows nothing of what a piece holds. A mapping is touched page by page as its pieces are used, so that a large one
// costs nothing before; it goes when all its pieces have been given back.

interface Region {
  used: number;
  readonly bytes: number;
}

export interface Piece {
  readonly memory: SharedArrayBuffer;
  /** Byte where the piece begins. */
  readonly at: number;
  readonly region: Region;
}

/** Bytes of the largest mapping. */
const LARGEST = 32 << 20;

export class Regions {
  private readonly pieceBytes: number;
  private total = 0;
  private free: Piece[] = [];

  constructor(pieceBytes: number) {
    this.pieceBytes = pieceBytes;
  }

  /** A piece; all zero, unless it was given back before. */
  take(): Piece {
    const piece = this.free.pop() ?? this.grow();
    piece.region.used++;
    return piece;
  }

  give(piece: Piece): void {
    const { region } = piece;
    this.free.push(piece);
    if (--region.used > 0) return;
    this.total -= region.bytes;
    this.free = this.free.filter((each) => each.region !== region);
  }

  private grow(): Piece {
    let bytes = this.pieceBytes;
    while (bytes * 2 <= Math.min(LARGEST, this.total / 2)) bytes *= 2;
    this.total += bytes;
    const region = { used: 0, bytes };
    const memory = new SharedArrayBuffer(bytes);
    for (let at = bytes - this.pieceBytes; at > 0; at -= this.pieceBytes) {
      this.free.push({ memory, at, region });
    }
    return { memory, at: 0, region };
  }
}
