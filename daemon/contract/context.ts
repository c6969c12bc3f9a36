// What a running config program can reach: the interfaces between generated code (with its runtime) and
// the worker's request and fetch state machines. The worker implements these; the runtime only uses them.
// Units: times in seconds (epoch for points in time), sizes in bytes.

import type { HttpMessage, MessageLog } from '../http1/message.ts';
import type { ExtensionFilter } from './body-filter.ts';
import type {
  EdgeReceipt,
  EdgeService,
  FleetReceipt,
  FleetService,
  Invalidation,
  SoftLives,
} from './invalidation.ts';
import type { Priv, PrivMap } from './priv.ts';
import type { CompiledProgram, ReturnCode, RunTimeDecl } from './program.ts';
import type { SharedState } from './shared-state.ts';
import type { Waiting } from './waiting.ts';

/** A BACKEND value: anything that can answer a fetch. Null is the program's `none`. */
export interface Director {
  /** Name as the program knows it, for logs and string conversion. */
  readonly vclName: string;
  /** A task may ask about its own object (saintmode); without one it is about any. */
  healthy(now: number, ctx?: VclContext | null): boolean;
  /** Finds the backend that will serve this fetch; null when none is usable. */
  resolve(ctx: VclContext): Director | null;
  /** Connections in use, of all backends below it. */
  readonly inUse: number;
  /** Its row of backend.list; null is not listed. Listed are those in VclProgram.directors. */
  readonly listed: DirectorListing | null;
  /** Its program became warm (probes run) or cold (nothing does). It is made cold, and asked only for a change. */
  setWarm(warm: boolean): void;
  /** Whether its health is the same for every task and changes with the epoch alone (health-epoch.ts); absent is no. */
  readonly isSteady?: boolean;
}

/** What the operator said with backend.set_health; `auto` leaves it to probes. */
export type AdminHealth = 'auto' | 'healthy' | 'sick';

/** A director's row of backend.list. Times in epoch seconds. */
export interface DirectorListing {
  /** Its type in the JSON output: backend, round-robin, fallback, random, hash, shard. */
  readonly type: string;
  /** Written by backend.set_health; healthy() of the director must follow it. */
  admin: AdminHealth;
  /** When health or `admin` changed last. */
  changedAt: number;
  /** Health without the operator's word. */
  measured(now: number): boolean;
  /** The column Probe, good/total; null shows 0/0 and no "probe" in the column Admin. */
  counts(now: number): { good: number; total: number } | null;
  /** The lines that -p adds below the row, blank ones included, made one by one. Tabs part cells, which stand in the same
   * columns as those of the rows (one layout for the whole table); each line of a director begins with a tab. */
  text(now: number): Iterable<string>;
  /** Value of probe_details in pieces, lines after the first indented as in the file (8 blanks); null leaves it out. */
  json(now: number): Iterable<string> | null;
}

export interface VclSession {
  /** Numeric address texts and ports, as in vcl-var(7) local.*, remote.*, client.ip, server.ip. */
  readonly remoteIp: string;
  readonly remotePort: number;
  readonly localIp: string;
  readonly localPort: number;
  clientIp: string;
  clientPort: number;
  serverIp: string;
  serverPort: number;
  /** Name of the -a listener and its address text. */
  readonly endpointName: string;
  readonly endpointSocket: string;
  readonly vxid: number;
  timeoutIdle: number;
  timeoutLinger: number;
  idleSendTimeout: number;
  sendTimeout: number;
  /** Attributes of a PROXY v2 preamble by their type, those inside SSL (0x20) beside it; null when there were none. */
  readonly proxyAttributes: ReadonlyMap<number, Uint8Array> | null;
  /** User and group of the process at the other end of a Unix socket; null when they cannot be known. */
  peerCredentials(): PeerCredentials | null;
}

export interface PeerCredentials {
  uid: number;
  gid: number;
}

/** obj.*: a read-only view of a cached object. */
export interface VclObject {
  readonly http: HttpMessage;
  readonly hits: number;
  readonly age: number;
  readonly ttl: number;
  readonly grace: number;
  readonly keep: number;
  readonly uncacheable: boolean;
  readonly storageName: string;
  readonly canEsi: boolean;
}

/** What a program sets in req.* and client.*. A restart keeps it; another program that takes over begins without. */
export class RequestSettings {
  esi = true;
  hashAlwaysMiss = false;
  hashIgnoreBusy = false;
  hashIgnoreVary = false;
  /** req.ttl and req.grace in seconds; negative when unset. */
  ttl = -1;
  grace = -1;
  /** Undefined until the program sets it: then the default backend serves. Null is none. */
  backendHint: Director | null | undefined = undefined;
  /** Null is the client's address. */
  clientIdentity: string | null = null;
  /** Stevedore name or null (req.storage). */
  storage: string | null = null;
}

/** What a restart begins again: the key and what answers under it. */
export interface VclAttempt {
  readonly vxid: number;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  /** The lookup key as hash_data() builds it. */
  readonly hashKey: string;
  respDoEsi: boolean;
  respFilters: string | null;
  /** Synthetic body of vcl_synth, a byte string. */
  synthBody: string | null;
}

/** req.*, resp.* and req_top.*. */
export interface VclRequest {
  readonly http: HttpMessage;
  readonly resp: HttpMessage;
  readonly session: VclSession;
  readonly attempt: VclAttempt;
  readonly settings: RequestSettings;
  readonly restarts: number;
  readonly esiLevel: number;
  readonly tReq: number;
  readonly top: VclRequest;
  readonly obj: VclObject | null;
  /** Whether the client takes gzip (req.can_gzip). */
  readonly canGzip: boolean;
  /** PRIV_TOP cells; used on the top request only, ended with it. */
  topPrivs: PrivMap | null;
  /** hash_data(): appends the strands to the key, and logs each that is not a NUL when the Hash tag is on. `more` is
   * left out for one strand, so that the usual call makes no array. */
  hashData(text: string, more?: readonly string[]): void;
  /** What resp.filters is while the program has not set it. */
  usualRespFilters(): string;
  readonly respIsStreaming: boolean;
  /** std.cache_req_body: whether the body is cached, or an answer to wait for; the limit is in bytes. */
  cacheBody(limit: number): boolean | Waiting;
  /** std.late_100_continue: ask for the body only when it is wanted, not when vcl_recv is over. */
  late100Continue: boolean;
  /** The whole request body once std.cache_req_body has it; null while it is not cached. */
  readonly cachedBody: VclKeptBody | null;
  /** vcl_hit and vcl_miss: purges what is under the request's key (`alone`: only the object found), or makes it stale
   * when `soft` is given; returns how many objects. */
  purge(soft: SoftLives | null, alone: boolean): number;
  /** vcl_miss and vcl_pass: the same for what will not be what this request is about to fetch, once that is whole. */
  purgeOthers(): void;
  /** return (vcl(label)) is about to be returned. */
  selectProgram(label: string): void;
  rollback(): void;
}

/** A request's body in storage. */
export interface VclKeptBody {
  readonly length: number;
  /** A copy. */
  bytes(): Buffer;
}

/** What a retry begins again. */
export interface VclFetchAttempt {
  readonly vxid: number;
  /** Whether the answer is a stale object that the origin has confirmed (beresp.was_304). */
  readonly was304: boolean;
  doStream: boolean;
  /** Body set in vcl_backend_error, a byte string. */
  synthBody: string | null;
}

/** bereq.* and beresp.*. */
export interface VclBusyobj {
  readonly bereq: HttpMessage;
  readonly beresp: HttpMessage;
  readonly attempt: VclFetchAttempt;
  readonly retries: number;
  readonly isBgFetch: boolean;
  uncacheable: boolean;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  backend: Director | null;
  /** The backend that answered, after the fetch (beresp.backend). */
  respBackend: Director | null;
  /** Where it answered from (beresp.backend.ip); null before the fetch. */
  readonly respEnds: { readonly remoteAddress: string; readonly remotePort: number } | null;
  /** Seconds; negative is "use the backend's or the parameter's". */
  connectTimeout: number;
  firstByteTimeout: number;
  betweenBytesTimeout: number;
  ttl: number;
  grace: number;
  keep: number;
  readonly age: number;
  doEsi: boolean;
  doGzip: boolean;
  doGunzip: boolean;
  /** Name of the storage the object is to go to; null is none, and then it cannot be stored. */
  storage: string | null;
  /** What the program has made of beresp.filters; null while it has not. */
  filters: string | null;
  /** What beresp.filters is until then. */
  usualFilters(): string;
  hasBody: boolean;
  /** `unset bereq.body`. */
  unsetBody(): void;
  readonly session: VclSession | null;
  /** bereq.time, epoch seconds. */
  readonly tStart: number;
  /** client.identity of the request that caused the fetch; null is the address. */
  readonly clientIdentity: string | null;
  /** Lookup key, as VclRequest.hashKey. */
  readonly hashKey: string;
  rollback(): void;
}

/** Counters that the runtime of programs moves. */
export type RuntimeCounter = 'losthdr' | 'ws_backend_overflow' | 'ws_client_overflow';

/** What the runtime asks of the worker beyond the current transaction. */
export interface VclHost {
  param(name: string): number | string | boolean;
  /** Epoch seconds of the worker's clock, for timestamps; `now` in a program is ctx.now. */
  now(): number;
  identity: string;
  hostname: string;
  /** What all threads have as one. */
  readonly shared: SharedState;
  /** The edge connector; null until a program that imports it is loaded. */
  readonly edge: EdgeService | null;
  /** Null without --fleet. */
  readonly fleet: FleetService | null;
  /** ban(): adds a ban; returns an error text or null. The edge hears of it where the task is given. */
  ban(expression: string, ctx?: VclContext): string | null;
  /** The same for a soft ban: what matches becomes stale. */
  softBan(expression: string, ctx?: VclContext): string | null;
  /** Purges by the surrogate keys in a text, or makes stale; returns how many objects. */
  purgeTags(keys: string, soft: boolean, ctx?: VclContext): number;
  /** Purges a URL, a path of the request's host or one with its host, or makes stale. Where the program has a vcl_hash of
   * its own, whose keys cannot be known, a ban does it, and says so. */
  purgeUrl(url: string, soft: boolean, ctx: VclContext): { purged: number; banned?: boolean };
  /** std.log and friends beyond the log record. */
  syslog(priority: number, text: string): void;
  /** Counts what only the runtime of programs sees. */
  count(counter: RuntimeCounter): void;
  stevedores(): string[];
  /** Storage figures for storage.<name>.*; null when there is no such stevedore. */
  storage(name: string): { freeSpace: number; usedSpace: number; happy: boolean } | null;
}

/** The transaction's log as a program sees it; `timestamp` adds a Timestamp record (epoch seconds). */
export interface VclLog extends MessageLog {
  timestamp(label: string, at: number): void;
}

/** Passed to every generated function. One object a task, for all of its states. */
export class VclContext {
  host: VclHost;
  /** The program this task runs. */
  vcl: VclProgram;
  log: VclLog;
  /** `now`: the same for the whole of one state. */
  now = 0;
  req: VclRequest | null = null;
  bo: VclBusyobj | null = null;
  /** Set by return (synth(status, reason)), return (error(...)). */
  synthStatus = 0;
  synthReason = '';
  /** Set by return (pass(duration)). */
  passTtl: number | null = null;
  /** Id of the state that runs, set by runState. */
  state = 0;
  /** Why the state failed, for the VCL_Error record. */
  failure: string | null = null;
  /** What the edge network is told of is not told it by this task any more (edge.local_only()). */
  localOnly = false;
  /** The same of the fleet (fleet.local_only()). */
  thisNodeOnly = false;
  /** What the edge's and the fleet's part of invalidations come to; the state is over when all are there. */
  owed: Promise<EdgeReceipt>[] | null = null;
  published: Promise<FleetReceipt>[] | null = null;
  /** What the fleet has of the last ones, in words; '' before. */
  fleetReply = '';
  /** Whether the program's way is logged, statement by statement. */
  tracing = false;
  /** PRIV_TASK cells of extensions; whoever ends the task ends them. */
  priv: PrivMap | null = null;
  /** Bytes that long texts have taken of the workspace. */
  roomTaken = 0;
  /** Something found no room there. */
  overflowed = false;

  constructor(host: VclHost, vcl: VclProgram, log: VclLog) {
    this.host = host;
    this.vcl = vcl;
    this.log = log;
  }

  /** Passes an invalidation of this task on to the edge and the fleet, unless the program limited it to this node. The
   * state of the program ends when the receipts in `owed` and `published` have arrived. */
  raise(event: Omit<Invalidation, 'origin'>): void {
    const { edge, fleet } = this.host;
    if (edge === null && fleet === null) return;
    const vxid = this.req?.attempt.vxid ?? this.bo?.attempt.vxid ?? 0;
    const whole = { ...event, origin: `vxid ${vxid}` };
    const receipt = this.localOnly ? null : edge?.invalidated(whole, this.vcl.compiled);
    if (receipt) {
      this.owed ??= [];
      this.owed.push(receipt);
    }
    if (fleet === null || this.thisNodeOnly) return;
    this.published ??= [];
    this.published.push(fleet.publish(whole));
  }

  /** The subject of a purge by the request's URL: host and path. */
  get urlSubject(): string {
    const http = this.req?.http;
    return http === undefined ? '' : `${http.get('host') ?? ''}${http.url}`;
  }
}

/** What happens to a program that imports an extension. */
export type ExtensionEvent = 'load' | 'warm' | 'cold' | 'discard';

/** The part of an extension that a loaded program keeps. */
export interface ImportedExtension {
  name: string;
  /** Body filters by the names that programs use. */
  filters?: Readonly<Record<string, ExtensionFilter>>;
  /** Called once per event with the PRIV_VCL cell: `load` before vcl_init, `discard` after vcl_fini. A text (or a thrown
   * ExtensionError) refuses `load` and `warm`; for the other events it is only logged. */
  event?: (ctx: VclContext, event: ExtensionEvent, priv: Priv) => string | undefined;
}

/** A state or sub as a generator: yields the results of calls that may wait. */
export type StateSteps = (ctx: VclContext) => Generator<unknown, ReturnCode, unknown>;

export interface ProgramObject {
  readonly self: object;
  readonly destroy: (self: object) => void;
}

/** A loaded program, made by vcl/loader.ts. */
export interface VclProgram {
  readonly name: string;
  readonly compiled: CompiledProgram;
  /** Directors by VCL name: declared backends and what vcl_init made. */
  readonly directors: Map<string, Director>;
  readonly defaultDirector: Director | null;
  /**
   * Finds or makes a backend while the program runs; null where there are none to be had.
   * @param lasting as long as the program; others go some minutes after their last use, and are asked for each time
   * @throws ExtensionError
   */
  makeBackend: ((decl: RunTimeDecl, lasting: boolean) => Director) | null;
  /** PRIV_VCL cells of extensions; ended when the program goes. */
  readonly privs: PrivMap;
  /** The extensions it imports, in the order of their imports. */
  readonly extensions: readonly ImportedExtension[];
  /** Each is made ready when it is first used, or before: prepare() does nothing the second time. */
  readonly regexes: readonly { prepare(): unknown }[];
  /** Objects that vcl_init made and that want to know when the program goes, in the order of their making. */
  readonly objects: ProgramObject[];
  /** Go on with what such objects have to do before the program may be used; false when there is no more of it. */
  readonly preparations: (() => boolean)[];
  /** One function a state id: user code, then the builtin program; returns a ReturnCode. */
  readonly states: readonly ((ctx: VclContext) => ReturnCode)[];
  /** Positions of generated lines in the program: generated line, file index, line and column, four numbers each. */
  readonly positions: Int32Array;
  /** By state id: whether the builtin program is all that the state runs. */
  readonly isPlain: readonly boolean[];
  /** By state id: the state where it makes calls that may wait, null where it makes none. */
  readonly waiting: readonly (StateSteps | null)[];
}
