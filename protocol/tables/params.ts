// All parameters of the daemon, one row each: the output of `param.show` and the values accepted by `param.set`.
// Names, defaults, units and bounds are Varnish's; parameters without a meaning here are rows of ABSENT_PARAMS with
// the reason: they can be set without effect, and are not listed. Values are texts in display form ('120.000',
// '0.25k', 'on'); daemon/params parses them.

import { RELEASE_CHANGES, RELEASES } from './release-changes.ts';

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
  /** Log tags to write; its bits are the tags. */
  | 'mask'
  | 'string'
  /** One of `choices`. */
  | 'choice'
  /** Name of a header that carries the proxy's ids. */
  | 'header'
  /** The name of a storage. */
  | 'storage';

export type ParamFlag =
  | 'obj_sticky'
  | 'delayed_effect'
  | 'must_restart'
  | 'must_reload'
  | 'experimental'
  /** To be changed on the advice of those who make the daemon. */
  | 'wizard'
  | 'build_options'
  /** Made read-only at start (-r); no row of this table sets it. */
  | 'protected';

export interface ParamRow {
  readonly name: string;
  readonly type: ParamType;
  readonly default: string;
  /** The default, if it depends on the machine; `default` is then that of the smallest machine. */
  readonly defaultIs?: string;
  readonly min?: string;
  readonly max?: string;
  /** A bound by another parameter: its name, and an offset. */
  readonly minBy?: readonly [param: string, plus: number];
  readonly maxBy?: readonly [param: string, plus: number];
  /** Differences under varnish_release=9.0. */
  readonly since9?: { readonly default?: string; readonly max?: string };
  /** Zero is accepted, too, though it is less than the minimum. */
  readonly orZero?: true;
  /** The value `never` is accepted: no limit. */
  readonly never?: true;
  /** Shown in brackets; none if absent. */
  readonly unit?: string;
  readonly flags?: readonly ParamFlag[];
  readonly choices?: readonly string[];
  readonly bits?: readonly BitRow[];
  readonly help: string;
}

function releaseHelp(): string {
  const rows = Object.values(RELEASE_CHANGES).filter(({ here }) => here === 'parameter');
  const topics = rows.map(({ topic, since }) => `${topic} (${since})`).join(', ');
  return `The release whose semantics a program has where Varnish changed them between 7.1 and 9.0. Applies to programs loaded after a change; vcl.list shows the release of those that do not follow 7.1, and proxyd --lint --release 9.0 lists what affects a program. Additions are available with both.\n\nIt covers: ${topics}.`;
}

/** Seconds of the value `never`: more than any number that is read has, and finite, as messages between processes need it. */
export const NEVER = 1e20;

/** Seconds of a limit that programs read, which see 0 where there is none. */
export function limitSeconds(seconds: number): number {
  return seconds >= NEVER ? 0 : seconds;
}

/** The largest number that programs can print, in seconds; they read it for `never` (Varnish 7.5, changes-7.5). */
const LONGEST = 999_999_999_999.999;

/** A number as programs read it, which do not know `never`. */
export function readableNumber(value: number): number {
  return value >= NEVER ? LONGEST : value;
}

/** Maximum threads of a worker. */
export const MOST_THREADS = 64;

/** A bit of a set. */
export interface BitRow {
  readonly name: string;
  readonly help: string;
  /** A minus is kept in the value and shown: it says something else than a bit that was never named. */
  readonly keepsMinus?: true;
}

function bit<const N extends string>(
  name: N,
  help: string,
  keepsMinus?: true,
): BitRow & { readonly name: N } {
  return { name, help, ...(keepsMinus && { keepsMinus }) };
}

// biome-ignore format: a row is a line
const FEATURES = [
  bit('http2',
    'Speak HTTP/2 with clients that begin with its preface, also behind a TLS proxy. On listeners with TLS of their own it is offered (ALPN) in any case, unless -http2 was set by name: that minus is kept and shown, and +http2, default and none take it back.',
    true),
  bit('short_panic', 'Keep only the first lines of a panic report.'),
  bit('no_coredump', 'No effect here: the platform decides about core files.'),
  bit('https_scheme', 'No effect here: the host of a target that begins with https:// replaces Host in any case.'),
  bit('http_date_postel', 'Accept dates with a one-digit day of the month.'),
  bit('esi_ignore_https', 'Fetch an ESI include of an https:// address over http; without it such an include is dropped with a warning.'),
  bit('esi_disable_xml_check', 'Also look for ESI tags in bodies that do not begin with a "<".'),
  bit('esi_ignore_other_elements', 'Also look for ESI tags inside the tags of other elements.'),
  bit('esi_remove_bom', 'Remove a byte order mark at the start of an ESI body, which otherwise is delivered unprocessed.'),
  bit('esi_include_onerror',
    'End the delivery of a page at an include that failed, unless it has onerror="continue". Without the flag, delivery always continues.'),
  bit('wait_silo', 'No effect here: there are no silos.'),
  bit('validate_headers',
    'Refuse header values, set by the program, with control characters. Those that would end the line are refused in any case.'),
  bit('busy_stats_rate', 'No effect here: counters are right at every moment.'),
  bit('trace', 'Log the statements of programs (VCL_trace) unless req.trace or bereq.trace says otherwise. Under varnish_release=7.1 that is so in any case, and vsl_mask leaves the records out.'),
  bit('vcl_req_reset',
    'For programs under varnish_release=9.0, end the request of a client that has disconnected with a Reset timestamp and status 408 in the log.'),
  bit('lenient_lf',
    'Accept a bare LF as line end in request heads, as typed by hand into netcat. All else stays strict, including chunks.'),
] as const;

// biome-ignore format: a row is a line
const VCC_FEATURES = [
  bit('err_unref', 'Refuse programs that declare something they never use.'),
  bit('allow_inline_c', 'No effect here: programs cannot contain C code.'),
  bit('unsafe_path', 'Allow a "/" in the names of included files and extensions, and `import ... from ...`.'),
] as const;

// biome-ignore format: a row is a line
const DEBUG_BITS = [
  bit('req_state',
    'Log each step of a request and of a fetch (Debug), end the worker where one is resumed twice or holds an object after its end, and overwrite what was read from clients and origins once it should have been used, and storage that is freed.'),
  bit('workspace', 'No effect here.'),
  bit('waitinglist', 'No effect here.'),
  bit('syncvsl', 'No effect here.'),
  bit('hashedge', 'No effect here.'),
  bit('vclrel', 'No effect here.'),
  bit('lurker', 'Log what the ban lurker does.'),
  bit('esi_chop', 'No effect here.'),
  bit('flush_head', 'No effect here.'),
  bit('vtc_mode', 'No effect here.'),
  bit('witness', 'No effect here.'),
  bit('vsm_keep', 'No effect here.'),
  bit('slow_acceptor', 'No effect here.'),
  bit('h2_nocheck', 'No effect here.'),
  bit('vmod_so_keep', 'No effect here.'),
  bit('processors', 'No effect here.'),
  bit('protocol', 'No effect here.'),
  bit('vcl_keep', 'No effect here.'),
  bit('lck', 'No effect here.'),
] as const;

function row<const N extends string, const T extends ParamType>(
  name: N,
  type: T,
  fallback: string,
  facts: Omit<ParamRow, 'name' | 'type' | 'default' | 'help'>,
  help: string,
): ParamRow & { readonly name: N; readonly type: T } {
  return { name, type, default: fallback, ...facts, help };
}

// biome-ignore format: a row is a line
export const PARAMS = [
  row('auto_restart', 'bool', 'on', { unit: 'bool' }, 'Start a new worker when the worker has died.'),
  row('backend_idle_timeout', 'timeout', '60.000', { min: '1.000', unit: 'seconds' },
    'How long an unused connection to a backend is kept for the next request.'),
  row('backend_local_error_holddown', 'timeout', '10.000', { min: '0.000', unit: 'seconds', flags: ['experimental'] },
    'After a connection attempt failed for a reason on this side (no free address, not permitted), attempts to the same address fail at once for this long.'),
  row('backend_remote_error_holddown', 'timeout', '0.250', { min: '0.000', unit: 'seconds', flags: ['experimental'] },
    'After a connection was refused or its network could not be reached, attempts to the same address fail at once for this long.'),
  row('backend_wait_limit', 'uint', '0', { min: '0' },
    'How many fetches may wait for a connection to a backend that has as many as its .max_connections. A backend may set its own .wait_limit. With 0 they fail at once.'),
  row('backend_wait_timeout', 'timeout', '0.000', { min: '0.000', never: true, unit: 'seconds' },
    'How long such a fetch waits. A backend may set its own .wait_timeout. With 0 it fails at once.'),
  row('ban_any_variant', 'uint', '10000', { since9: { default: '0' }, min: '0', unit: 'checks' },
    'How many objects of a key one lookup tests against bans that may be of another variant than the one asked for. With 0 only those that match are tested, and rarely requested variants stay until the lurker or a request of their own meets them.'),
  row('ban_cutoff', 'uint', '0', { min: '0', unit: 'bans', flags: ['experimental'] },
    'The longest ban list that is tolerated: objects last tested more than this many bans ago are removed without a test. 0 sets no limit.'),
  row('ban_dups', 'bool', 'on', { unit: 'bool' },
    'A new ban supersedes older bans with the same expression, so that objects are tested against it once.'),
  row('ban_lurker_age', 'timeout', '60.000', { min: '0.000', unit: 'seconds' },
    'The ban lurker ignores bans younger than this. Bans often come in bursts; set it to about the length of one.'),
  row('ban_lurker_batch', 'uint', '1000', { min: '1' }, 'Number of objects that the ban lurker starts with every ban_lurker_sleep.'),
  row('ban_lurker_holdoff', 'timeout', '0.010', { min: '0.000', unit: 'seconds', flags: ['experimental'] },
    'How long the ban lurker pauses when requests are waiting.'),
  row('ban_lurker_sleep', 'timeout', '0.010', { min: '0.000', unit: 'seconds' },
    'Pause of the ban lurker after each ban_lurker_batch objects. Zero disables the lurker.'),
  row('between_bytes_timeout', 'timeout', '60.000', { min: '0.000', never: true, unit: 'seconds' },
    'A fetch fails when the backend sends nothing for this long in the middle of a response. A backend or a request may set its own value. Pipes have none.'),
  row('cli_limit', 'bytes', '48k', { since9: { default: '64k' }, min: '128b', max: '99999999b', unit: 'bytes' },
    'The longest answer to a command. A longer one is cut, gets status 201 instead of 200 and says so in its last line.'),
  row('cli_timeout', 'timeout', '60.000', { min: '0.000', never: true, unit: 'seconds' },
    'Time without a sign of life after which the manager considers the worker dead, and time after which a command that is still running is answered with a note that it continues. At least a quarter of a second.'),
  row('clock_skew', 'uint', '10', { min: '0', unit: 'seconds' },
    'How far the clock of a backend may be ahead or behind before its Date and Expires are read against its own clock.'),
  row('clock_step', 'timeout', '1.000', { min: '0.000', unit: 'seconds' },
    'How far the system’s clock may be set back before it is reported by a Notice and a warning.'),
  row('connect_timeout', 'timeout', '3.500', { min: '0.000', never: true, unit: 'seconds' },
    'How long a connection to a backend may take to be established. A backend or a request may set its own value.'),
  row('debug', 'bits', 'none', { bits: DEBUG_BITS }, 'Debugging aids for the developers of this program.'),
  row('default_grace', 'timeout', '10.000', { min: '0.000', unit: 'seconds', flags: ['obj_sticky'] },
    'How long after its TTL an object may still be served while a new copy is fetched.'),
  row('default_keep', 'timeout', '0.000', { min: '0.000', unit: 'seconds', flags: ['obj_sticky'] },
    'How long after TTL and grace an object is kept for conditional requests to the backend.'),
  row('default_ttl', 'timeout', '120.000', { min: '0.000', unit: 'seconds', flags: ['obj_sticky'] },
    'The TTL of an object if neither the response nor the program sets one.'),
  row('disk_sync', 'choice', 'group', { choices: ['group', 'always', 'off'] },
    'What is on the device when, with -s disk.\n\ngroup: purges and bans before they are answered, those of a moment with one write; objects once enough of them are written. always: each object, too, before it can be found. off: nothing is waited for. Purges survive kills of the daemon, but not a loss of power: then all that is on disk may go, or what was purged come back.'),
  row('esi_parallel', 'uint', '16', { min: '1', max: '256', unit: 'fragments' },
    'How many ESI includes of one page are fetched at the same time. They are written in the order of the page; 1 fetches each when its turn comes, as Varnish does.'),
  row('feature', 'bits', '+validate_headers', { since9: { default: '+https_scheme,+validate_headers,+vcl_req_reset' }, bits: FEATURES }, 'Optional features.'),
  row('fetch_chunksize', 'bytes', '16k', { min: '4k', unit: 'bytes', flags: ['experimental'] },
    'No effect here: a body takes storage in pieces of the size in which it arrives.'),
  row('fetch_maxchunksize', 'bytes', '0.25G', { min: '64k', unit: 'bytes', flags: ['experimental'] },
    'No effect here: a body takes storage in pieces of the size in which it arrives.'),
  row('first_byte_timeout', 'timeout', '60.000', { min: '0.000', never: true, unit: 'seconds' },
    'How long a backend may take to send the first byte of its response. A backend or a request may set its own value. Pipes have none.'),
  row('fleet_catch_up', 'timeout', '10.000', { min: '0.000', unit: 'seconds' },
    'How long a node of a fleet that has missed messages holds back what it fetched before, until they are applied. After that it bans all of it.'),
  row('fleet_gap', 'choice', 'catch-up', { choices: ['catch-up', 'serve'] },
    'What a node of a fleet does that has missed messages.\n\ncatch-up: it does not serve what it fetched before until they are applied, for fleet_catch_up at most.\n\nserve: it serves on, says so, and applies them meanwhile.'),
  row('fleet_timeout', 'timeout', '5.000', { min: '0.000', unit: 'seconds' },
    'How long an invalidation waits for the fleet to store it before the answer is 504.'),
  row('fleet_wait', 'timeout', '1.000', { min: '0.000', unit: 'seconds' },
    'How long the same answer waits, once it is stored, for the other nodes to apply it. Nodes that are known to be behind are not waited for.'),
  row('gzip_buffer', 'bytes', '32k', { min: '2k', unit: 'bytes', flags: ['experimental'] },
    'The size of the pieces in which bodies are packed. Those for unpacking are 64 KiB.'),
  row('gzip_level', 'uint', '6', { min: '0', max: '9' }, 'Compression level: 0 does not compress, 1 is fastest, 9 is smallest.'),
  row('gzip_memlevel', 'uint', '8', { min: '1', max: '9' }, 'How much memory gzip uses, from 1 to 9; each step doubles it.'),
  row('h2_header_table_size', 'bytes', '4k', { min: '0b', unit: 'bytes' },
    'How many bytes of header fields a client of HTTP/2 may refer to again, for each connection (SETTINGS_HEADER_TABLE_SIZE). Applies to connections opened after a change.'),
  row('h2_initial_window_size', 'bytes', '65535b', { min: '65535b', max: '2147483647b', unit: 'bytes' },
    'How many bytes of the body of one request a client of HTTP/2 may send before they are asked for (SETTINGS_INITIAL_WINDOW_SIZE). A larger window makes uploads over long distances faster. Applies to connections opened after a change.'),
  row('h2_max_concurrent_streams', 'uint', '100', { min: '0', unit: 'streams' },
    'How many requests of one HTTP/2 connection may be under way at a time. More are refused in a way that lets the client send them again (SETTINGS_MAX_CONCURRENT_STREAMS). Applies to connections opened after a change.'),
  row('h2_max_frame_size', 'bytes', '16k', { min: '16k', max: '16777215b', unit: 'bytes' },
    'The largest frame that a client of HTTP/2 may send (SETTINGS_MAX_FRAME_SIZE). Applies to connections opened after a change.'),
  row('h2_max_header_list_size', 'bytes', '2147483647b', { min: '0b', unit: 'bytes' },
    'Largest header list announced to HTTP/2 clients, uncompressed and with 32 bytes for each field (SETTINGS_MAX_HEADER_LIST_SIZE). At its default nothing is announced. http_req_size, http_req_hdr_len and http_max_hdr apply in any case.'),
  row('h2_rapid_reset', 'timeout', '1.000', { min: '0.000', unit: 'seconds', flags: ['delayed_effect', 'experimental'] },
    'An HTTP/2 client that resets a stream sooner than this after the request head, answered or not, makes a rapid reset. Applies to connections opened after a change; h2.rapid_reset() sets it for one.'),
  row('h2_rapid_reset_limit', 'uint', '100', { min: '0', flags: ['delayed_effect', 'experimental'] },
    'How many rapid resets a client of HTTP/2 may make in h2_rapid_reset_period before its connection is closed. Streams that it makes us reset, by breaking the protocol, count as well. 0 sets no limit. Applies to connections opened after a change; h2.rapid_reset_limit() sets it for one.'),
  row('h2_rapid_reset_period', 'timeout', '60.000', { min: '1.000', unit: 'seconds', flags: ['delayed_effect', 'experimental'] },
    'The time in which h2_rapid_reset_limit resets are allowed; a part of it allows a part of them. Applies to connections opened after a change; h2.rapid_reset_period() sets it for one.'),
  row('h2_rx_window_increment', 'bytes', '1M', { min: '1M', max: '1G', unit: 'bytes', flags: ['wizard'] },
    'By how much the window of a whole HTTP/2 connection grows at a time when a client sends bodies.'),
  row('h2_rx_window_low_water', 'bytes', '10M', { min: '65535b', max: '1G', unit: 'bytes', flags: ['wizard'] },
    'How large the window of a whole HTTP/2 connection is kept. Each request has h2_initial_window_size of it at most.'),
  row('h2_window_timeout', 'timeout', '5.000', { min: '0.000', never: true, unit: 'seconds' },
    'An HTTP/2 connection on which every response waits for the client to take more is closed after this long.'),
  row('heuristic_ttl_max', 'timeout', '86400.000', { min: '0.000', unit: 'seconds', flags: ['obj_sticky'] },
    'The longest life that http_profile=rfc9111 gives a response that only says when it was last modified: a tenth of its age then, but no more than this.'),
  row('http_gzip_support', 'bool', 'on', { unit: 'bool' },
    'Ask backends for gzip, store what they send, and decompress it for clients that do not accept gzip.\n\nOff: Accept-Encoding goes through unchanged, and beresp.do_gzip and beresp.do_gunzip do nothing.'),
  row('http_max_hdr', 'uint', '64', { min: '32', max: '65535', unit: 'header lines' },
    'The most header lines of one message, requests and responses alike. The first line counts as five.'),
  row('http_multi_range', 'choice', 'profile', { choices: ['profile', 'on', 'off'] },
    'Answer a request for several ranges of a stored object with those parts (multipart/byteranges).\n\nprofile: with http_profile=rfc9111 only. off: with 416, as Varnish does. Ranges that overlap or nearly touch are joined; more than 64 are refused with 416. A body that is unpacked for its client, a page of edge-side includes, a response that is not stored and one of unknown length are sent whole.'),
  row('http_profile', 'choice', 'classic', { choices: ['classic', 'rfc9111'], flags: ['obj_sticky', 'must_reload'] },
    'By which rules responses are cached.\n\nclassic: the rules operators of VCL proxies know.\n\nrfc9111: those of RFC 9111 and RFC 9213 for a shared cache. Every final status with an explicit life is cached, Cookie and Authorization no longer make a pass by themselves, no-cache is stored and always revalidated, CDN-Cache-Control counts before Cache-Control, nothing is served stale unless its origin allows it or cannot be reached, unsafe methods invalidate, interim responses such as 103 Early Hints reach the client, an Age that is no number means stale, ranges are kept as parts and completed by later ones (req.parts), and origins are sent Surrogate-Capability. It changes the builtin program of programs that are loaded after it.'),
  row('http_range_support', 'bool', 'on', { unit: 'bool' },
    'Answer requests for a part of an object with that part, and refuse responses of an origin whose Content-Range is not the part that was asked for. Off, parts are passed as they come, and objects have no Content-Range.'),
  row('http_req_hdr_len', 'bytes', '8k', { min: '40b', unit: 'bytes' },
    'The longest header line of a request, its continuation and the first line included.'),
  row('http_req_overflow_status', 'uint', '0', { min: '400', max: '500', orZero: true, unit: 'HTTP status code or 0 to disable' },
    'The status of the answer to a request whose head is longer than http_req_size: 400 to 499, or 500. With 0 the connection is closed without one.'),
  row('http_req_size', 'bytes', '32k', { min: '0.25k', unit: 'bytes' },
    'The longest head of a request, up to and with the empty line that ends it.'),
  row('http_resp_hdr_len', 'bytes', '8k', { min: '40b', unit: 'bytes' }, 'The longest header line of a response from a backend.'),
  row('http_resp_size', 'bytes', '32k', { min: '0.25k', unit: 'bytes' },
    'The longest head of a response from a backend, up to and with the empty line that ends it.'),
  row('id_header', 'header', 'X-Proxy-Id', {},
    'The header that tells the ids of transactions to clients and backends: the id of the request, and on a hit also that of the fetch that brought the object. X-Varnish keeps programs, logs and monitors in order that know it by the name that it has in Varnish. A header that the proxy itself writes or obeys, such as Age, is refused.'),
  row('idle_send_timeout', 'timeout', '60.000', { min: '0.000', since9: { max: '3600.000' }, never: true, unit: 'seconds', flags: ['delayed_effect'] },
    'A client connection is closed when the client takes no byte of a response for this long. sess.idle_send_timeout sets it for one session.'),
  row('listen_depth', 'uint', '1024', { min: '0', unit: 'connections', flags: ['must_restart'] },
    'How many new connections the kernel may hold until they are accepted.'),
  row('log_scheme', 'bool', 'off', { unit: 'bool' },
    'Write the scheme, http or https, as the fourth field of ReqStart, as Varnish 9 does.'),
  row('lru_interval', 'timeout', '2.000', { min: '0.000', unit: 'seconds', flags: ['experimental'] },
    'An object moves to the front of its LRU list at most once in this time.'),
  row('max_esi_depth', 'uint', '5', { min: '0', unit: 'levels' },
    'How deep ESI includes may nest. An include below that is left out with a VCL_Error; this ends loops.'),
  row('max_restarts', 'uint', '4', { min: '0', unit: 'restarts' }, 'How often one request may be restarted.'),
  row('max_retries', 'uint', '4', { min: '0', unit: 'retries' }, 'How often one fetch may be retried.'),
  row('max_vcl', 'uint', '100', { min: '0' }, 'Number of loaded programs above which max_vcl_handling applies.'),
  row('max_vcl_handling', 'uint', '1', { min: '0', max: '2' },
    'What to do about more than max_vcl programs.\n\n0 is nothing, 1 is a warning with the answer to vcl.load, 2 refuses to load.'),
  row('nuke_limit', 'uint', '50', { min: '0', unit: 'allocations', flags: ['experimental'] },
    'How many objects may be removed to make room for one body.'),
  row('pcre2_depth_limit', 'uint', '20', { min: '1' },
    'No effect here: the matcher of regular expressions does not nest. pcre2_match_limit bounds it.'),
  row('pcre2_match_limit', 'uint', '10000', { min: '1' },
    'How many steps a regular expression may take before it is given up as not matching.'),
  row('ping_interval', 'uint', '3', { min: '0', unit: 'seconds', flags: ['must_restart'] },
    'How often the manager checks that the worker is alive. Zero never checks.'),
  row('pipe_sess_max', 'uint', '0', { min: '0', unit: 'connections' }, 'How many sessions may be in pipe mode at a time. 0 sets no limit.'),
  row('pipe_task_deadline', 'timeout', 'never', { min: '0.000', never: true, unit: 'seconds' },
    'How long a pipe may last in total, whatever passes through it. Zero and never set no limit. bereq.task_deadline sets it for one pipe.'),
  row('pipe_timeout', 'timeout', '60.000', { min: '0.000', never: true, unit: 'seconds' },
    'A pipe ends when neither side has sent anything for this long.'),
  row('prefer_ipv6', 'bool', 'off', { unit: 'bool' }, 'Connect to the IPv6 address of a backend that has both.'),
  row('range_ahead', 'bytes', '16M', { min: '0b', unit: 'bytes' },
    'A range that begins this far beyond what has arrived of an object still being fetched is fetched on its own instead of waiting: once for all requests where the origin says Accept-Ranges: bytes and gave a strong validator. A smaller distance is waited for. Zero always waits, as Varnish does.\n\nNot for bodies that are packed, unpacked or changed here, pages of edge-side includes, objects of unknown length, and requests with If-Range.'),
  row('rush_exponent', 'uint', '3', { min: '2', unit: 'requests per request', flags: ['experimental'] },
    'How many waiting requests each finished one wakes, so that a long waiting list does not start all at once.'),
  row('send_timeout', 'timeout', '600.000', { min: '0.000', never: true, unit: 'seconds', flags: ['delayed_effect'] },
    'How long sending one response may take in total. sess.send_timeout sets it for one session.'),
  row('shortlived', 'timeout', '10.000', { min: '0.000', unit: 'seconds' },
    'Objects whose TTL, grace and keep together are shorter than this go to the Transient storage.'),
  row('startup_timeout', 'timeout', '0.000', { min: '0.000', never: true, unit: 'seconds' },
    'How long the worker may take to start, where that is longer than cli_timeout.'),
  row('stop_timeout', 'timeout', '8.000', { min: '0.000', max: '86400.000', unit: 'seconds' },
    'How long a stopping worker may take to finish requests, fetches and pipes in progress. It accepts no connections meanwhile, and what is left then is cut. Zero stops at once.\n\nThe default suits supervisors that kill after ten seconds, as container runtimes do. A second SIGTERM to the manager does not wait.'),
  row('syslog_cli_traffic', 'bool', 'on', { unit: 'bool' },
    'No effect here: each command and its status are in the log under the tag CLI in any case.'),
  row('tcp_keepalive_intvl', 'timeout', '75.000', { min: '1.000', max: '100.000', unit: 'seconds', flags: ['experimental'] },
    'No effect here: the platform sets the time between TCP keep-alive probes. Only tcp_keepalive_time can be set.'),
  row('tcp_keepalive_probes', 'uint', '9', { min: '1', max: '100', unit: 'probes', flags: ['experimental'] },
    'No effect here: the platform sets how many TCP keep-alive probes may stay unanswered.'),
  row('tcp_keepalive_time', 'timeout', '7200.000', { min: '1.000', max: '7200.000', unit: 'seconds', flags: ['experimental'] },
    'How long a client connection is idle before TCP sends keep-alive probes; applies to connections opened after a change. At its default there are none. Not for Unix sockets.'),
  row('timeout_idle', 'timeout', '5.000', { min: '0.000', since9: { max: '3600.000' }, unit: 'seconds' },
    'A client connection is closed when no whole request head arrives for this long.\n\nThe time starts when the connection opens and anew after each response.'),
  row('timeout_linger', 'timeout', '0.050', { min: '0.000', unit: 'seconds', flags: ['experimental'] },
    'How long a session is expected to send its next request immediately; sess.timeout_linger sets it for one session.'),
  row('tls_handshake_timeout', 'timeout', '8.000', { min: '0.000', unit: 'seconds' },
    'How long a TLS handshake with a client may take, from the first byte to the last.'),
  row('tls_ja3', 'bool', 'off', { unit: 'bool' },
    'Compute the JA3 fingerprint of each TLS client, for tls.ja3().'),
  row('transit_buffer', 'bytes', '0b', { min: '0b', unit: 'bytes' },
    'How many bytes of an uncacheable response are read from the backend ahead of its client, while it is delivered as it comes. Zero means 256 kilobytes. beresp.transit_buffer sets it for one fetch.'),
  row('turn_budget', 'timeout', '0.002', { min: '0.000', max: '1.000', unit: 'seconds' },
    'How long work that takes many steps (pages of fragments, waiting lists, lists, loads, purges by key) may keep a thread before other work gets a turn. More makes such work a little cheaper and other work wait longer.'),
  row('uncacheable_ttl', 'timeout', '120.000', { min: '0.000', unit: 'seconds' },
    'How long requests for a response that the builtin program found uncacheable do not wait for each other. param.uncacheable_ttl has it in programs.'),
  row('validator_keep', 'timeout', '3600.000', { min: '0.000', unit: 'seconds', flags: ['obj_sticky'] },
    'Under http_profile=rfc9111, how long a response with an ETag or a Last-Modified is kept at least when it is no longer fresh, so that the origin need not send it again.'),
  row('varnish_release', 'choice', '7.1', { choices: RELEASES, flags: ['must_reload'] },
    releaseHelp()),
  row('vary_notice', 'uint', '10', { min: '1', unit: 'variants' },
    'A lookup that examines this many variants logs a Notice.'),
  row('vcc_err_unref', 'bool', 'on', { unit: 'bool' }, 'Refuse programs that declare something they never use.'),
  row('vcc_feature', 'bits', '+err_unref,+unsafe_path', { bits: VCC_FEATURES },
    'How programs are compiled. The parameters vcc_err_unref and vcc_unsafe_path are its bits as well.'),
  row('vcc_unsafe_path', 'bool', 'on', { unit: 'bool' },
    'Allow a "/" in the names of included files and extensions, and `import ... from ...`.'),
  row('vcl_cooldown', 'timeout', '600.000', { min: '1.000', unit: 'seconds' },
    'How long a program in state auto stays warm after its last use.'),
  row('vcl_path', 'string', '/etc/proxyd:/usr/share/proxyd/vcl', { flags: ['build_options'] },
    'Directories, separated by colons, in which program files with relative names are looked for.'),
  row('vmod_path', 'string', '/usr/lib/proxyd/extensions', { flags: ['build_options'] },
    'Directories, separated by colons, in which extensions are looked for.'),
  row('vsl_buffer', 'bytes', '16k', { min: '267', minBy: ['vsl_reclen', 12], unit: 'bytes' },
    'No effect here but as the bound of vsl_reclen: log records are written at the end of each turn. It is at least vsl_reclen and 12 bytes.'),
  row('vsl_mask', 'mask', '-Debug,-BackendReuse,-ObjProtocol,-ObjStatus,-ObjReason,-ObjHeader,-VCL_trace,-ExpKill,-WorkThread,-Hash,-VfpAcct,-BackendStart,-H2RxHdr,-H2RxBody,-H2TxHdr,-H2TxBody,-VdpAcct,-ReqTarget', { since9: { default: '-Debug,-BackendReuse,-ObjProtocol,-ObjStatus,-ObjReason,-ObjHeader,-ExpKill,-WorkThread,-Hash,-VfpAcct,-BackendStart,-H2RxHdr,-H2RxBody,-H2TxHdr,-H2TxBody,-VdpAcct,-ReqTarget' } },
    'Which log records are left out.'),
  row('vsl_reclen', 'bytes', '255b', { min: '16b', max: '16372', maxBy: ['vsl_buffer', -12], unit: 'bytes' },
    'The longest log record; longer ones are cut.'),
  row('vsl_space', 'bytes', '80M', { min: '1M', max: '4G', unit: 'bytes', flags: ['must_restart'] },
    'The size of the log ring. In a small one a reader falls behind sooner and loses records.'),
  row('worker_threads', 'uint', '1', { defaultIs: 'the cores that the process may use', min: '1', max: `${MOST_THREADS}`, unit: 'threads', flags: ['must_restart'] },
    'How many threads of the worker serve clients, each with an event loop of its own. They have one cache, one log and one set of counters in common. The default counts the cores that the affinity of the process and the quota of its control group leave it.'),
  row('workspace_backend', 'bytes', '96k', { min: '1k', unit: 'bytes', flags: ['delayed_effect'] },
    'How many bytes of text one fetch may hold in header values and in what its program builds.'),
  row('workspace_client', 'bytes', '96k', { min: '9k', unit: 'bytes', flags: ['delayed_effect'] },
    'How many bytes of text one request may hold in header values and in what its program builds.'),
  row('workspace_session', 'bytes', '0.75k', { min: '384b', unit: 'bytes', flags: ['delayed_effect'] },
    'How many bytes of preamble a session may keep: the addresses and attributes of the PROXY protocol.'),
  row('xkey_fields', 'string', 'xkey X-HashTwo', {},
    'Response fields that hold the surrogate keys of an object, separated by blanks. The default is that of the Varnish module. "xkey Surrogate-Key Cache-Tag" takes those of three conventions, and a field of the origin\'s choice, as "xkey X-Version", lets all objects with one value go together. Objects that are in the cache already keep the keys that they came with.'),
  row('xkey_space', 'bytes', '0.25G', { min: '0b', unit: 'bytes' },
    'How large the index of surrogate keys may become. Objects whose keys find no room are delivered, but not kept, since they could not be purged. 0 sets no limit.'),
] as const satisfies readonly ParamRow[];

export type ParamName = (typeof PARAMS)[number]['name'];
type NumericType = 'timeout' | 'bytes' | 'uint' | 'real' | 'bool' | 'choice';
/** Parameters with a numeric value on the hot path; booleans are 0 and 1. */
export type NumericParam = Extract<(typeof PARAMS)[number], { type: NumericType }>['name'];
export type FeatureName = (typeof FEATURES)[number]['name'];
export type DebugName = (typeof DEBUG_BITS)[number]['name'];

/** A parameter of Varnish without a meaning here. */
export interface AbsentParam {
  readonly name: string;
  /** Type of its values, so that invalid ones are rejected: `pool` is min_pool,max_pool,max_age. */
  readonly type: ParamType | 'pool';
  /** Bounds that do not depend on other parameters. */
  readonly min?: string;
  readonly max?: string;
  readonly bits?: ParamRow['bits'];
  /** Why it has no effect, in one line. */
  readonly reason: string;
}

const NO_POOL = 'requests do not run on a pool of threads';
const THREADS = `${NO_POOL}; worker_threads says how many threads serve clients, with an event loop each`;
const COMPILER = 'programs are compiled without a C compiler';
const ALLOCATOR = 'there is no such pool of memory';
function absent(
  name: string,
  type: AbsentParam['type'],
  reason: string,
  bounds: Pick<AbsentParam, 'min' | 'max' | 'bits'> = {},
): AbsentParam {
  return { name, type, reason, ...bounds };
}

// biome-ignore format: a row is a line
export const ABSENT_PARAMS: readonly AbsentParam[] = [
  absent('accept_filter', 'string', 'the platform has no accept filters'),
  absent('acceptor_sleep_decay', 'real', 'the acceptor never sleeps', { min: '0', max: '1' }),
  absent('acceptor_sleep_incr', 'timeout', 'the acceptor never sleeps', { min: '0.000', max: '1.000' }),
  absent('acceptor_sleep_max', 'timeout', 'the acceptor never sleeps', { min: '0.000', max: '10.000' }),
  absent('cc_command', 'string', COMPILER),
  absent('cc_warnings', 'string', COMPILER),
  absent('critbit_cooloff', 'timeout', 'the index of objects is not a critbit tree', { min: '60.000', max: '254.000' }),
  absent('experimental', 'bits', 'there is no experimental feature', { bits: [bit('drop_pools', '')] }),
  absent('h2_rxbuf_storage', 'string', 'bodies of requests do not wait in a storage; the windows of HTTP/2 bound them'),
  absent('http1_iovs', 'uint', 'responses are not sent with writev(2)', { min: '5', max: '1024' }),
  absent('panic_buffer', 'bytes', 'panic reports are as long as they are', { min: '4k', max: '10M' }),
  absent('pcre2_jit_compilation', 'bool', 'regular expressions are not compiled by PCRE2'),
  absent('pool_req', 'pool', ALLOCATOR),
  absent('pool_sess', 'pool', ALLOCATOR),
  absent('pool_vbo', 'pool', ALLOCATOR),
  absent('sigsegv_handler', 'bool', 'the runtime has its own'),
  absent('tcp_fastopen', 'bool', 'the platform offers no access to it'),
  absent('thread_pool_add_delay', 'timeout', THREADS, { min: '0.000' }),
  absent('thread_pool_destroy_delay', 'timeout', THREADS, { min: '0.010' }),
  absent('thread_pool_fail_delay', 'timeout', THREADS, { min: '0.010' }),
  absent('thread_pool_max', 'uint', THREADS, { min: '100' }),
  absent('thread_pool_min', 'uint', THREADS, { min: '5' }),
  absent('thread_pool_reserve', 'uint', THREADS),
  absent('thread_pool_stack', 'bytes', THREADS, { min: '16k' }),
  absent('thread_pool_timeout', 'timeout', THREADS, { min: '10.000' }),
  absent('thread_pool_watchdog', 'timeout', THREADS, { min: '0.100' }),
  absent('thread_pools', 'uint', THREADS, { min: '1', max: '32' }),
  absent('thread_queue_limit', 'uint', THREADS, { min: '0' }),
  absent('thread_stats_rate', 'uint', THREADS, { min: '0' }),
  absent('vcc_allow_inline_c', 'bool', 'programs cannot contain C code'),
  absent('vsm_free_cooldown', 'timeout', 'log and counters are plain files', { min: '10.000', max: '600.000' }),
  absent('workspace_thread', 'bytes', NO_POOL, { min: '0.25k', max: '8k' }),
];
