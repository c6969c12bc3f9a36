// Ends of flows as tests need them: a sink that keeps what it gets, and pieces of texts.
import { type Abort, DISCARD, type Room, type Sink, type Writer } from '../../../daemon/flow/flow.ts';
import { type AnyPiece, copyOf, own, type Piece } from '../../../daemon/flow/piece.ts';

/** Own bytes of a text. */
export function bytesOf(text: string): Piece {
  return own(Buffer.from(text, 'latin1'));
}

export function textOf(piece: AnyPiece): string {
  return copyOf(piece).toString('latin1');
}

/** A sink made of functions; it takes more unless `take` answers 'wait'. */
export function sinkOf(
  take: (piece: AnyPiece) => unknown,
  end: () => void = () => undefined,
  abort: (reason: Abort) => void = () => undefined,
): Sink<AnyPiece> {
  const write = (piece: AnyPiece): Room => (piece.length > 0 && take(piece) === 'wait' ? 'wait' : 'more');
  return {
    ...DISCARD,
    write,
    end: (piece) => {
      write(piece);
      end();
      return 'more';
    },
    abort,
  };
}

/** Keeps a copy of each piece; has room while `takes` is true. */
export class Taker implements Sink<AnyPiece> {
  readonly gathers = 0;
  readonly got: string[] = [];
  /** How it ended. */
  outcome: 'end' | Abort | null = null;
  writer: Writer | null = null;
  takes = true;

  connect(writer: Writer): void {
    this.writer = writer;
  }

  write(piece: AnyPiece): Room {
    this.got.push(textOf(piece));
    return this.takes ? 'more' : 'wait';
  }

  end(piece: AnyPiece): Room {
    if (piece.length > 0) this.got.push(textOf(piece));
    this.outcome = 'end';
    return this.takes ? 'more' : 'wait';
  }

  flush(): void {}

  abort(reason: Abort): void {
    this.outcome = reason;
  }
}
