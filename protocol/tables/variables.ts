// The variables of VCL (vcl-var(7)): type, where each may be read, set and unset, and the language versions that have
// it. Used by the checker, completion and the manual. Places are state names without `vcl_`, or `client`, `backend`
// and `all` for their groups. A name that ends in `.*` is a family of headers; `storage.*.x` has the storage's name
// in the middle.

import { STATES } from './states.ts';

export type VariableType =
  | 'STRING'
  | 'BOOL'
  | 'INT'
  | 'BYTES'
  | 'DURATION'
  | 'TIME'
  | 'IP'
  | 'BACKEND'
  | 'STEVEDORE'
  | 'HEADER'
  | 'HTTP'
  | 'BLOB'
  | 'BODY';

export interface VariableRow {
  name: string;
  type: VariableType;
  /** Blank-separated places; empty for none. */
  read: string;
  write: string;
  unset: string;
  /** First and last language version, 40 or 41; unbounded if absent. */
  since?: number;
  until?: number;
  /** A type that the value has, too, where only that one fits. */
  also?: 'INT';
  /** Not in Varnish 7.1: the release that has it first. With `was` only some places are newer, and these were its places. */
  newer?: { release: Release; was?: { read?: string; write?: string; unset?: string } };
  /** Not in Varnish. */
  ours?: true;
  help: string;
}

/** Releases of Varnish whose language has more than that of 7.1. */
export type Release = '7.2' | '7.3' | '7.4' | '7.5' | '7.6' | '7.7' | '8.0' | '9.0';

export const STATE_GROUPS: Readonly<Record<string, readonly string[]>> = {
  client: STATES.filter((row) => row.side === 'client').map((row) => row.name),
  backend: STATES.filter((row) => row.side === 'backend').map((row) => row.name),
  all: STATES.map((row) => row.name),
};

/** States named by a `places` text of a row. */
export function placesToStates(places: string): string[] {
  if (places === '') return [];
  return places.split(' ').flatMap((p) => STATE_GROUPS[p] ?? [p]);
}

function row<
  const N extends string,
  const T extends VariableType,
  const R extends string,
  const W extends string,
  const U extends string,
>(
  name: N,
  type: T,
  read: R,
  write: W,
  unset: U,
  help: string,
  facts?: Pick<VariableRow, 'since' | 'until' | 'also' | 'newer' | 'ours'>,
) {
  return { name, type, read, write, unset, help, ...facts };
}

/** The places of beresp. */
const RESPONSES = 'backend_response backend_error backend_refresh';
/** Those before 8.0; below, what of a row vcl_backend_refresh has, too. */
const BEFORE_REFRESH = 'backend_response backend_error';
const REFRESH = { newer: { release: '8.0', was: { read: BEFORE_REFRESH } } } as const;
const REFRESH_SET = {
  newer: { release: '8.0', was: { read: BEFORE_REFRESH, write: BEFORE_REFRESH } },
} as const;
const REFRESH_UNSET = {
  newer: { release: '8.0', was: { read: BEFORE_REFRESH, write: BEFORE_REFRESH, unset: BEFORE_REFRESH } },
} as const;
const STALE = { newer: { release: '8.0' } } as const;

const UNSET_SINCE_75 = { newer: { release: '7.5', was: { unset: '' } } } as const;

/** A parameter that programs may read, for `param.<name>`. */
function param<const N extends string, const T extends VariableType>(name: N, type: T) {
  return row(`param.${name}`, type, 'all', '', '', `The parameter ${name}, as it is now.`, {
    newer: { release: '8.0' },
  });
}

// biome-ignore format: a row is a line
export const VARIABLES = [
  row('local.ip', 'IP', 'client backend', '', '', 'Address of our end of the connection; 0.0.0.0 for a Unix socket.'),
  row('local.endpoint', 'STRING', 'client backend', '', '', 'Address text of the listener that took the connection.', { since: 41 }),
  row('local.socket', 'STRING', 'client backend', '', '', 'Name of the listener that took the connection.', { since: 41 }),
  row('remote.ip', 'IP', 'client backend', '', '', 'Address of the other end of the connection: a client or a proxy in between.'),
  row('client.ip', 'IP', 'client backend', '', '', "The client's address: remote.ip, or the address in a PROXY header."),
  row('client.identity', 'STRING', 'client backend', 'client', '', 'Identity of the client, for directors that keep clients apart. client.ip unless set.'),
  row('server.ip', 'IP', 'client backend', '', '', 'The address the client connected to: local.ip, or the address in a PROXY header.'),
  row('server.hostname', 'STRING', 'all', '', '', 'Name of this host.'),
  row('server.identity', 'STRING', 'all', '', '', 'Name of this instance (-i), the host name by default.'),
  row('req', 'HTTP', 'client', '', '', 'The whole request, as an argument of functions.'),
  row('req.method', 'STRING', 'client', 'client', '', 'Method of the request.'),
  row('req.url', 'STRING', 'client', 'client', '', 'Target of the request: path and query.'),
  row('req.proto', 'STRING', 'client', 'client', '', 'Protocol version of the request.', { until: 40 }),
  row('req.proto', 'STRING', 'client', '', '', 'Protocol version of the request.', { since: 41 }),
  row('req.http.*', 'HEADER', 'client', 'client', 'client', 'A header of the request. Setting replaces all headers of the name.'),
  row('req.hash', 'BLOB', 'hit miss pass purge deliver synth pipe', '', '', 'The lookup key of the request, hashed.',
    { newer: { release: '7.7', was: { read: 'hit miss pass purge deliver' } } }),
  row('req.restarts', 'INT', 'client', '', '', 'How often this request was restarted.'),
  row('req.storage', 'STEVEDORE', 'client', 'client', '', 'Storage that keeps the request body.'),
  row('req.filters', 'STRING', 'recv', 'recv', '',
    'Filters the body of the request passes as it is read: gzip, gunzip, testgunzip and those of extensions. It cannot be set without a body, nor once that is read.', { newer: { release: '7.7' } }),
  row('req.esi_level', 'INT', 'client', '', '', 'Depth of ESI inclusion; 0 for what the client asked for.'),
  row('req.max_age', 'DURATION', 'client', 'client', 'client', 'Objects older than this are not taken from the cache. -1 if unset.',
    { newer: { release: '9.0' } }),
  row('req.ttl', 'DURATION', 'client', 'client', 'client', 'The older name of req.max_age.',
    { newer: { release: '7.7', was: { unset: '' } } }),
  row('req.grace', 'DURATION', 'client', 'client', 'client', 'Upper bound on the grace of objects, for this request. -1 if unset.',
    { newer: { release: '7.7', was: { unset: '' } } }),
  row('req.trace', 'BOOL', 'client', 'client', '',
    'Whether the statements that run are logged (VCL_trace), whatever vsl_mask says. Unless set it is what vsl_mask says.', { newer: { release: '7.4' } }),
  row('req.xid', 'STRING', 'client', '', '', 'Id of this request.', { also: 'INT' }),
  row('req.esi', 'BOOL', 'client', 'client', '',
    'Whether the includes of pages parsed with beresp.do_esi are put in. True unless set; resp.do_esi has taken its place in 4.1.', { until: 40 }),
  row('req.can_gzip', 'BOOL', 'client', '', '', 'Whether the client takes gzip.'),
  row('req.backend_hint', 'BACKEND', 'client', 'client', '', 'Backend or director for a fetch.'),
  row('req.hash_ignore_busy', 'BOOL', 'client', 'client', '', 'Do not wait for another request that is fetching the object.'),
  row('req.hash_ignore_vary', 'BOOL', 'client', 'client', '', 'Take the first variant, whichever it is.'),
  row('req.hash_always_miss', 'BOOL', 'client', 'client', '', 'Fetch a new copy even when a good object is there.'),
  row('req.slice', 'BYTES', 'client', 'client', '',
    'Bytes of the slices in which an object is fetched and kept that is larger. 0, unless set, keeps it whole.', { ours: true }),
  row('req.parts', 'BOOL', 'client', 'client', '',
    'Whether a range that is not in the cache is fetched and kept as a part, to be completed by later ones. True with http_profile=rfc9111 unless set, else false.', { ours: true }),
  row('req.is_hitmiss', 'BOOL', 'client', '', '', 'Whether the lookup found a hit-for-miss marker.'),
  row('req.is_hitpass', 'BOOL', 'client', '', '', 'Whether the lookup found a hit-for-pass marker.'),
  row('req.time', 'TIME', 'client', '', '', 'When the request was complete; restarts do not change it.'),
  row('req.transport', 'STRING', 'client', '', '', 'Protocol that brought the request.'),
  row('req_top.method', 'STRING', 'client', '', '', 'Method of the request at the top of the ESI tree.'),
  row('req_top.url', 'STRING', 'client', '', '', 'Target of the request at the top of the ESI tree.'),
  row('req_top.http.*', 'HEADER', 'client', '', '', 'A header of the request at the top of the ESI tree.'),
  row('req_top.proto', 'STRING', 'client', '', '', 'Protocol version of the request at the top of the ESI tree.'),
  row('req_top.time', 'TIME', 'client', '', '', 'When the request at the top of the ESI tree was complete.'),
  row('bereq', 'HTTP', 'backend', '', '', 'The whole backend request, as an argument of functions.'),
  row('bereq.xid', 'STRING', 'pipe backend', '', '', 'Id of this backend request.', { also: 'INT' }),
  row('bereq.retries', 'INT', 'backend', '', '', 'How often this fetch was retried.'),
  row('bereq.retry_connect', 'BOOL', 'backend', 'backend', '',
    'Whether a kept connection that the backend had closed is replaced by another, once, if sending the request twice can do no harm. True unless set.',
    { newer: { release: '9.0' } }),
  row('bereq.trace', 'BOOL', 'backend', 'backend', '', 'As req.trace, whose value it has unless set.', { newer: { release: '7.4' } }),
  row('bereq.backend', 'BACKEND', 'pipe backend', 'pipe backend', '', 'Backend or director to fetch from.'),
  row('bereq.body', 'BODY', '', '', 'backend_fetch', 'The body that would be sent; unset drops it and its length.'),
  row('bereq.hash', 'BLOB', 'pipe backend', '', '', 'The lookup key, as req.hash.'),
  row('bereq.method', 'STRING', 'pipe backend', 'pipe backend', '', 'Method sent to the backend.'),
  row('bereq.url', 'STRING', 'pipe backend', 'pipe backend', '', 'Target sent to the backend.'),
  row('bereq.proto', 'STRING', 'pipe backend', 'pipe backend', '', 'Protocol version sent to the backend.', { until: 40 }),
  row('bereq.proto', 'STRING', 'pipe backend', '', '', 'Protocol version sent to the backend.', { since: 41 }),
  row('bereq.http.*', 'HEADER', 'pipe backend', 'pipe backend', 'pipe backend', 'A header sent to the backend.'),
  row('bereq.uncacheable', 'BOOL', 'backend', '', '', 'Whether this fetch is a pass, so that its result is not kept.'),
  row('bereq.connect_timeout', 'DURATION', 'pipe backend', 'pipe backend', 'pipe backend', 'How long connecting may take.', UNSET_SINCE_75),
  row('bereq.first_byte_timeout', 'DURATION', 'backend', 'backend', 'pipe backend', 'How long the response may take to begin.', UNSET_SINCE_75),
  row('bereq.between_bytes_timeout', 'DURATION', 'backend', 'backend', 'pipe backend', 'How long the response may pause.', UNSET_SINCE_75),
  row('bereq.filters', 'STRING', 'backend_fetch', 'backend_fetch', '',
    'Filters the body of the request passes on its way to the backend: gunzip and those of extensions.', { newer: { release: '7.7' } }),
  row('bereq.task_deadline', 'DURATION', 'pipe', 'pipe', 'pipe', 'How long the pipe may last in all; 0 sets no limit. The parameter pipe_task_deadline unless set.', { newer: { release: '7.5' } }),
  row('bereq.is_bgfetch', 'BOOL', 'backend', '', '', 'Whether the client was served from grace and this fetch refreshes.'),
  row('bereq.is_hitmiss', 'BOOL', 'backend', '', '', 'Whether a hit-for-miss marker led to this fetch.'),
  row('bereq.is_hitpass', 'BOOL', 'backend', '', '', 'Whether a hit-for-pass marker led to this fetch.'),
  row('bereq.time', 'TIME', 'pipe backend', '', '', 'When the first attempt was prepared; retries do not change it.'),
  row('beresp', 'HTTP', RESPONSES, '', '', 'The whole backend response, as an argument of functions.', REFRESH),
  row('beresp.body', 'BODY', '', 'backend_error', '', 'Body of a response made in vcl_backend_error.'),
  row('beresp.proto', 'STRING', RESPONSES, RESPONSES, '',
    'Protocol version of the backend response.', { until: 40, ...REFRESH_SET }),
  row('beresp.proto', 'STRING', RESPONSES, '', '', 'Protocol version of the backend response.', { since: 41, ...REFRESH }),
  row('beresp.status', 'INT', RESPONSES, RESPONSES, '',
    'Status of the backend response; setting it sets the usual reason too.', REFRESH_SET),
  row('beresp.reason', 'STRING', RESPONSES, RESPONSES, '', 'Reason phrase of the backend response.', REFRESH_SET),
  row('beresp.http.*', 'HEADER', RESPONSES, RESPONSES, RESPONSES,
    'A header of the backend response.', REFRESH_UNSET),
  row('beresp.do_esi', 'BOOL', RESPONSES, RESPONSES, '',
    'Parse the body for ESI as it is fetched. False unless set.', REFRESH_SET),
  row('beresp.do_stream', 'BOOL', RESPONSES, RESPONSES, '', 'Deliver while fetching. True unless set.', REFRESH_SET),
  row('beresp.do_gzip', 'BOOL', RESPONSES, RESPONSES, '', 'Compress the body for storage.', REFRESH_SET),
  row('beresp.do_gunzip', 'BOOL', RESPONSES, RESPONSES, '', 'Unpack the body for storage.', REFRESH_SET),
  row('beresp.was_304', 'BOOL', RESPONSES, '', '', 'Whether a 304 confirmed an object we had.', REFRESH),
  row('beresp.uncacheable', 'BOOL', RESPONSES, RESPONSES, '',
    'Keep the result from later requests; cannot be taken back.', REFRESH_SET),
  row('beresp.transit_buffer', 'BYTES', 'backend_response', 'backend_response', '',
    'How many bytes of an uncacheable response may be ahead of its client while it is delivered as it comes. The parameter transit_buffer unless set; 0 for 256 kilobytes.',
    { newer: { release: '7.3' } }),
  row('beresp.ttl', 'DURATION', RESPONSES, RESPONSES, '', 'Remaining time to live of the object.', REFRESH_SET),
  row('beresp.age', 'DURATION', RESPONSES, '', '', 'Age the object came with.', REFRESH),
  row('beresp.grace', 'DURATION', RESPONSES, RESPONSES, '',
    'How long the object may serve after its TTL while it is refreshed.', REFRESH_SET),
  row('beresp.keep', 'DURATION', RESPONSES, RESPONSES, '',
    'How long after grace the object may serve conditional fetches.', REFRESH_SET),
  row('beresp.backend', 'BACKEND', RESPONSES, '', '', 'The backend that answered.', REFRESH),
  row('beresp.backend.name', 'STRING', RESPONSES, '', '', 'Name of the backend that answered.', REFRESH),
  row('beresp.backend.ip', 'IP', 'backend_response', '', '', 'Address of the backend that answered.', { until: 40 }),
  row('beresp.storage', 'STEVEDORE', RESPONSES, RESPONSES, '', 'Storage that will keep the object.', REFRESH_SET),
  row('beresp.storage_hint', 'STRING', RESPONSES, RESPONSES, '',
    'Name of the storage that will keep the object.', { until: 40, ...REFRESH_SET }),
  row('beresp.filters', 'STRING', 'backend_response', 'backend_response', '', 'Filters the body passes on its way into the cache.'),
  row('beresp.time', 'TIME', RESPONSES, '', '', 'When the response head was complete.', REFRESH),
  row('obj_stale.proto', 'STRING', 'backend_refresh', '', '', 'Protocol version stored with the stale object.', STALE),
  row('obj_stale.status', 'INT', 'backend_refresh', '', '', 'Status stored with the stale object.', STALE),
  row('obj_stale.reason', 'STRING', 'backend_refresh', '', '', 'Reason phrase stored with the stale object.', STALE),
  row('obj_stale.hits', 'INT', 'backend_refresh', '', '', 'How many hits the stale object had.', STALE),
  row('obj_stale.http.*', 'HEADER', 'backend_refresh', '', '', 'A header stored with the stale object.', STALE),
  row('obj_stale.ttl', 'DURATION', 'backend_refresh', '', '', 'Remaining time to live of the stale object; usually below 0.', STALE),
  row('obj_stale.age', 'DURATION', 'backend_refresh', '', '', 'Age of the stale object.', STALE),
  row('obj_stale.grace', 'DURATION', 'backend_refresh', '', '', 'Grace of the stale object.', STALE),
  row('obj_stale.keep', 'DURATION', 'backend_refresh', '', '', 'Keep of the stale object.', STALE),
  row('obj_stale.time', 'TIME', 'backend_refresh', '', '', 'When the stale object was made, by the clock of its origin.', STALE),
  row('obj_stale.uncacheable', 'BOOL', 'backend_refresh', '', '', 'Whether the stale object is for one request only.', STALE),
  row('obj_stale.storage', 'STEVEDORE', 'backend_refresh', '', '', 'Storage that keeps the stale object.', STALE),
  row('obj_stale.can_esi', 'BOOL', 'backend_refresh', '', '', 'Whether the body was parsed for ESI.', STALE),
  row('obj_stale.is_valid', 'BOOL', 'backend_refresh', '', '',
    'Whether the stale object may still be used: no purge and no ban has removed it since it was looked up.', STALE),
  row('obj.proto', 'STRING', 'hit', '', '', 'Protocol version stored with the object.'),
  row('obj.status', 'INT', 'hit', '', '', 'Status stored with the object.'),
  row('obj.reason', 'STRING', 'hit', '', '', 'Reason phrase stored with the object.'),
  row('obj.hits', 'INT', 'hit deliver', '', '', 'How many hits the object had; 0 in vcl_deliver is a miss.'),
  row('obj.http.*', 'HEADER', 'hit', '', '', 'A header stored with the object.'),
  row('obj.ttl', 'DURATION', 'hit deliver', '', '', 'Remaining time to live of the object.'),
  row('obj.age', 'DURATION', 'hit deliver', '', '', 'Age of the object.'),
  row('obj.grace', 'DURATION', 'hit deliver', '', '', 'Grace of the object.'),
  row('obj.keep', 'DURATION', 'hit deliver', '', '', 'Keep of the object.'),
  row('obj.time', 'TIME', 'hit deliver', '', '', 'When the object was made, by the clock of its origin.'),
  row('obj.uncacheable', 'BOOL', 'deliver', '', '', 'Whether the object is for this request only.'),
  row('obj.storage', 'STEVEDORE', 'hit deliver', '', '', 'Storage that keeps the object.'),
  row('obj.can_esi', 'BOOL', 'hit deliver', '', '', 'Whether the body was parsed for ESI.'),
  row('resp', 'HTTP', 'deliver synth', '', '', 'The whole response, as an argument of functions.'),
  row('resp.body', 'BODY', '', 'synth', '', 'Body of a response made in vcl_synth.'),
  row('resp.proto', 'STRING', 'deliver synth', 'deliver synth', '', 'Protocol version of the response.', { until: 40 }),
  row('resp.proto', 'STRING', 'deliver synth', '', '', 'Protocol version of the response.', { since: 41 }),
  row('resp.status', 'INT', 'deliver synth', 'deliver synth', '', 'Status of the response; setting it sets the usual reason too.'),
  row('resp.reason', 'STRING', 'deliver synth', 'deliver synth', '', 'Reason phrase of the response.'),
  row('resp.http.*', 'HEADER', 'deliver synth', 'deliver synth', 'deliver synth', 'A header of the response.'),
  row('resp.do_esi', 'BOOL', 'deliver synth', 'deliver synth', '',
    'Whether the includes of a page parsed with beresp.do_esi are put in at this delivery. True unless set.', { since: 41 }),
  row('resp.is_streaming', 'BOOL', 'deliver synth', '', '', 'Whether the object is still being fetched.'),
  row('resp.filters', 'STRING', 'deliver synth', 'deliver synth', '', 'Filters the body passes on its way to the client.'),
  row('resp.time', 'TIME', 'deliver synth', '', '', 'When the response was begun.'),
  row('now', 'TIME', 'all', '', '', 'The current time; it stands still within one state.'),
  row('sess.xid', 'STRING', 'client backend', '', '', 'Id of the session.', { since: 41, also: 'INT' }),
  row('sess.timeout_idle', 'DURATION', 'client', 'client', 'client', 'How long the session may idle between requests.', UNSET_SINCE_75),
  row('sess.timeout_linger', 'DURATION', 'client', 'client', 'client', 'How long a thread waits on an idle session.', UNSET_SINCE_75),
  row('sess.idle_send_timeout', 'DURATION', 'client', 'client', 'client', 'How long sending may make no progress.', UNSET_SINCE_75),
  row('sess.send_timeout', 'DURATION', 'client', 'client', 'client', 'How long sending a response may take.', UNSET_SINCE_75),
  param('backend_idle_timeout', 'DURATION'),
  param('backend_wait_limit', 'INT'),
  param('backend_wait_timeout', 'DURATION'),
  param('between_bytes_timeout', 'DURATION'),
  param('connect_timeout', 'DURATION'),
  param('default_grace', 'DURATION'),
  param('default_keep', 'DURATION'),
  param('default_ttl', 'DURATION'),
  param('first_byte_timeout', 'DURATION'),
  param('idle_send_timeout', 'DURATION'),
  param('max_esi_depth', 'INT'),
  param('max_restarts', 'INT'),
  param('max_retries', 'INT'),
  param('pipe_task_deadline', 'DURATION'),
  param('pipe_timeout', 'DURATION'),
  param('send_timeout', 'DURATION'),
  param('shortlived', 'DURATION'),
  param('timeout_idle', 'DURATION'),
  param('transit_buffer', 'BYTES'),
  param('uncacheable_ttl', 'DURATION'),
  row('storage.*.free_space', 'BYTES', 'client backend', '', '', 'Free space of a storage.'),
  row('storage.*.used_space', 'BYTES', 'client backend', '', '', 'Used space of a storage.'),
  row('storage.*.happy', 'BOOL', 'client backend', '', '', 'Whether a storage takes objects.'),
] as const satisfies readonly VariableRow[];
