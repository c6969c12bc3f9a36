// varnishlog's binary stream: all records from now on, and once what the log held before. Both are read from the same
// log, and overlap: the first records of the one are looked for in the other, which ends there.

import { RECORD_HEAD, recordSize } from '../../protocol/log-record.ts';
import { LogFileDecoder } from '../../queries/binary-log.ts';
import type { VarnishTarget } from '../client/varnish-target.ts';
import { FarShell, whyNothing } from './far-shell.ts';
import { followScript, pastScript } from './tool-scripts.ts';

export interface VarnishLogHandlers {
  /** The log is read; once. */
  open(): void;
  /** Whole records, to be kept. */
  records(records: Uint8Array): void;
  /** What was logged before all of them, in pieces of whole records; once. */
  past(older: readonly Uint8Array[]): void;
  /** varnishlog could not keep up, and lost records. */
  overrun(): void;
  /** It reads on after the child, whose log it was, had ended. */
  anew(): void;
  /** It is over. */
  end(reason: string): void;
}

/** Bytes of the first records by which the overlap is found (chosen): more than comes while the past is read. */
const HEAD_BYTES = 4 << 20;
/** Bytes of the past that are kept while it comes. */
const PAST_BYTES = 48 << 20;
/** Bytes of one piece of the past (chosen): runs begin at pieces. */
const PIECE_BYTES = 64 << 10;
/** Milliseconds that the first records are waited for (chosen): Varnish pings itself every 3 seconds. */
const FIRST_MS = 4000;
/** The same for the overlap once there are any (chosen), and between two looks. */
const OVERLAP_MS = 500;
const LOOK_MS = 50;

export class VarnishLog {
  private readonly target: VarnishTarget;
  private readonly handlers: VarnishLogHandlers;
  private readonly follow: FarShell;
  private past: FarShell | null = null;
  /** The first records that came, as long as the past has not. */
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
      heard: (said) => {
        if (/^Log overrun/m.test(said)) handlers.overrun();
        if (/^Log abandoned/m.test(said)) handlers.anew();
      },
    });
    let open = false;
    if (!wantsPast) this.head = null;
    const take = (data: Buffer): void => {
      const records = decoder.push(data);
      if (records === null) {
        this.finish('varnishlog does not begin with its binary form: it may be too old');
        return;
      }
      // The stream begins with its name as soon as the log is open: what comes from here on is in it.
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

  /** The past has come; of the stream, which is older, as much may still be under way. */
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

/** Where the stream begins in what was before, whose end is the beginning of the stream then; -1 where it is not so. A
 * record may look like another, but not all of them to the end. */
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
