// The interfaces between generated code (with its runtime) and the worker's request and fetch state machines. The
// worker implements them; the runtime only uses them. Units: times in seconds (epoch for points in time), sizes in
// bytes.

import type { Changes } from '../../protocol/tables/release-changes.ts';
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
import type { PeerTls } from './peer-tls.ts';
import type { Priv, PrivMap } from './priv.ts';
import type { CompiledProgram, ReturnCode, RunTimeDecl } from './program.ts';
import type { SharedState } from './shared-state.ts';
import type { Waiting } from './waiting.ts';

/** A BACKEND value: anything that can serve a fetch. Null is the program's `none`. */
export interface Director {
  /** Its name in the program, for logs and string conversion. */
  readonly vclName: string;
  /** With a task, the health for its object (saintmode); without one, for any object. */
  healthy(now: number, ctx?: VclContext | null): boolean;
  /** Selects the backend for this fetch; null if none is usable. */
  resolve(ctx: VclContext): Director | null;
  /** Asked where resolve() has named nothing: settles when asking again may name something, as after the first lookup of
   * a name. Null where waiting is of no use; never rejects. */
  pending?(ctx: VclContext): Promise<void> | null;
  /** Connections in use, of all its backends. */
  readonly inUse: number;
  /** Its row of backend.list; null if not listed. Listed are those in VclProgram.directors. */
  readonly listed: DirectorListing | null;
  /** The program became warm (probes run) or cold (they do not). It starts cold, and is called only for a change. */
  setWarm(warm: boolean): void;
  /** Whether its health is the same for every task and changes only with the epoch (health-epoch.ts); absent means
   * no. */
  readonly isSteady?: boolean;
}

/** The setting of backend.set_health; `auto` follows probes. */
export type AdminHealth = 'auto' | 'healthy' | 'sick';

/** A director's row of backend.list. Times in epoch seconds. */
export interface DirectorListing {
  /** Its type in the JSON output: backend, round-robin, fallback, random, hash, shard. */
  readonly type: string;
  /** Written by backend.set_health; healthy() of the director must follow it. */
  admin: AdminHealth;
  /** When health or `admin` changed last. */
  changedAt: number;
  /** Health regardless of `admin`. */
  measured(now: number): boolean;
  /** The column Probe, good/total; null shows 0/0 and no "probe" in the column Admin. */
  counts(now: number): { good: number; total: number } | null;
  /** Lazily generated lines that -p adds below the row, including blank ones. Tabs separate cells, which are aligned
   * with the columns of the rows (one layout for the whole table); each line of a director begins with a tab. */
  text(now: number): Iterable<string>;
  /** The value of probe_details in pieces, lines after the first indented by 8 spaces; null omits it. */
  json(now: number): Iterable<string> | null;
  /** Its addresses, if it has any of its own: the first of each family is listed. */
  addresses?(): { readonly ipv4?: string; readonly ipv6?: string };
}

export interface VclSession {
  /** Numeric addresses as text, and ports, as in vcl-var(7) local.*, remote.*, client.ip, server.ip. */
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
  /** Attributes of a PROXY v2 header by type, those nested in SSL (0x20) on the same level; null without one. */
  readonly proxyAttributes: ReadonlyMap<number, Uint8Array> | null;
  /** The TLS connection to the client; null without TLS here. */
  readonly tls: ClientTls | null;
  /** Limits of a connection of HTTP/2, which a program may change; null on HTTP/1. */
  readonly http2: Http2Limits | null;
  /** User and group of the peer process of a Unix socket; null if unknown. */
  peerCredentials(): PeerCredentials | null;
}

/** How many streams a client may open and reset at once (h2_rapid_reset, h2_rapid_reset_limit, h2_rapid_reset_period). */
export interface Http2Limits {
  /** Seconds within which a reset is a rapid one. */
  rapidReset: number;
  /** Rapid resets in a period; 0 for no limit. */
  rapidResetLimit: number;
  /** Seconds. */
  rapidResetPeriod: number;
  /** Rapid resets that are left now. */
  readonly rapidResetBudget: number;
}

/** The outcome of a TLS handshake with a client. */
export interface ClientTls {
  /** TLSv1.3 */
  readonly version: string;
  /** OpenSSL's name. */
  readonly cipher: string;
  readonly resumed: boolean;
  /** The name that the client asked for (SNI). */
  readonly authority: string | null;
  readonly alpn: string | null;
  /** The fingerprint, with the parameter tls_ja3. */
  readonly ja3: string | null;
  /** Algorithms of the certificate that was presented: its signature and its key. */
  readonly certSign: string;
  readonly certKey: string;
  readonly clientCert: ClientCert | null;
}

export interface ClientCert {
  /** Whether it comes from an authority of client-verify-ca, and is valid now. */
  readonly verified: boolean;
  /** RFC 4514, as in `CN=alice,O=Example`. */
  readonly subject: string;
  /** SHA-256, hexadecimal in lower case. */
  readonly fingerprint: string;
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

/** obj_stale.*: the object that a 304 confirms. */
export interface VclStaleObject extends VclObject {
  /** False once a purge or a ban has removed it. */
  readonly isValid: boolean;
}

/** Settings of a program in req.* and client.*. They survive a restart; a switch to another program resets them. */
export class RequestSettings {
  esi = true;
  hashAlwaysMiss = false;
  hashIgnoreBusy = false;
  hashIgnoreVary = false;
  /** req.slice in bytes; 0 is off. */
  slice = 0;
  /** req.parts. */
  parts = false;
  /** req.ttl and req.grace in seconds; negative when unset. */
  ttl = -1;
  grace = -1;
  /** Undefined until the program sets it: then the default backend is used. Null is none. */
  backendHint: Director | null | undefined = undefined;
  /** Null is the client's address. */
  clientIdentity: string | null = null;
  /** Stevedore name or null (req.storage). */
  storage: string | null = null;
  /** req.trace; null until the program sets it. */
  trace: boolean | null = null;
}

/** State that a restart resets: the key, and the response. */
export interface VclAttempt {
  readonly vxid: number;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  /** The lookup key built by hash_data(). */
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
  /** Whether the client accepts gzip (req.can_gzip). */
  readonly canGzip: boolean;
  /** PRIV_TOP cells; used in the top request only, and ended with it. */
  topPrivs: PrivMap | null;
  /** hash_data(): appends the strands to the key, and logs each except NUL if the Hash tag is on. `more` is omitted
   * for a single strand, so that the common call allocates no array. */
  hashData(text: string, more?: readonly string[]): void;
  /** The default of resp.filters. */
  usualRespFilters(): string;
  readonly respIsStreaming: boolean;
  /** req.filters, and whether they could be set: not once the body is being read, nor without one. */
  readonly bodyFilters: string;
  setBodyFilters(text: string): boolean;
  /** std.cache_req_body: whether the body is cached, or a Waiting; the limit is in bytes. */
  cacheBody(limit: number): boolean | Waiting;
  /** std.late_100_continue: request the body only when it is needed, not at the end of vcl_recv. */
  late100Continue: boolean;
  /** The complete request body after std.cache_req_body; null if it is not cached. */
  readonly cachedBody: VclKeptBody | null;
  /** In vcl_hit and vcl_miss: purges all objects of the request's key (`alone`: only the object found), or makes
   * them stale if `soft` is given; returns their number. */
  purge(soft: SoftLives | null, alone: boolean): number;
  /** In vcl_miss and vcl_pass: purges all other objects of the key once the fetch of this request is complete. */
  purgeOthers(): void;
  /** Called before return (vcl(label)). */
  selectProgram(label: string): void;
  rollback(): void;
}

/** A stored request body. */
export interface VclKeptBody {
  readonly length: number;
  /** A copy. */
  bytes(): Buffer;
}

/** State that a retry resets, but for do_gzip and do_gunzip. */
export interface VclFetchAttempt {
  readonly vxid: number;
  /** The address of the backend that responded (beresp.backend.ip); null before the fetch. */
  readonly respEnds: { readonly remoteAddress: string; readonly remotePort: number } | null;
  /** The TLS of the connection to it; null before the fetch, and without TLS. */
  readonly respTls: PeerTls | null;
  /** Whether the response is a stale object revalidated by the origin (beresp.was_304). */
  readonly was304: boolean;
  doStream: boolean;
  doEsi: boolean;
  doGzip: boolean;
  doGunzip: boolean;
  /** beresp.filters as set by the program; null if not set. */
  filters: string | null;
  /** Body set in vcl_backend_error, a byte string. */
  synthBody: string | null;
}

/** bereq.* and beresp.*. */
export interface VclBusyobj {
  readonly bereq: HttpMessage;
  readonly beresp: HttpMessage;
  readonly attempt: VclFetchAttempt;
  /** In vcl_backend_refresh: the stale object. */
  readonly stale: VclStaleObject | null;
  readonly retries: number;
  readonly isBgFetch: boolean;
  uncacheable: boolean;
  readonly isHitMiss: boolean;
  readonly isHitPass: boolean;
  backend: Director | null;
  /** The backend that responded, after the fetch (beresp.backend). */
  respBackend: Director | null;
  /** Seconds; negative for the default of the backend or the parameter. */
  connectTimeout: number;
  firstByteTimeout: number;
  betweenBytesTimeout: number;
  /** Whether a kept connection that the backend had closed may be replaced. */
  retryConnect: boolean;
  /** bereq.filters; null until the program sets them. */
  bodyFilters: string | null;
  /** Bytes that an uncacheable response may be ahead of its client; 0 for the usual number. */
  transitBuffer: number;
  /** Seconds that a pipe may last in all, unless 0. */
  taskDeadline: number;
  /** The parameters behind them, in seconds. */
  readonly params: {
    readonly connect_timeout: number;
    readonly first_byte_timeout: number;
    readonly between_bytes_timeout: number;
    readonly pipe_task_deadline: number;
  };
  /** bereq.trace; null until the program sets it or req.trace. */
  trace: boolean | null;
  ttl: number;
  grace: number;
  keep: number;
  readonly age: number;
  /** Name of the storage for the object; with null it cannot be stored. */
  storage: string | null;
  /** The default of beresp.filters. */
  usualFilters(): string;
  /** `unset bereq.body`. */
  unsetBody(): void;
  readonly session: VclSession | null;
  /** bereq.time, epoch seconds. */
  readonly tStart: number;
  /** client.identity of the request that started the fetch; null is the address. */
  readonly clientIdentity: string | null;
  /** Lookup key, as VclRequest.hashKey. */
  readonly hashKey: string;
  /** std.rfc_ttl: ttl, grace and keep again from the fields of beresp (RFC 9111 section 4.2). */
  recalculateLifetime(): void;
  rollback(): void;
}

/** Counters incremented by the runtime of programs. */
export type RuntimeCounter = 'losthdr' | 'ws_backend_overflow' | 'ws_client_overflow';

/** Services of the worker beyond the current transaction. */
export interface VclHost {
  param(name: string): number | string | boolean;
  /** Epoch seconds of the worker's clock, for timestamps; `now` in a program is ctx.now. */
  now(): number;
  identity: string;
  hostname: string;
  /** State shared by all threads. */
  readonly shared: SharedState;
  /** The edge connector; null until a program that imports it is loaded. */
  readonly edge: EdgeService | null;
  /** Null without --fleet. */
  readonly fleet: FleetService | null;
  /** The disk tier; null without one. Resolves with whether the invalidations so far would survive a loss of power. */
  readonly disk: { settled(): Promise<boolean> } | null;
  /** ban(): adds a ban; returns an error text or null. With a task, also for the edge and the fleet. */
  ban(expression: string, ctx?: VclContext): string | null;
  /** The same for a soft ban: matching objects become stale. */
  softBan(expression: string, ctx?: VclContext): string | null;
  /** Purges by the surrogate keys in a text, or makes stale; returns the number of objects. */
  purgeTags(keys: string, soft: boolean, ctx?: VclContext): number;
  /** Purges a URL (a path of the request's host, or a URL with its host), or makes it stale. If the program has its
   * own vcl_hash, its keys are unknown, and a ban is used instead (`banned`). */
  purgeUrl(url: string, soft: boolean, ctx: VclContext): { purged: number; banned?: boolean };
  /** Sends std.syslog messages. */
  syslog(priority: number, text: string): void;
  /** Increments a counter. */
  count(counter: RuntimeCounter): void;
  stevedores(): string[];
  /** Storage figures for storage.<name>.*; null if there is no such stevedore. */
  storage(name: string): { freeSpace: number; usedSpace: number; happy: boolean } | null;
}

/** The transaction's log for a program; `timestamp` adds a Timestamp record (epoch seconds). */
export interface VclLog extends MessageLog {
  timestamp(label: string, at: number): void;
  /** Writes a record that vsl_mask may leave out. */
  putUnmasked(tag: number, text: string): void;
  /** Writes a record of another transaction, or of none. */
  putFor(vxid: number, side: 'c' | 'b' | '-', tag: number, text: string): void;
}

/** The context passed to every generated function: one per task, for all of its states. */
export class VclContext {
  host: VclHost;
  /** The program of this task. */
  vcl: VclProgram;
  log: VclLog;
  /** `now`: constant within a state. */
  now = 0;
  req: VclRequest | null = null;
  bo: VclBusyobj | null = null;
  /** Set by return (synth(status, reason)), return (error(...)). */
  synthStatus = 0;
  synthReason = '';
  /** Set by return (pass(duration)). */
  passTtl: number | null = null;
  /** Id of the current state, set by runState(). */
  state = 0;
  /** Why the state failed, for the VCL_Error record. */
  failure: string | null = null;
  /** Invalidations of this task are no longer passed on to the edge (edge.local_only()). */
  localOnly = false;
  /** The same for the fleet (fleet.local_only()). */
  thisNodeOnly = false;
  /** Pending receipts of the edge and the fleet; the state ends when all have arrived. */
  owed: Promise<EdgeReceipt>[] | null = null;
  published: Promise<FleetReceipt>[] | null = null;
  /** Whether what was invalidated is on disk. */
  onDisk: Promise<boolean>[] | null = null;
  /** The latest receipt of the fleet as text; '' before. */
  fleetReply = '';
  /** Whether executed statements are logged. */
  tracing = false;
  /** PRIV_TASK cells of extensions, ended with the task. */
  priv: PrivMap | null = null;
  /** Workspace bytes used by long texts. */
  roomTaken = 0;
  /** A text did not fit into the workspace. */
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
    this.awaitDisk();
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

  /** The state ends when the invalidations so far are on disk, or cannot be written. */
  awaitDisk(): void {
    const { disk } = this.host;
    if (disk === null) return;
    this.onDisk ??= [];
    this.onDisk.push(disk.settled());
  }

  /** The subject of a purge by the request's URL: host and path. */
  get urlSubject(): string {
    const http = this.req?.http;
    return http === undefined ? '' : `${http.get('host') ?? ''}${http.url}`;
  }
}

/** An event in the life of a program that imports an extension. */
export type ExtensionEvent = 'load' | 'warm' | 'cold' | 'discard';

/** The parts of an extension that a loaded program keeps. */
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
  /** Its flags where releases of Varnish differ. */
  readonly changes: Changes;
  /** Directors by VCL name: declared backends and those created in vcl_init. */
  readonly directors: Map<string, Director>;
  readonly defaultDirector: Director | null;
  /**
   * Finds or creates a backend at run time; null if that is not possible.
   * @param lasting until the program is discarded; others are removed some minutes after their last use, and
   * requested each time
   * @throws ExtensionError
   */
  makeBackend: ((decl: RunTimeDecl, lasting: boolean) => Director) | null;
  /** PRIV_VCL cells of extensions; ended when the program goes. */
  readonly privs: PrivMap;
  /** The imported extensions, in the order of their imports. */
  readonly extensions: readonly ImportedExtension[];
  /** Compiled when first used, or ahead of it: prepare() has no effect the second time. */
  readonly regexes: readonly { prepare(): unknown }[];
  /** Objects created in vcl_init with a destructor, in the order of creation. */
  readonly objects: ProgramObject[];
  /** Continue initializations of such objects before the program may be used; false when complete. */
  readonly preparations: (() => boolean)[];
  /** One function per state id: user code, then the builtin program; returns a ReturnCode. */
  readonly states: readonly ((ctx: VclContext) => ReturnCode)[];
  /** Positions of generated lines in the program: generated line, file index, line and column, four numbers each. */
  readonly positions: Int32Array;
  /** By state id: whether the builtin program is all that the state runs. */
  readonly isPlain: readonly boolean[];
  /** By state id: the generator form of a state with calls that may wait; null without any. */
  readonly waiting: readonly (StateSteps | null)[];
}
