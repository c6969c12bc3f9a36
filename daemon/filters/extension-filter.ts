// Filters of extensions as rows like the built-in ones. Their processor holds one piece of the body at most: what it
// was given last, until all that has become of it is taken.

import { Tag } from '../../protocol/tables/tags.ts';
import type { BodyTransform, ExtensionFilter, FilterOutput } from '../contract/body-filter.ts';
import type { ImportedExtension } from '../contract/context.ts';
import { weakenEtag } from '../http1/conditional.ts';
import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { DeliveryFilter, FetchFilter, Filter, Outlet, Processor } from './filter.ts';

const NOTHING = Buffer.alloc(0);
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
      return (outlet) => new TransformProcessor(outlet, name, filter, body.log, Tag.FetchError);
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
      return (outlet) => new TransformProcessor(outlet, name, filter, body.log, Tag.Error);
    },
  };
}

function mendHead(head: HttpMessage, { changes }: ExtensionFilter): void {
  if (changes !== 'nothing') weakenEtag(head);
  if (changes === 'length') head.unset('content-length');
}

class TransformProcessor implements Processor {
  private readonly outlet: Outlet;
  private readonly name: string;
  private readonly filter: ExtensionFilter;
  private readonly log: MessageLog;
  /** The record that says why a body broke off. */
  private readonly errorTag: number;
  private transform: BodyTransform | null = null;
  /** What is left of the last answer. */
  private pieces = NO_PIECES;
  /** Bytes taken less bytes given: none at the end of a body of which only the bytes change. */
  private balance = 0;
  /** An answer is not yet taken, and whether its pieces are being given out now. */
  private busy = false;
  private pouring = false;
  private ended = false;
  private closed = false;

  constructor(outlet: Outlet, name: string, filter: ExtensionFilter, log: MessageLog, errorTag: number) {
    this.outlet = outlet;
    this.name = name;
    this.filter = filter;
    this.log = log;
    this.errorTag = errorTag;
  }

  data(bytes: Buffer, last: boolean): boolean {
    if (this.closed || this.ended) return false;
    this.ended = last;
    try {
      this.transform ??= this.filter.open({ log: (text) => this.log.put(Tag.VCL_Log, text) });
      const output = this.transform.transform(Buffer.from(bytes), last);
      if (this.filter.changes === 'nothing') return this.outlet.data(bytes, last);
      this.balance += bytes.length;
      this.pieces = piecesOf(output);
      this.busy = true;
      return this.pour();
    } catch (error) {
      return this.broke(error);
    }
  }

  resume(): void {
    // Whoever takes a piece may say in the same call that it takes more.
    if (this.pouring || this.closed) return;
    if ((!this.busy || this.pour()) && !this.ended) this.outlet.ready();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.pieces = NO_PIECES;
    try {
      this.transform?.close?.();
    } catch (error) {
      this.log.put(Tag.VCL_Error, this.why(error));
    }
  }

  report(): void {}

  /** Gives out what is there; false when the outlet has to take it first, or the body is broken. */
  private pour(): boolean {
    this.pouring = true;
    try {
      while (!this.closed) {
        const step = this.pieces.next();
        if (step.done === true) return this.poured();
        const piece = bufferOf(step.value);
        this.balance -= piece.length;
        if (piece.length > 0 && !this.outlet.data(piece, false)) return false;
      }
      return false;
    } catch (error) {
      return this.broke(error);
    } finally {
      this.pouring = false;
    }
  }

  private poured(): boolean {
    this.busy = false;
    if (!this.ended) return true;
    if (this.filter.changes === 'bytes' && this.balance !== 0)
      throw new Error('it changed the length of a body');
    return this.outlet.data(NOTHING, true);
  }

  private broke(error: unknown): boolean {
    if (!this.closed) {
      this.log.put(this.errorTag, this.why(error));
      this.outlet.fail();
    }
    return false;
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
