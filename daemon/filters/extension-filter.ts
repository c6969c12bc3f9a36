// Filters of extensions as rows like the built-in ones. A body's flow through one of them holds one piece at most: the
// one it was given last, until everything made of it has been taken.

import { Tag } from '../../protocol/tables/tags.ts';
import type { BodyTransform, ExtensionFilter, FilterOutput } from '../contract/body-filter.ts';
import type { ImportedExtension } from '../contract/context.ts';
import type { Room, Sink } from '../flow/flow.ts';
import { copyOf, NOTHING, own, type Piece } from '../flow/piece.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import { type DeliveryFilter, type FetchFilter, type Filter, FilterFlow } from './filter.ts';

const NO_PIECES: Iterator<Uint8Array> = [][Symbol.iterator]();

/** Rows by the extension, which several programs may share. */
const ROWS = new WeakMap<ImportedExtension, readonly Filter[]>();

/** The filters of an extension. */
export function filtersOf(extension: ImportedExtension): readonly Filter[] {
  let rows = ROWS.get(extension);
  if (rows === undefined) {
    const made = Object.entries(extension.filters ?? {});
    rows = made.map(([name, filter]) =>
      filter.side === 'fetch' ? fetched(name, filter) : delivered(name, filter),
    );
    ROWS.set(extension, rows);
  }
  return rows;
}

function fetched(name: string, filter: ExtensionFilter): FetchFilter {
  return {
    ...{ name, side: 'fetch' },
    wanted: () => false,
    open(body) {
      mendHead(body.head, filter);
      if (filter.changes !== 'nothing') {
        body.gzipped = false;
        body.unpacked = -1;
        body.recoded = true;
      }
      return (next) => new TransformFlow(next, name, filter, body.log, Tag.FetchError);
    },
  };
}

function delivered(name: string, filter: ExtensionFilter): DeliveryFilter {
  return {
    ...{ name, side: 'delivery' },
    wanted: () => false,
    open(body) {
      mendHead(body.head, filter);
      if (filter.changes === 'length') body.length = -1;
      return (next) => new TransformFlow(next, name, filter, body.log, Tag.Error);
    },
  };
}

function mendHead(head: HttpMessage, { changes }: ExtensionFilter): void {
  if (changes !== 'nothing') weakenEtag(head);
  if (changes === 'length') head.unset('content-length');
}

class TransformFlow extends FilterFlow {
  private readonly name: string;
  private readonly filter: ExtensionFilter;
  private readonly log: MessageLog;
  /** The record that says why a body broke off. */
  private readonly errorTag: number;
  private transform: BodyTransform | null = null;
  /** The rest of the last answer. */
  private pieces = NO_PIECES;
  /** Bytes taken less bytes given: none at the end of a body of which only the bytes change. */
  private balance = 0;
  private isLast = false;

  constructor(next: Sink, name: string, filter: ExtensionFilter, log: MessageLog, errorTag: number) {
    super(next);
    this.name = name;
    this.filter = filter;
    this.log = log;
    this.errorTag = errorTag;
  }

  protected take(piece: Piece, isLast: boolean): Room {
    this.isLast = isLast;
    try {
      this.transform ??= this.filter.open({ log: (text) => this.log.put(Tag.VCL_Log, text) });
      const output = this.transform.transform(copyOf(piece), isLast);
      if (this.filter.changes === 'nothing') return isLast ? this.giveLast(piece, true) : this.give(piece);
      this.balance += piece.length;
      this.pieces = piecesOf(output);
      return this.pour(true);
    } catch (error) {
      return this.broke(error);
    }
  }

  protected resume(): void {
    try {
      if (this.filter.changes === 'nothing' || (this.pour(false) === 'more' && !this.isLast)) this.wantMore();
    } catch (error) {
      this.broke(error);
    }
  }

  override close(): void {
    if (this.closed) return;
    super.close();
    this.pieces = NO_PIECES;
    try {
      this.transform?.close?.();
    } catch (error) {
      this.log.put(Tag.VCL_Error, this.why(error));
    }
  }

  /** Gives out the rest of the last answer. */
  private pour(inTake: boolean): Room {
    for (let step = this.pieces.next(); step.done !== true; step = this.pieces.next()) {
      const piece = bufferOf(step.value);
      this.balance -= piece.length;
      if (piece.length > 0 && this.give(own(piece)) === 'wait') return 'wait';
    }
    if (!this.isLast) return 'more';
    if (this.filter.changes === 'bytes' && this.balance !== 0)
      throw new Error('it changed the length of a body');
    return this.giveLast(NOTHING, inTake);
  }

  private broke(error: unknown): Room {
    if (!this.closed) {
      this.log.put(this.errorTag, this.why(error));
      this.fail();
    }
    return 'wait';
  }

  private why(error: unknown): string {
    return `Filter ${this.name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function piecesOf(output: FilterOutput): Iterator<Uint8Array> {
  if (output === null || output === undefined) return NO_PIECES;
  if (output instanceof Uint8Array) return [output][Symbol.iterator]();
  if (typeof output === 'object' && Symbol.iterator in output) return output[Symbol.iterator]();
  throw new Error('it answered neither bytes nor an iterable of them');
}

function bufferOf(bytes: unknown): Buffer {
  if (!(bytes instanceof Uint8Array)) throw new Error('it answered something else than bytes');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
