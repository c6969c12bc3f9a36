// Changes of Varnish between 7.1 and 9.0 that a program, a client or a script notices: one row each. Code asks
// the rows of a program (`program.changes`), and param.show, proxy-vcl(7), the list of daemon/differences and
// `proxyd --lint --release 9.0` are made from them. What was only added is not here: it is there always.
// Sources: the public release notes and upgrade notes of each release (doc/sphinx/whats-new, doc/changes.rst).

/** Values of the parameter varnish_release. */
export const RELEASES = ['7.1', '9.0'] as const;

export type Release = (typeof RELEASES)[number];

export interface ReleaseChange {
  /** The release of Varnish that brought it. */
  readonly since: '7.2' | '7.3' | '7.4' | '7.5' | '7.6' | '7.7' | '8.0' | '9.0';
  /** A few words, which begin the entry. */
  readonly topic: string;
  /** Behaviour of 7.1. Markdown, one or two sentences. */
  readonly before: string;
  /** Behaviour of the newer release. Markdown, one or two sentences. */
  readonly after: string;
  /**
   * `parameter`: follows varnish_release. `always`: the newer behaviour in both, because it mends a defect.
   */
  readonly here: 'parameter' | 'always';
  /** The reason for `here`, or what to do. Markdown, one sentence. */
  readonly why: string;
}

const follows = (
  since: ReleaseChange['since'],
  topic: string,
  before: string,
  after: string,
  why: string,
): ReleaseChange & { here: 'parameter' } => ({ since, topic, before, after, here: 'parameter', why });

const mended = (
  since: ReleaseChange['since'],
  topic: string,
  before: string,
  after: string,
  why: string,
): ReleaseChange & { here: 'always' } => ({ since, topic, before, after, here: 'always', why });

// biome-ignore format: a row is one change, not eight lines
export const RELEASE_CHANGES = {
  requestVia: follows('7.2', 'Via',
    'Requests go on without a word of this proxy, and a Via of the origin is followed by a line of our own.',
    'Before `vcl_recv` a member is added to the Via of the request, and to that of the response ahead of `vcl_deliver`, in one line each.',
    'Programs that compare `req.http.Via` see another value.'),
  backendCloseNames: follows('7.5', 'Reasons in BackendClose',
    'Words, as in `Receive timeout`.',
    'The names of SessClose, as in `RX_TIMEOUT`.',
    'Readers of the log match one or the other.'),
  idSums: follows('7.3', 'Sums of ids',
    '`req.xid`, `bereq.xid` and `sess.xid` are text where text fits: `req.xid + 1` appends a digit.',
    'They are numbers: `req.xid + 1` is the next one.',
    'In both they are text beside text, and can be compared with either.'),
  headersBeforeBeresp: follows('7.3', 'Place of the Beresp timestamp',
    'Ahead of the headers of the response.',
    'After those that the origin sent.',
    'Origins log their headers themselves.'),
  malformedStart: follows('7.3', 'ReqStart of malformed requests',
    'A request whose head cannot be read has no ReqStart record, and access logs show no client.',
    'It has one, after its HttpGarbage.',
    'Scripts that ban clients by their access logs see these, too.'),
  sessionErrors: follows('7.6', 'Errors of HTTP/2',
    'Rules of HTTP/2 that a client has broken are Error records of its session: `HTTP/2 PROTOCOL_ERROR: …`.',
    'They are SessError records: `H2: PROTOCOL_ERROR: …`.',
    'Readers of the log match one or the other.'),
  countsOnce: follows('7.2', 'Requests that have waited in client_req',
    '`MAIN.client_req` counts a request again each time that it is resumed after it waited for the fetch of another.',
    'It counts each request once.',
    '`MAIN.client_req_again` is the number of those counted again, in both.'),
  nextId: follows('7.3', 'Ids and debug.xid',
    '`debug.xid 999` makes the next id 1000, and `debug.xid` shows the last one.',
    '`debug.xid 1000` makes the next id 1000, and `debug.xid` shows the next one.',
    'Scripts set it to know the ids of their requests.'),
  softShortens: follows('7.7', 'Lifetimes of purge.soft()',
    'It sets ttl, grace and keep, also longer ones, and the ttl of what is stale already ends anew.',
    'It only shortens them: what is longer than an object has, or negative, leaves it as it is, and so does a ttl of what is stale.',
    'A purge is not to let anything live longer.'),
  esiLevelInLog: follows('7.2', 'Level of a fragment in Begin and Link',
    '`req 12 esi`.',
    '`req 12 esi 1`: the level follows.',
    'Log tools choose by it (`-E`).'),
  esiDepthWords: follows('7.3', 'Word for too deep pages',
    'VCL_Error says `ESI depth limit reach`.',
    'It says `reached`.',
    'Readers of the log match one or the other.'),
  requestReset: follows('7.5', 'Clients that leave',
    'The request of a client that left before its response ends without a word.',
    'Its log has a Reset timestamp and status 408, and `MAIN.req_reset` counts it; `feature -vcl_req_reset` turns that off.',
    'Streams of HTTP/2 that are taken back show up in the log.'),
  processOnlyAtEnd: follows('7.5', 'Process timestamp',
    'It is there each time that `vcl_deliver` ends.',
    'It is left out where the request goes on to a restart, `vcl_synth` or a failure.',
    'It tells when a response is ready.'),
  endOfInputWords: follows('7.5', 'Words for a backend that closes',
    'FetchError says `HTC eof (-1)`.',
    'It says `HTC eof (Unexpected end of input)`.',
    'Readers of the log match one or the other.'),
  unknownMethods: follows('8.0', 'Unknown methods',
    'The builtin program makes a tunnel (`return (pipe)`) of a request whose method it does not know.',
    'It answers 501 and closes the connection.',
    'To keep the tunnel for a method, return it from `vcl_req_method`.'),
  targetForm: follows('9.0', 'Form of the URL',
    'The builtin program looks up whatever `req.url` is.',
    'It answers 400 unless `req.url` begins with a slash; OPTIONS may ask for `*`, and CONNECT is left to `vcl_req_method`.',
    'Programs that give `req.url` another form return from `vcl_req_url`.'),
  strayContentRange: follows('7.6', 'Content-Range in a whole response',
    'A Content-Range in a response that is neither 206 nor 416 is kept.',
    'The builtin program removes it (`vcl_beresp_range`).',
    'RFC 9110 section 14.4 gives it no meaning there.'),
  sharedArrivals: follows('8.0', 'Waiting requests',
    'Requests that wait for a fetch look up again when it is there: a response without a ttl is not found, and they are served one after the other.',
    'All who wait get what arrives, also with a ttl of 0, unless it is uncacheable.',
    'A response that came after a request is new enough for it.'),
  refreshState: follows('8.0', 'A 304 of the origin',
    'Core merges the headers of a stale object with those of the 304 that confirms it, unless the program has a part in `vcl_backend_refresh`.',
    'The builtin `vcl_backend_refresh` decides: it merges, and fails with 503 when nobody asked for a 304 (`Unexpected 304`) or the stale object has been purged or banned meanwhile (`Invalid object for refresh`).',
    'To fetch the whole instead, return (retry) from `vcl_refresh_valid` or `vcl_backend_error`.'),
  invalidatedStale: mended('9.0', 'Purged while it is revalidated',
    'A retry asks with the conditions of the first try, also about an object that has been purged or banned meanwhile.',
    'Such a retry asks for the whole: core removes If-None-Match and If-Modified-Since.',
    'What has been purged must not come back with a 304. Whether there is a retry is left to the program, as in the users’ guide of 9.0: the builtin one fails.'),
  pipeTimeouts: follows('7.5', 'Reason of idle pipes',
    'A pipe that was idle for pipe_timeout ends with the reason TX_PIPE.',
    'It ends with RX_TIMEOUT (`SessClose`, `BackendClose`, `MAIN.sc_rx_timeout`).',
    'A pipe that lasts longer than pipe_task_deadline ends with RX_TIMEOUT in any case.'),
  expiryWords: follows('7.5', 'Words of ExpKill',
    '`EXP_expire`, and a purge is logged as an expiry.',
    '`EXP_Inspect`; `EXP_Expired` has the hits of an object (`h=`), any other end of one is `EXP_Removed`, ahead of it `VBF_Superseded` names the object that takes its place.',
    'The tag is masked by default.'),
  esiColon: follows('8.0', 'Complaints about edge-side includes',
    'ESI_xmlerror begins with `ERR after` or `WARN after`.',
    'It begins with `ERR: after` or `WARN: after`.',
    'With the colon a query can select them by prefix.'),
  backendOpenAge: follows('9.0', 'Reused connections in BackendOpen',
    'The record ends with `reuse`.',
    'Behind it are the age of the connection in seconds, and how often it was used again.',
    'It helps with origins that close idle connections.'),
  plainLists: follows('7.4', 'Columns of vcl.list and backend.list',
    'They have gaps of different widths, and `backend.list -j -p` no addresses.',
    'All gaps have three spaces, and `backend.list -j -p` has the `ipv4` and `ipv6` of each backend.',
    'Scripts that cut at positions see the difference.'),
  accessLogHeaders: follows('7.7', 'Headers and handling in access logs',
    '`%{X}i` and `%{X}o` of `proxyncsa` show the last header of several, also if the program set or removed it; `%{Varnish:handling}x` is `miss` or `pass` after a marker.',
    'They show headers as they came from the client and went to it, or went to the backend and came from it; the handling is `hitmiss` or `hitpass`.',
    '`%{X:first}i` and `%{X:last}i` see what the program set with both.'),
  traceOnRequest: follows('7.4', 'VCL_trace',
    'The statements of all requests are logged if `vsl_mask` has `+VCL_trace`.',
    'Only those with `req.trace` or `bereq.trace`, or of all with `feature +trace`.',
    'The records are many.'),
  parameterBounds: follows('9.0', 'Defaults and bounds of parameters',
    '`cli_limit` is 48k, `ban_any_variant` 10000, `timeout_idle` and `idle_send_timeout` have no maximum, `vsl_mask` leaves out VCL_trace, and `feature` is `+validate_headers`.',
    '`cli_limit` is 64k, `ban_any_variant` 0, both timeouts are at most an hour, VCL_trace is written, and `feature` has `+https_scheme` and `+vcl_req_reset`, too.',
    'A parameter that was set keeps its value.'),
  commandErrors: follows('7.7', 'Errors of commands',
    'A duration that cannot be read is an `Invalid number`, `param.set debug default` an error, an open quote an `Unknown request`, too, and a ban may test `req.http.`, a header without a name.',
    'It is an `Invalid duration unit`, `default` is the default of every set of bits, an open quote only a `Syntax Error`, and such a ban an error.',
    'Scripts match one or the other.'),
  bitSets: follows('7.7', 'Bits in param.show',
    '`param.show` lists the bits of `feature`, `debug` and `vsl_mask` with their signs.',
    'The list begins with what the others are, as in `none,+http2` and `all,-Debug`.',
    'Both forms can be given to `param.set` with either.'),
  parameterAliases: follows('7.2', 'Parameters vcc_err_unref and vcc_unsafe_path',
    '`param.show` lists them.',
    'They are old names of bits of `vcc_feature`, and not listed.',
    'They can be set with both.'),
  foldedAcls: follows('8.0', 'Folded acls',
    'The entries of an acl stay as they are, unless it has `+fold`.',
    'Entries that are part of others are left out and adjacent ones joined, with a warning for each, unless it has `-fold`.',
    'Addresses match as before; the log (VCL_acl) names other networks.'),
  protectedFields: follows('7.4', 'Protected headers',
    'A program may set and unset Content-Length and Transfer-Encoding; core frames the body as it has to.',
    'Setting or unsetting them is a compile error.',
    'To drop a body, unset it: `unset bereq.body`.'),
  removedFunctions: follows('8.0', 'Removed functions',
    '`std.real2integer`, `std.real2time`, `std.time2integer`, `std.time2real` and `cookie.format_rfc1123` can be called.',
    'They are unknown.',
    'Newer functions take their place, in both: `std.integer`, `std.time`, `std.real` and `cookie.format_date`.'),
  storageHint: follows('9.0', 'Removed variable',
    '`beresp.storage_hint` is there in version 4.0 of the language.',
    'It is unknown, in both versions of the language.',
    'Set `beresp.storage` to a storage instead of its name.'),
  markerScopes: follows('7.7', 'Where req.is_hitmiss and req.is_hitpass are',
    'They can be read in all states of a request.',
    'They can be read in vcl_pass, vcl_deliver and vcl_synth, and `req.is_hitmiss` in vcl_miss.',
    'Elsewhere they have no value yet, or an old one.'),
  rootedGlobs: follows('7.7', 'Paths of include +glob',
    'A pattern may begin with a name, and is then one beside the including file.',
    'A pattern begins with `/` or `./`, and any other is a compile error.',
    'No pattern was ever looked for in vcl_path.'),
  openRanges: follows('7.3', 'Ranges of bodies whose length is not known',
    'A range of a body that still streams, or that is unpacked for its client, is answered with all of it (200).',
    'It is answered with the part if both of its ends are given: 206 with `*` for the length, as in `bytes 0-3/*`.',
    'If the body turns out to be shorter, the part is.'),
  programRange: follows('8.0', 'Ranges that the program asks for',
    'A part that the client has not asked for is an error, also where the program has set `bereq.http.Range`.',
    'A part has to be that of `bereq.http.Range` as `vcl_backend_fetch` left it.',
    'Programs that keep parts under keys of their own work with both values of http_range_support.'),
  oldModified: follows('7.3', 'If-Modified-Since',
    'A stale object is refreshed with the Last-Modified that it has.',
    'Only with one that is at least a second older than its Date: of two versions made in one second it names neither (RFC 9110 section 8.8.2.2).',
    'An ETag is sent in any case.'),
  cookieEnd: follows('7.2', 'End of cookie.get_string()',
    'The text ends with a semicolon, as in `a=1; b=2;`.',
    'It does not, as in `a=1; b=2`.',
    'Origins see another Cookie header, and keys that hold it change.'),
  restrictedCalls: follows('7.4', 'Where functions of extensions may be called',
    'Some functions fail, or do nothing, where they have no meaning, such as those of `proxy` in a fetch.',
    'A program that calls them there does not compile.',
    'A mistake is found when the program is loaded.'),
  emptyBodies: follows('9.0', 'Requests without a body',
    'A fetch has the Content-Length of its request, if that was 0, and else none.',
    'It has `Content-Length: 0`, and none with GET, HEAD, DELETE, OPTIONS and TRACE.',
    'RFC 9110 section 8.6 asks for it where a body could be expected.'),
  requestBodyFailures: follows('8.0', 'Bodies of requests that break off',
    'A body that cannot be read is answered with 503, or with nothing if it was to be kept (`std.cache_req_body()`).',
    'It is answered with 400, which `vcl_backend_error` sees as `beresp.status`.',
    'The client was wrong, and not the origin.'),
  keptBodyDropped: follows('7.4', 'Dropping a kept body',
    '`unset bereq.body;` does nothing for a GET whose body was kept by `std.cache_req_body()`, if it is not to be cached.',
    'It drops the body.',
    'The statement says so.'),
  fragmentStatuses: follows('7.5', 'Statuses of fragments',
    'With `feature +esi_include_onerror` a fragment fails if its body breaks off or cannot be had.',
    'It also fails if its status is neither 200 nor 204: the page ends there, or goes on without it if the include has `onerror="continue"`.',
    'Without the flag, which is not set by default, every fragment is included.'),
  depthFails: follows('7.4', 'Fragments that are too deep',
    'An include below `max_esi_depth` is left out, also with `feature +esi_include_onerror`.',
    'With that flag it fails: the page ends there, or goes on without it if the include has `onerror="continue"`.',
    'Without the flag, which is not set by default, it is left out.'),
  identityToken: mended('7.2', 'Names of instances',
    'The identity (`-i`) may be any text.',
    'It is a token, without spaces, slashes, brackets and the like.',
    'It stands in Via, and origins would misread it. In a host name, the default, such characters are `_`.'),
  gracefulStop: mended('8.0', 'Stop',
    '`stop` and SIGTERM end the worker at once, in the middle of responses.',
    'Transactions under way are finished first.',
    'Here they have `stop_timeout` (8 s) for it, where Varnish waits without a limit; 0 stops at once.'),
  zeroTimeouts: follows('7.5', 'Timeouts of zero',
    'A timeout of a fetch that is 0 is not set: that of the backend holds, and where it is 0, too, the parameter.',
    'It is over at once, and so is a negative one, which reads as 0.000 here and as it is there.',
    'To have the default, unset it, or leave out the attribute of the backend.'),
  shownTimeouts: follows('7.5', 'Timeouts that are not set',
    '`bereq.connect_timeout`, `bereq.first_byte_timeout` and `bereq.between_bytes_timeout` read as 0 unless they are set.',
    'They read as the parameters of the same names.',
    'In both, the attributes of the backend come before the parameters.'),
  closesMalformed: mended('7.7', 'Malformed requests',
    'Some malformed requests get their 400 on a connection that stays open.',
    'The connection is closed after any malformed request.',
    'Nobody knows where the next request would begin.'),
} as const satisfies Record<string, ReleaseChange>;

export type ChangeName = keyof typeof RELEASE_CHANGES;

/** For each change that follows the parameter, whether the newer behaviour holds. */
export type Changes = {
  readonly [N in ChangeName as (typeof RELEASE_CHANGES)[N]['here'] extends 'parameter' ? N : never]: boolean;
};

function changesFor(release: Release): Changes {
  const names = Object.entries(RELEASE_CHANGES).filter(([, { here }]) => here === 'parameter');
  return Object.freeze(Object.fromEntries(names.map(([name]) => [name, release === '9.0']))) as Changes;
}

const CHANGES: Readonly<Record<Release, Changes>> = { '7.1': changesFor('7.1'), '9.0': changesFor('9.0') };

/** The changes under a value of varnish_release. */
export function changesOf(release: Release): Changes {
  return CHANGES[release];
}
