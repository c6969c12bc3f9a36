// varnishlog's binary stream: all records from now on, and the log's earlier contents once. Both come from the same
// log and overlap: the start of the stream is searched in the earlier part, which is cut there.

import { RECORD_HEAD, recordSize } from '../../protocol/log-record.ts';
import { LogFileDecoder } from '../../queries/binary-log.ts';
import type { VarnishTarget } from '../client/varnish-target.ts';
import { FarShell, whyNothing } from './far-shell.ts';
import { followScript, pastScript } from './tool-scripts.ts';

export interface VarnishLogHandlers {
  /** The log is being read; called once. */
  open(): void;
  /** Whole records, to be kept. */
  records(records: Uint8Array): void;
  /** Records logged before all others, in pieces of whole records; called once. */
  past(older: readonly Uint8Array[]): void;
  /** varnishlog could not keep up and lost records. */
  overrun(): void;
  /** Reading continues after the former child ended. */
  newChild(): void;
  /** The stream ended. */
  end(reason: string): void;
}

/** Bytes at the stream's start used to find the overlap (chosen): more than arrives while the past is read. */
const HEAD_BYTES = 4 << 20;
/** Maximum bytes of the past. */
const PAST_BYTES = 48 << 20;
/** Bytes per piece of the past (chosen): runs begin at pieces. */
const PIECE_BYTES = 64 << 10;
/** Timeout in milliseconds for the first records (chosen): Varnish pings itself every 3 seconds. */
const FIRST_MS = 4000;
/** Timeout for the overlap after that, and the interval between checks (chosen). */
const OVERLAP_MS = 500;
const LOOK_MS = 50;

export class VarnishLog {
  private readonly target: VarnishTarget;
  private readonly handlers: VarnishLogHandlers;
  private readonly follow: FarShell;
  private past: FarShell | null = null;
  /** The first records of the stream until the past has arrived. */
  private head: Uint8Array[] | null = [];
  private headSize = 0;
  private pieces: Uint8Array[] = [];
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(target: VarnishTarget, wantsPast: boolean, handlers: VarnishLogHandlers) {
    this.target = target;
    this.handlers = handlers;
    const decoder = new LogFileDecoder();
    this.follow = new FarShell(target, followScript(target.name), {
      data: (data) => take(data),
      end: (how) => this.finish(whyNothing(target, 'varnishlog', how)),
      onStderr: (output) => {
        if (/^Log overrun/m.test(output)) handlers.overrun();
        if (/^Log abandoned/m.test(output)) handlers.newChild();
      },
    });
    let open = false;
    if (!wantsPast) this.head = null;
    const take = (data: Buffer): void => {
      const records = decoder.push(data);
      if (records === null) {
        this.finish('unexpected output of varnishlog: it may be too old');
        return;
      }
      // The stream starts with the magic as soon as the log is open: all records from here on are in it.
      if (!open && decoder.valid) {
        open = true;
        handlers.open();
        if (wantsPast) this.readPast();
      }
      if (records.length === 0) return;
      const own = new Uint8Array(records);
      if (this.head !== null && this.headSize < HEAD_BYTES) {
        this.head.push(own);
        this.headSize += own.length;
      }
      handlers.records(own);
    };
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.follow.close();
    this.past?.close();
  }

  private finish(reason: string): void {
    if (this.closed) return;
    this.close();
    this.handlers.end(reason);
  }

  private readPast(): void {
    const decoder = new LogFileDecoder();
    let size = 0;
    const take = (data: Buffer): void => {
      const records = decoder.push(data);
      if (records === null || records.length === 0) return;
      const last = this.pieces.at(-1);
      if (last !== undefined && last.length + records.length <= PIECE_BYTES)
        this.pieces[this.pieces.length - 1] = Buffer.concat([last, records]);
      else this.pieces.push(new Uint8Array(records));
      size += records.length;
      while (size > PAST_BYTES && this.pieces.length > 1) size -= this.pieces.shift()?.length ?? 0;
    };
    this.past = new FarShell(this.target, pastScript(this.target.name), {
      data: take,
      end: () => this.join(),
    });
  }

  /** The past is complete; the same amount of older stream may still be in transit. */
  private join(): void {
    const past = Buffer.concat(this.pieces);
    const began = performance.now();
    const look = (): void => {
      if (this.closed || this.head === null) return;
      const at = overlapAt(past, Buffer.concat(this.head));
      const waited = performance.now() - began;
      if (at < 0 && waited < (this.headSize === 0 ? FIRST_MS : OVERLAP_MS)) {
        this.timer = setTimeout(look, LOOK_MS);
        return;
      }
      const older = at < 0 ? this.pieces : upTo(this.pieces, at);
      this.pieces = [];
      this.head = null;
      this.handlers.past(older);
    };
    look();
  }
}

/** Offset in the past at which the stream begins, with the past's end equal to the stream's start; -1 without an
 * overlap. Single records may look alike, so everything up to the end is compared. */
export function overlapAt(past: Buffer, stream: Uint8Array): number {
  if (stream.length < RECORD_HEAD) return -1;
  const first = stream.subarray(0, recordSize(stream, 0));
  let at = past.indexOf(first, Math.max(0, past.length - stream.length));
  while (at >= 0 && !past.subarray(at).equals(stream.subarray(0, past.length - at)))
    at = past.indexOf(first, at + 1);
  return at;
}

/** The first bytes of pieces. */
function upTo(pieces: readonly Uint8Array[], end: number): Uint8Array[] {
  let from = 0;
  return pieces.flatMap((piece): Uint8Array[] => {
    const part = piece.subarray(0, Math.max(0, end - from));
    from += piece.length;
    return part.length === 0 ? [] : [part];
  });
}
