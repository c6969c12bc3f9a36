// The services that the state machines share inside one worker, the parameters they read on every request
// and the programs. The composition (daemon/worker) makes the one instance; nothing here has behaviour.

import type { Cache } from '../cache/cache.ts';
import type { TierLookups } from '../cache/object-tier.ts';
import type { Clock } from '../clock.ts';
import type { VclHost, VclProgram } from '../contract/context.ts';
import type { ByteTurns } from '../flow/byte-turns.ts';
import type { Piece } from '../flow/piece.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import type { PreparedRecords, TxLog } from '../log/tx-log.ts';
import type { Params } from '../params/parameter-set.ts';
import type { MainCounters, TlsCounters, WaiterCounters } from '../stats/counter-fields.ts';
import type { SharedCount } from '../threads/shared-count.ts';
import type { ServerContexts } from '../tls/server-contexts.ts';
import type { TurnWatch } from '../turns/turn-watch.ts';
import type { Turns } from '../turns/turns.ts';
import type { StepChecks } from './drive.ts';
import type { EarlySlices } from './early-slices.ts';
import type { EsiState } from './fragment-place.ts';
import type { HeldLookups } from './held-lookups.ts';
import type { HotHeads, IdHeader } from './hot-heads.ts';
import type { OutgrownKeys } from './outgrown-keys.ts';

/** Parameters as numbers: seconds, bytes, counts; 0 or 1 for switches. */
export type HotParams = Params['hot'];

/** A loaded program with the number of transactions that run it. */
export interface ProgramRef {
  readonly name: string;
  readonly program: VclProgram;
  refs: number;
  /** Whether it may want the head of a request back as it came, and that to the origin as it was first made. */
  readonly keepsRequest: boolean;
  readonly keepsFetch: boolean;
  /** Whether vcl_hit and vcl_deliver are the builtin program's, which change nothing. */
  readonly plainHit: boolean;
  readonly plainDeliver: boolean;
  /** Whether vcl_hash is the builtin one: keys are URL and host. */
  readonly plainHash?: boolean;
  /** The programs of `return (vcl(label))`, by label; a label may be pointed elsewhere at any time. */
  readonly labels: ReadonlyMap<string, { readonly target: ProgramRef }>;
}

/** Shared by the TLS listeners of a thread. */
export interface TlsServices {
  readonly contexts: ServerContexts;
  readonly counters: TlsCounters;
  /** A client came to a listener that has no certificate. */
  lacksCertificate(listener: string): void;
}

export interface Core {
  readonly clock: Clock;
  readonly params: HotParams;
  readonly requestLimits: HeadLimits;
  readonly responseLimits: HeadLimits;
  /** The http_date_postel feature. */
  readonly lenientDates: boolean;
  /** Are the statements of programs logged without being asked to (feature trace)? */
  readonly tracesAll: boolean;
  /** Whether malformed requests have a ReqStart record (varnish_release). */
  readonly logsMalformedStart: boolean;
  /** Whether errors of HTTP/2 are SessError records (varnish_release). */
  readonly logsSessionErrors: boolean;
  /** Whether client_req counts requests again that have waited for a fetch (varnish_release). */
  readonly countsAgain: boolean;
  /** The lenient_lf feature. */
  readonly lenientLf: boolean;
  /** Whether HTTP/2 is spoken where a client without TLS of ours begins with its preface (feature +http2). */
  readonly http2Plain: boolean;
  /** Whether TLS listeners offer HTTP/2 (unless feature -http2). */
  readonly http2Tls: boolean;
  /** The vcl_req_reset feature. */
  readonly logsResets: boolean;
  readonly esi: EsiState;
  readonly stats: MainCounters;
  readonly waiter: WaiterCounters;
  readonly cache: Cache;
  /** Storage behind memory; null without. */
  readonly disk: TierLookups | null;
  /** Lookups that wait for what the fleet has missed. */
  readonly held: HeldLookups;
  readonly earlySlices: EarlySlices;
  readonly outgrown: OutgrownKeys;
  readonly hotHeads: HotHeads;
  readonly host: VclHost;
  readonly identity: string;
  /** The parameter id_header; replaced when it changes. */
  readonly idHeader: IdHeader;
  /** The Via member this proxy adds. */
  readonly via: string;
  /** The Via line when the response has none yet. */
  readonly viaLine: string;
  readonly viaRecord: PreparedRecords;
  /** The same line as a ReqHeader record. */
  readonly viaOfRequest: PreparedRecords;
  /** Left by ended fetches for the next ones: FetchBuffers of fetch/, which no other code looks into. */
  readonly spareFetchBuffers: object[];
  /** Background fetches under way. */
  readonly bgFetches: SharedCount;
  /** Clients that are piped to an origin. */
  readonly pipes: SharedCount;
  /** The program new requests begin with, or null before the first vcl.use. */
  readonly active: ProgramRef | null;
  newVxid(): number;
  newLog(): TxLog;
  /** A shared output buffer of at least `size` bytes; replaced when a write could not finish at once. */
  output(size: number): Buffer;
  /** The bytes [start, end) of it; while they are held, the buffer is not used again. */
  outputPiece(out: Buffer, start: number, end: number): Piece;
  /** The debug mode of steps; null when it is off. */
  readonly stepChecks: StepChecks | null;
  /** The longest turns of this thread; null where nobody watches them. */
  readonly turnWatch: TurnWatch | null;
  /** The turns of this thread, for work that may be long. */
  readonly turns: Turns;
  readonly tls: TlsServices;
  /** Per-turn send budget. */
  readonly sendTurns: ByteTurns;
  /** Runs `step` in a later turn of the event loop. */
  later(step: () => void): void;
}
