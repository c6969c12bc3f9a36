// Every parameter of the daemon, one row each: the output of `param.show` and the values that `param.set` accepts.
//
// Names, defaults, units and bounds are Varnish's; a parameter that would mean nothing
// here is a row of ABSENT_PARAMS with the reason: it can be set, which has no effect, and is not listed.
// Values are texts in the form in which they are shown ('120.000', '0.25k', 'on'); daemon/params parses them.

export type ParamType =
  /** Seconds with fractions, shown with three digits. */
  | 'timeout'
  /** Bytes with a unit letter. */
  | 'bytes'
  /** A whole number. */
  | 'uint'
  /** A number with fractions, shown as short as possible. */
  | 'real'
  | 'bool'
  /** A set of +bit and -bit; `bits` lists them. */
  | 'bits'
  /** Which log tags are written; its bits are the tags. */
  | 'mask'
  | 'string'
  /** One of `choices`. */
  | 'choice'
  /** The name of a header that the proxy uses for its ids. */
  | 'header'
  /** The name of a storage. */
  | 'storage';

export type ParamFlag =
  | 'obj_sticky'
  | 'delayed_effect'
  | 'must_restart'
  | 'must_reload'
  | 'experimental'
  | 'build_options'
  /** Made read-only at the start (-r); no row of this table sets it. */
  | 'protected';

export interface ParamRow {
  readonly name: string;
  readonly type: ParamType;
  readonly default: string;
  /** What the default is where the machine decides it; `default` is then that of the smallest machine. */
  readonly defaultIs?: string;
  readonly min?: string;
  readonly max?: string;
  /** A bound that another parameter sets: its name, and what is added to its value. */
  readonly minBy?: readonly [param: string, plus: number];
  readonly maxBy?: readonly [param: string, plus: number];
  /** As shown in brackets; absent is none. */
  readonly unit?: string;
  readonly flags?: readonly ParamFlag[];
  readonly choices?: readonly string[];
  readonly bits?: readonly { readonly name: string; readonly help: string }[];
  readonly help: string;
}

/** Threads of a worker. */
export const MOST_THREADS = 64;

const FEATURES = [
  { name: 'short_panic', help: 'Keep only the first lines of a panic report.' },
  { name: 'no_coredump', help: 'No effect here: the platform decides about core files.' },
  {
    name: 'https_scheme',
    help: 'No effect here: the host of a target that begins with https:// replaces Host in any case.',
  },
  {
    name: 'http_date_postel',
    help: 'Take a date with a day of the month of one digit, too.',
  },
  {
    name: 'esi_ignore_https',
    help: 'Fetch an ESI include of an https:// address over http; without it such an include is dropped with a warning.',
  },
  {
    name: 'esi_disable_xml_check',
    help: 'Look for ESI tags in bodies that do not begin with a "<", too.',
  },
  {
    name: 'esi_ignore_other_elements',
    help: 'Look for ESI tags inside the tags of other elements, too.',
  },
  {
    name: 'esi_remove_bom',
    help: 'Drop a byte order mark at the start of an ESI body, which else is delivered unprocessed.',
  },
  {
    name: 'esi_include_onerror',
    help: 'End the delivery of a page at an include that failed, unless it has onerror="continue". Without the flag a page goes on in any case.',
  },
  { name: 'wait_silo', help: 'No effect here: there are no silos.' },
  {
    name: 'validate_headers',
    help: 'Refuse header values, set by the program, with control characters. Those that would end the line are refused in any case.',
  },
  { name: 'busy_stats_rate', help: 'No effect here: counters are right at every moment.' },
  {
    name: 'lenient_lf',
    help: 'Take LF alone for the end of a line in the heads of requests, as typed by hand into netcat. All else stays strict, chunks included.',
  },
] as const;

const DEBUG_BITS = [
  {
    name: 'req_state',
    help: 'Log each step of a request and of a fetch (Debug), end the worker where one is resumed twice or holds an object after its end, and overwrite what was read from clients and origins once it should have been used, and storage that is freed.',
  },
  { name: 'workspace', help: 'No effect here.' },
  { name: 'waitinglist', help: 'No effect here.' },
  { name: 'syncvsl', help: 'No effect here.' },
  { name: 'hashedge', help: 'No effect here.' },
  { name: 'vclrel', help: 'No effect here.' },
  { name: 'lurker', help: 'Log what the ban lurker does.' },
  { name: 'esi_chop', help: 'No effect here.' },
  { name: 'flush_head', help: 'No effect here.' },
  { name: 'vtc_mode', help: 'No effect here.' },
  { name: 'witness', help: 'No effect here.' },
  { name: 'vsm_keep', help: 'No effect here.' },
  { name: 'slow_acceptor', help: 'No effect here.' },
  { name: 'h2_nocheck', help: 'No effect here.' },
  { name: 'vmod_so_keep', help: 'No effect here.' },
  { name: 'processors', help: 'No effect here.' },
  { name: 'protocol', help: 'No effect here.' },
  { name: 'vcl_keep', help: 'No effect here.' },
  { name: 'lck', help: 'No effect here.' },
] as const;

export const PARAMS = [
  {
    name: 'auto_restart',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'Start a new worker when the worker has died.',
  },
  {
    name: 'backend_idle_timeout',
    type: 'timeout',
    default: '60.000',
    min: '1.000',
    unit: 'seconds',
    help: 'How long an unused connection to a backend is kept for the next request.',
  },
  {
    name: 'backend_local_error_holddown',
    type: 'timeout',
    default: '10.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'After a connection attempt failed for a reason on this side (no free address, not permitted), attempts to the same address fail at once for this long.',
  },
  {
    name: 'backend_remote_error_holddown',
    type: 'timeout',
    default: '0.250',
    min: '0.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'After a connection was refused or its network could not be reached, attempts to the same address fail at once for this long.',
  },
  {
    name: 'ban_cutoff',
    type: 'uint',
    default: '0',
    min: '0',
    unit: 'bans',
    flags: ['experimental'],
    help: 'The longest list of bans that is put up with: objects that were last tested against an older ban than this many are removed without a test. 0 sets no limit.',
  },
  {
    name: 'ban_dups',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'A new ban completes older bans with the same expression, so that objects are tested against it once.',
  },
  {
    name: 'ban_lurker_age',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    help: 'The ban lurker leaves bans alone until they are this old. Bans often come in bursts; set it to about the length of one.',
  },
  {
    name: 'ban_lurker_batch',
    type: 'uint',
    default: '1000',
    min: '1',
    help: 'The ban lurker begins so many objects every ban_lurker_sleep.',
  },
  {
    name: 'ban_lurker_holdoff',
    type: 'timeout',
    default: '0.010',
    min: '0.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'How long the ban lurker stands back when requests are waiting.',
  },
  {
    name: 'ban_lurker_sleep',
    type: 'timeout',
    default: '0.010',
    min: '0.000',
    unit: 'seconds',
    help: 'The pace of the ban lurker: ban_lurker_batch objects each time. Zero switches the lurker off.',
  },
  {
    name: 'between_bytes_timeout',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    help: 'A fetch fails when the backend sends nothing for this long in the middle of a response. A backend or a request may set its own value. Pipes have none.',
  },
  {
    name: 'cli_limit',
    type: 'bytes',
    default: '48k',
    min: '128b',
    max: '99999999b',
    unit: 'bytes',
    help: 'The longest answer to a command. A longer one is cut, gets status 201 instead of 200 and says so in its last line.',
  },
  {
    name: 'cli_timeout',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How long the manager waits for a sign of life of the worker before it takes the worker for dead, and how long whoever gave a command waits for its answer before being told that the command goes on. A quarter of a second at least.',
  },
  {
    name: 'clock_skew',
    type: 'uint',
    default: '10',
    min: '0',
    unit: 'seconds',
    help: 'How far the clock of a backend may be ahead or behind before its Date and Expires are read against its own clock.',
  },
  {
    name: 'clock_step',
    type: 'timeout',
    default: '1.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How far the system’s clock may be set back before a Notice and a warning tell of it.',
  },
  {
    name: 'connect_timeout',
    type: 'timeout',
    default: '3.500',
    min: '0.000',
    unit: 'seconds',
    help: 'How long a connection to a backend may take to come up. A backend or a request may set its own value.',
  },
  {
    name: 'debug',
    type: 'bits',
    default: 'none',
    bits: DEBUG_BITS,
    help: 'Aids for the makers of this program.',
  },
  {
    name: 'default_grace',
    type: 'timeout',
    default: '10.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['obj_sticky'],
    help: 'For how long after its end of life an object may still be served while a new copy is fetched.',
  },
  {
    name: 'default_keep',
    type: 'timeout',
    default: '0.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['obj_sticky'],
    help: 'For how long after TTL and grace an object is kept so that the backend can be asked whether it has changed.',
  },
  {
    name: 'default_ttl',
    type: 'timeout',
    default: '120.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['obj_sticky'],
    help: 'The life of an object when neither the response nor the program gives one.',
  },
  {
    name: 'esi_parallel',
    type: 'uint',
    default: '16',
    min: '1',
    max: '256',
    unit: 'fragments',
    help: 'How many ESI includes of one page are fetched at the same time. They are written in the order of the page; 1 fetches each when its turn comes, as Varnish does.',
  },
  {
    name: 'feature',
    type: 'bits',
    default: '+validate_headers',
    bits: FEATURES,
    help: 'Switches for small things.',
  },
  {
    name: 'fetch_chunksize',
    type: 'bytes',
    default: '16k',
    min: '4k',
    unit: 'bytes',
    flags: ['experimental'],
    help: 'No effect here: a body takes storage in pieces of the size in which it arrives.',
  },
  {
    name: 'fetch_maxchunksize',
    type: 'bytes',
    default: '0.25G',
    min: '64k',
    unit: 'bytes',
    flags: ['experimental'],
    help: 'No effect here: a body takes storage in pieces of the size in which it arrives.',
  },
  {
    name: 'first_byte_timeout',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How long a backend may take to the first byte of its response. A backend or a request may set its own value. Pipes have none.',
  },
  {
    name: 'fleet_catch_up',
    type: 'timeout',
    default: '10.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How long a node of a fleet that has missed messages holds back what it fetched before, until they are applied. After that it bans all of it.',
  },
  {
    name: 'fleet_gap',
    type: 'choice',
    choices: ['catch-up', 'serve'],
    default: 'catch-up',
    help: 'What a node of a fleet does that has missed messages.\n\ncatch-up: it does not serve what it fetched before until they are applied, for fleet_catch_up at most.\n\nserve: it serves on, says so, and applies them meanwhile.',
  },
  {
    name: 'fleet_timeout',
    type: 'timeout',
    default: '5.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How long whoever invalidates something waits for the fleet to store it, before the answer is 504.',
  },
  {
    name: 'fleet_wait',
    type: 'timeout',
    default: '1.000',
    min: '0.000',
    unit: 'seconds',
    help: 'How long the same answer waits, once it is stored, for the other nodes to apply it. Nodes that are known to be behind are not waited for.',
  },
  {
    name: 'gzip_buffer',
    type: 'bytes',
    default: '32k',
    min: '2k',
    unit: 'bytes',
    flags: ['experimental'],
    help: 'The size of the pieces in which bodies are packed. Those for unpacking are 64 KiB.',
  },
  {
    name: 'gzip_level',
    type: 'uint',
    default: '6',
    min: '0',
    max: '9',
    help: 'How hard gzip tries: 0 does not compress, 1 is fast, 9 is small.',
  },
  {
    name: 'gzip_memlevel',
    type: 'uint',
    default: '8',
    min: '1',
    max: '9',
    help: 'How much memory gzip takes, from 1 to 9; each step doubles it.',
  },
  {
    name: 'heuristic_ttl_max',
    type: 'timeout',
    default: '86400.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['obj_sticky'],
    help: 'The longest life that http_profile=rfc9111 gives a response that only says when it was last modified: a tenth of its age then, but no more than this.',
  },
  {
    name: 'http_gzip_support',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'Ask backends for gzip, store what they send, and unpack it for clients that do not take gzip.\n\nOff: Accept-Encoding goes through unchanged, and beresp.do_gzip and beresp.do_gunzip do nothing.',
  },
  {
    name: 'http_max_hdr',
    type: 'uint',
    default: '64',
    min: '32',
    max: '65535',
    unit: 'header lines',
    help: 'The most header lines of one message, requests and responses alike. The first line counts as five.',
  },
  {
    name: 'http_profile',
    type: 'choice',
    choices: ['classic', 'rfc9111'],
    default: 'classic',
    flags: ['obj_sticky', 'must_reload'],
    help: 'By which rules responses are cached.\n\nclassic: the rules operators of VCL proxies know.\n\nrfc9111: those of RFC 9111 and RFC 9213 for a shared cache. Every final status with an explicit life is cached, Cookie and Authorization no longer make a pass by themselves, no-cache is stored and always revalidated, CDN-Cache-Control counts before Cache-Control, nothing is served stale unless its origin allows it or cannot be reached, unsafe methods invalidate, and interim responses such as 103 Early Hints reach the client. It changes the builtin program of programs that are loaded after it.',
  },
  {
    name: 'http_range_support',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'Answer requests for a part of an object with that part, and refuse responses of an origin whose Content-Range is not the part that was asked for. Off, parts are passed as they come, and objects have no Content-Range.',
  },
  {
    name: 'http_req_hdr_len',
    type: 'bytes',
    default: '8k',
    min: '40b',
    unit: 'bytes',
    help: 'The longest header line of a request, its continuation and the first line included.',
  },
  {
    name: 'http_req_size',
    type: 'bytes',
    default: '32k',
    min: '0.25k',
    unit: 'bytes',
    help: 'The longest head of a request, up to and with the empty line that ends it.',
  },
  {
    name: 'http_resp_hdr_len',
    type: 'bytes',
    default: '8k',
    min: '40b',
    unit: 'bytes',
    help: 'The longest header line of a response from a backend.',
  },
  {
    name: 'http_resp_size',
    type: 'bytes',
    default: '32k',
    min: '0.25k',
    unit: 'bytes',
    help: 'The longest head of a response from a backend, up to and with the empty line that ends it.',
  },
  {
    name: 'id_header',
    type: 'header',
    default: 'X-Proxy-Id',
    help: 'The header that tells the ids of transactions to clients and backends: the id of the request, and on a hit also that of the fetch that brought the object. X-Varnish keeps programs, logs and monitors in order that know it by the name that it has in Varnish. A header that the proxy itself writes or obeys, such as Age, is refused.',
  },
  {
    name: 'idle_send_timeout',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['delayed_effect'],
    help: 'A client connection is closed when the client takes no byte of a response for this long. sess.idle_send_timeout sets it for one session.',
  },
  {
    name: 'listen_depth',
    type: 'uint',
    default: '1024',
    min: '0',
    unit: 'connections',
    flags: ['must_restart'],
    help: 'How many new connections the kernel may hold until they are accepted.',
  },
  {
    name: 'lru_interval',
    type: 'timeout',
    default: '2.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'An object moves to the young end of its LRU list at most once in this time.',
  },
  {
    name: 'max_esi_depth',
    type: 'uint',
    default: '5',
    min: '0',
    unit: 'levels',
    help: 'How deep ESI includes may nest. An include below that is left out with a VCL_Error; this ends loops.',
  },
  {
    name: 'max_restarts',
    type: 'uint',
    default: '4',
    min: '0',
    unit: 'restarts',
    help: 'How often one request may be restarted.',
  },
  {
    name: 'max_retries',
    type: 'uint',
    default: '4',
    min: '0',
    unit: 'retries',
    help: 'How often one fetch may be retried.',
  },
  {
    name: 'max_vcl',
    type: 'uint',
    default: '100',
    min: '0',
    help: 'With more loaded programs than this, max_vcl_handling says what happens.',
  },
  {
    name: 'max_vcl_handling',
    type: 'uint',
    default: '1',
    min: '0',
    max: '2',
    help: 'What to do about more than max_vcl programs.\n\n0 is nothing, 1 is a warning with the answer to vcl.load, 2 refuses to load.',
  },
  {
    name: 'nuke_limit',
    type: 'uint',
    default: '50',
    min: '0',
    unit: 'allocations',
    flags: ['experimental'],
    help: 'How many objects may be removed to make room for one body.',
  },
  {
    name: 'pcre2_depth_limit',
    type: 'uint',
    default: '20',
    min: '1',
    help: 'No effect here: the matcher of regular expressions does not nest. pcre2_match_limit bounds it.',
  },
  {
    name: 'pcre2_match_limit',
    type: 'uint',
    default: '10000',
    min: '1',
    help: 'How many steps a regular expression may take before it is given up as not matching.',
  },
  {
    name: 'ping_interval',
    type: 'uint',
    default: '3',
    min: '0',
    unit: 'seconds',
    flags: ['must_restart'],
    help: 'How often the manager asks the worker for a sign of life. Zero never asks.',
  },
  {
    name: 'pipe_sess_max',
    type: 'uint',
    default: '0',
    min: '0',
    unit: 'connections',
    help: 'How many sessions may be in pipe mode at a time. 0 sets no limit.',
  },
  {
    name: 'pipe_timeout',
    type: 'timeout',
    default: '60.000',
    min: '0.000',
    unit: 'seconds',
    help: 'A pipe ends when neither side has sent anything for this long.',
  },
  {
    name: 'prefer_ipv6',
    type: 'bool',
    default: 'off',
    unit: 'bool',
    help: 'Connect to the IPv6 address of a backend that has both.',
  },
  {
    name: 'rush_exponent',
    type: 'uint',
    default: '3',
    min: '2',
    unit: 'requests per request',
    flags: ['experimental'],
    help: 'How many waiting requests each finished one wakes, so that a long waiting list does not start all at once.',
  },
  {
    name: 'send_timeout',
    type: 'timeout',
    default: '600.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['delayed_effect'],
    help: 'How long sending one response may take in all. sess.send_timeout sets it for one session.',
  },
  {
    name: 'shortlived',
    type: 'timeout',
    default: '10.000',
    min: '0.000',
    unit: 'seconds',
    help: 'Objects whose TTL, grace and keep together are shorter than this go to the Transient storage.',
  },
  {
    name: 'syslog_cli_traffic',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'No effect here: each command and its status are in the log under the tag CLI in any case.',
  },
  {
    name: 'tcp_keepalive_intvl',
    type: 'timeout',
    default: '75.000',
    min: '1.000',
    max: '100.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'No effect here: the platform sets the time between TCP keep-alive probes. Only tcp_keepalive_time is ours to give.',
  },
  {
    name: 'tcp_keepalive_probes',
    type: 'uint',
    default: '9',
    min: '1',
    max: '100',
    unit: 'probes',
    flags: ['experimental'],
    help: 'No effect here: the platform sets how many TCP keep-alive probes may stay unanswered.',
  },
  {
    name: 'tcp_keepalive_time',
    type: 'timeout',
    default: '7200.000',
    min: '1.000',
    max: '7200.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'How long a client connection is idle before TCP sends keep-alive probes; it counts for connections made after a change. At its default there are none. Not for Unix sockets.',
  },
  {
    name: 'timeout_idle',
    type: 'timeout',
    default: '5.000',
    min: '0.000',
    unit: 'seconds',
    help: 'A client connection is closed when no whole request head arrives for this long.\n\nThe time starts when the connection opens and anew after each response.',
  },
  {
    name: 'timeout_linger',
    type: 'timeout',
    default: '0.050',
    min: '0.000',
    unit: 'seconds',
    flags: ['experimental'],
    help: 'How long a session is expected to send its next request at once; sess.timeout_linger sets it for one session.',
  },
  {
    name: 'turn_budget',
    type: 'timeout',
    default: '0.002',
    min: '0.000',
    max: '1.000',
    unit: 'seconds',
    help: 'How long work that takes many steps (pages of fragments, waiting lists, lists, loads, purges by key) may keep a thread before everybody else gets a turn. More makes such work a little cheaper and others wait longer.',
  },
  {
    name: 'validator_keep',
    type: 'timeout',
    default: '3600.000',
    min: '0.000',
    unit: 'seconds',
    flags: ['obj_sticky'],
    help: 'Under http_profile=rfc9111, how long a response with an ETag or a Last-Modified is kept at least when it is no longer fresh, so that the origin need not send it again.',
  },
  {
    name: 'vary_notice',
    type: 'uint',
    default: '10',
    min: '1',
    unit: 'variants',
    help: 'A lookup that has to look at this many variants leaves a Notice in the log.',
  },
  {
    name: 'vcc_err_unref',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'A program that declares what it never uses is refused.',
  },
  {
    name: 'vcc_unsafe_path',
    type: 'bool',
    default: 'on',
    unit: 'bool',
    help: 'Allow a "/" in the names of included files and extensions, and `import ... from ...`.',
  },
  {
    name: 'vcl_cooldown',
    type: 'timeout',
    default: '600.000',
    min: '1.000',
    unit: 'seconds',
    help: 'How long a program in state auto stays warm after its last use.',
  },
  {
    name: 'vcl_path',
    type: 'string',
    default: '/etc/proxyd:/usr/share/proxyd/vcl',
    flags: ['build_options'],
    help: 'Directories, separated by colons, in which program files with relative names are looked for.',
  },
  {
    name: 'vmod_path',
    type: 'string',
    default: '/usr/lib/proxyd/extensions',
    flags: ['build_options'],
    help: 'Directories, separated by colons, in which extensions are looked for.',
  },
  {
    name: 'vsl_buffer',
    type: 'bytes',
    default: '16k',
    min: '267',
    minBy: ['vsl_reclen', 12],
    unit: 'bytes',
    help: 'No effect here but as the bound of vsl_reclen: log records are written at the end of each turn. It is at least vsl_reclen and 12 bytes.',
  },
  {
    name: 'vsl_mask',
    type: 'mask',
    default:
      '-Debug,-BackendReuse,-ObjProtocol,-ObjStatus,-ObjReason,-ObjHeader,-VCL_trace,-ExpKill,-WorkThread,-Hash,-VfpAcct,-BackendStart,-H2RxHdr,-H2RxBody,-H2TxHdr,-H2TxBody,-VdpAcct',
    help: 'Which log records are left out.',
  },
  {
    name: 'vsl_reclen',
    type: 'bytes',
    default: '255b',
    min: '16b',
    max: '16372',
    maxBy: ['vsl_buffer', -12],
    unit: 'bytes',
    help: 'The longest log record; longer ones are cut.',
  },
  {
    name: 'vsl_space',
    type: 'bytes',
    default: '80M',
    min: '1M',
    max: '4G',
    unit: 'bytes',
    flags: ['must_restart'],
    help: 'The size of the log ring. In a small one a reader falls behind sooner and loses records.',
  },
  {
    name: 'worker_threads',
    type: 'uint',
    default: '1',
    defaultIs: 'the cores that the process may use',
    min: '1',
    max: `${MOST_THREADS}`,
    unit: 'threads',
    flags: ['must_restart'],
    help: 'How many threads of the worker serve clients, each with an event loop of its own. They have one cache, one log and one set of counters in common. The default counts the cores that the affinity of the process and the quota of its control group leave it.',
  },
  {
    name: 'workspace_backend',
    type: 'bytes',
    default: '96k',
    min: '1k',
    unit: 'bytes',
    flags: ['delayed_effect'],
    help: 'How many bytes of text one fetch may hold in header values and in what its program builds.',
  },
  {
    name: 'workspace_client',
    type: 'bytes',
    default: '96k',
    min: '9k',
    unit: 'bytes',
    flags: ['delayed_effect'],
    help: 'How many bytes of text one request may hold in header values and in what its program builds.',
  },
  {
    name: 'workspace_session',
    type: 'bytes',
    default: '0.75k',
    min: '384b',
    unit: 'bytes',
    flags: ['delayed_effect'],
    help: 'How many bytes of preamble a session may keep: the addresses and attributes of the PROXY protocol.',
  },
  {
    name: 'xkey_fields',
    type: 'string',
    default: 'xkey X-HashTwo',
    help: 'Response fields that hold the surrogate keys of an object, separated by blanks. The default is that of the Varnish module. "xkey Surrogate-Key Cache-Tag" takes those of three conventions, and a field of the origin\'s choice, as "xkey X-Version", lets all objects with one value go together. Objects that are in the cache already keep the keys that they came with.',
  },
  {
    name: 'xkey_space',
    type: 'bytes',
    default: '0.25G',
    min: '0b',
    unit: 'bytes',
    help: 'How large the index of surrogate keys may become. Objects whose keys find no room are delivered, but not kept, since they could not be purged. 0 sets no limit.',
  },
] as const satisfies readonly ParamRow[];

export type ParamName = (typeof PARAMS)[number]['name'];
type NumericType = 'timeout' | 'bytes' | 'uint' | 'real' | 'bool' | 'choice';
/** Parameters whose value is a number to the hot path; booleans are 0 and 1. */
export type NumericParam = Extract<(typeof PARAMS)[number], { type: NumericType }>['name'];
export type FeatureName = (typeof FEATURES)[number]['name'];
export type DebugName = (typeof DEBUG_BITS)[number]['name'];

/** A parameter of Varnish that means nothing here. */
export interface AbsentParam {
  readonly name: string;
  /** The type of its values, so that invalid ones are refused: `pool` is min_pool,max_pool,max_age. */
  readonly type: ParamType | 'pool';
  /** Bounds that no other parameter moves. */
  readonly min?: string;
  readonly max?: string;
  readonly bits?: ParamRow['bits'];
  /** Why it has no effect, in one line. */
  readonly reason: string;
}

const NO_POOL = 'requests do not run on a pool of threads';
const THREADS = `${NO_POOL}; worker_threads says how many threads serve clients, with an event loop each`;
const HTTP2 = 'HTTP/2 is not spoken';
const COMPILER = 'programs are compiled without a C compiler';
const ALLOCATOR = 'there is no such pool of memory';
/** Bits of `feature` that scripts for Varnish switch on, with the reason why they stay off. */
export const ABSENT_FEATURES: Readonly<Record<string, string>> = { http2: HTTP2 };
export const ABSENT_PARAMS: readonly AbsentParam[] = [
  { name: 'accept_filter', type: 'string', reason: 'the platform has no accept filters' },
  { name: 'acceptor_sleep_decay', type: 'real', min: '0', max: '1', reason: 'the acceptor never sleeps' },
  {
    name: 'acceptor_sleep_incr',
    type: 'timeout',
    min: '0.000',
    max: '1.000',
    reason: 'the acceptor never sleeps',
  },
  {
    name: 'acceptor_sleep_max',
    type: 'timeout',
    min: '0.000',
    max: '10.000',
    reason: 'the acceptor never sleeps',
  },
  { name: 'cc_command', type: 'string', reason: COMPILER },
  { name: 'cc_warnings', type: 'string', reason: COMPILER },
  {
    name: 'critbit_cooloff',
    type: 'timeout',
    min: '60.000',
    max: '254.000',
    reason: 'the index of objects is not a critbit tree',
  },
  {
    name: 'experimental',
    type: 'bits',
    bits: [{ name: 'drop_pools', help: '' }],
    reason: 'there is no experimental feature',
  },
  { name: 'h2_header_table_size', type: 'bytes', min: '0b', reason: HTTP2 },
  { name: 'h2_initial_window_size', type: 'bytes', min: '65535b', max: '2147483647b', reason: HTTP2 },
  { name: 'h2_max_concurrent_streams', type: 'uint', min: '0', reason: HTTP2 },
  { name: 'h2_max_frame_size', type: 'bytes', min: '16k', max: '16777215b', reason: HTTP2 },
  { name: 'h2_max_header_list_size', type: 'bytes', min: '0b', reason: HTTP2 },
  { name: 'h2_rx_window_increment', type: 'bytes', min: '1M', max: '1G', reason: HTTP2 },
  { name: 'h2_rx_window_low_water', type: 'bytes', min: '65535b', max: '1G', reason: HTTP2 },
  { name: 'h2_rxbuf_storage', type: 'string', reason: HTTP2 },
  {
    name: 'http1_iovs',
    type: 'uint',
    min: '5',
    max: '1024',
    reason: 'responses are not sent with writev(2)',
  },
  { name: 'pcre2_jit_compilation', type: 'bool', reason: 'regular expressions are not compiled by PCRE2' },
  { name: 'pool_req', type: 'pool', reason: ALLOCATOR },
  { name: 'pool_sess', type: 'pool', reason: ALLOCATOR },
  { name: 'pool_vbo', type: 'pool', reason: ALLOCATOR },
  { name: 'sigsegv_handler', type: 'bool', reason: 'the runtime has its own' },
  { name: 'tcp_fastopen', type: 'bool', reason: 'the platform offers no access to it' },
  { name: 'thread_pool_add_delay', type: 'timeout', min: '0.000', reason: THREADS },
  { name: 'thread_pool_destroy_delay', type: 'timeout', min: '0.010', reason: THREADS },
  { name: 'thread_pool_fail_delay', type: 'timeout', min: '0.010', reason: THREADS },
  { name: 'thread_pool_max', type: 'uint', min: '100', reason: THREADS },
  { name: 'thread_pool_min', type: 'uint', min: '5', reason: THREADS },
  { name: 'thread_pool_reserve', type: 'uint', reason: THREADS },
  { name: 'thread_pool_stack', type: 'bytes', min: '16k', reason: THREADS },
  { name: 'thread_pool_timeout', type: 'timeout', min: '10.000', reason: THREADS },
  { name: 'thread_pool_watchdog', type: 'timeout', min: '0.100', reason: THREADS },
  { name: 'thread_pools', type: 'uint', min: '1', max: '32', reason: THREADS },
  { name: 'thread_queue_limit', type: 'uint', min: '0', reason: THREADS },
  { name: 'thread_stats_rate', type: 'uint', min: '0', reason: THREADS },
  { name: 'vcc_allow_inline_c', type: 'bool', reason: 'programs cannot contain C code' },
  {
    name: 'vsm_free_cooldown',
    type: 'timeout',
    min: '10.000',
    max: '600.000',
    reason: 'log and counters are plain files',
  },
  { name: 'workspace_thread', type: 'bytes', min: '0.25k', max: '8k', reason: NO_POOL },
];
