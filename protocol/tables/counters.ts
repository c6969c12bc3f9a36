// All counters: one row each, with the names, kinds and levels known to exporters for Varnish. A row does not say
// where the value is stored; daemon/stats has one numeric property per row. SMA rows exist once per storage, VBE rows
// once per backend of each loaded program. Order is the order of output.

import { REFUSALS, type RefusalCounter } from './refusals.ts';

/** c counts up, g is a gauge, b a bitmap of 64 bits. */
export type CounterFlag = 'c' | 'g' | 'b';
/** i plain number, B bytes, d seconds, b bitmap. */
export type CounterFormat = 'i' | 'B' | 'd' | 'b';
export type CounterLevel = 'info' | 'diag' | 'debug';

export interface CounterRow {
  readonly name: string;
  readonly flag: CounterFlag;
  readonly format: CounterFormat;
  readonly level: CounterLevel;
  readonly help: string;
  /** How to combine several threads, or several daemons shown as one: the first one's value if it is the same for all
   * or belongs to the process, or the highest. The sum if absent. A bitmap is the first one's. */
  readonly threads?: 'first' | 'worst';
}

function row<const N extends string>(
  name: N,
  flag: CounterFlag,
  format: CounterFormat,
  level: CounterLevel,
  help: string,
  threads?: 'first' | 'worst',
): CounterRow & { readonly name: N } {
  return { name, flag, format, level, help, ...(threads && { threads }) };
}

/** States of the worker, as counted by MGT.worker_state: worse states are higher. */
export const WORKER_STATES = [
  'running',
  'starting',
  'stopping',
  'stopped',
  'no program',
  'dead, to be replaced',
  'dead',
] as const;
export type WorkerStatus = (typeof WORKER_STATES)[number];

/** The manager; available even without a worker. */
// biome-ignore format: a row is a line
export const MGT_COUNTERS = [
  row('uptime', 'c', 'd', 'info', 'Seconds since the manager started'),
  row('child_start', 'c', 'i', 'diag', 'Worker processes started'),
  row('child_exit', 'c', 'i', 'diag', 'Worker processes that ended on request'),
  row('child_stop', 'c', 'i', 'diag', 'Worker processes that ended by themselves with an exit status'),
  row('child_died', 'c', 'i', 'diag', 'Worker processes ended by a signal'),
  row('child_dump', 'c', 'i', 'diag', 'Worker processes that left a core file'),
  row('child_panic', 'c', 'i', 'diag', 'Worker processes that reported a panic'),
  row('worker_state', 'g', 'i', 'diag', `State of the worker: ${WORKER_STATES.map((text, i) => `${i} ${text}`).join(', ')}`, 'worst'),
  row('worker_since', 'g', 'd', 'diag', 'Seconds since the state of the worker last changed'),
  row('worker_silent', 'g', 'd', 'diag', 'Seconds since all threads of a running worker last reported; more than a few: one hangs or cannot write', 'worst'),
  row('cpu', 'g', 'i', 'diag', 'Processor time that the manager used in the last second, in 1/1000'),
  row('rss_bytes', 'g', 'B', 'diag', 'Resident memory of the manager'),
] as const satisfies readonly CounterRow[];
export type MgtCounterName = (typeof MGT_COUNTERS)[number]['name'];

/** One for each reason for refusing a request. */
const REFUSED_COUNTERS = REFUSALS.filter((refusal) => !('answersOnly' in refusal)).map((refusal) =>
  row(`refused_${refusal.name}` as RefusalCounter, 'c', 'i', 'diag', `Requests refused: ${refusal.text}`),
);

/** The worker as a whole. */
// biome-ignore format: a row is a line
export const MAIN_COUNTERS = [
  row('summs', 'c', 'i', 'diag', 'Times the counters were summed up for a publication'),
  row('uptime', 'c', 'd', 'info', 'Seconds since the worker started', 'first'),
  row('sess_conn', 'c', 'i', 'info', 'Client connections accepted'),
  row('sess_fail', 'c', 'i', 'info', 'Failed accepts, all causes'),
  row('sess_fail_econnaborted', 'c', 'i', 'info', 'Failed accepts: the client had already closed'),
  row('sess_fail_eintr', 'c', 'i', 'info', 'Failed accepts: interrupted'),
  row('sess_fail_emfile', 'c', 'i', 'info', 'Failed accepts: out of file descriptors'),
  row('sess_fail_ebadf', 'c', 'i', 'info', 'Failed accepts: listening socket unusable'),
  row('sess_fail_enomem', 'c', 'i', 'info', 'Failed accepts: out of memory'),
  row('sess_fail_other', 'c', 'i', 'info', 'Failed accepts: any other cause'),
  row('client_req_400', 'c', 'i', 'info', 'Requests refused as malformed (400)'),
  row('client_req_417', 'c', 'i', 'info', 'Requests refused for their Expect field (417)'),
  row('client_req', 'c', 'i', 'info', 'Well-formed client requests'),
  row('client_req_again', 'c', 'i', 'diag', 'Requests that client_req counted again as they resumed after a wait (busy_wakeup)'),
  row('http1_absolute_form', 'c', 'i', 'info', 'HTTP/1 requests with an absolute URL as target'),
  row('esi_req', 'c', 'i', 'info', 'ESI subrequests'),
  row('cache_hit', 'c', 'i', 'info', 'Lookups that found a usable object'),
  row('cache_hit_grace', 'c', 'i', 'info', 'Hits on a stale object within grace'),
  row('cache_hitpass', 'c', 'i', 'info', 'Lookups that found a hit-for-pass mark'),
  row('cache_hitmiss', 'c', 'i', 'info', 'Lookups that found a hit-for-miss mark'),
  row('cache_miss', 'c', 'i', 'info', 'Lookups that led to a fetch'),
  row('beresp_uncacheable', 'c', 'i', 'info', 'Backend responses marked uncacheable'),
  row('beresp_shortlived', 'c', 'i', 'info', 'Backend responses with a lifetime shorter than shortlived'),
  row('backend_conn', 'c', 'i', 'info', 'Backend connections opened'),
  row('backend_unhealthy', 'c', 'i', 'info', 'Fetches refused: backend sick'),
  row('backend_busy', 'c', 'i', 'info', 'Fetches refused: backend at its connection limit'),
  row('transit_stored', 'c', 'B', 'diag', 'Bytes of uncacheable response bodies that were stored without a transit_buffer'),
  row('transit_buffered', 'c', 'B', 'diag', 'Bytes of uncacheable response bodies that were stored up to a transit_buffer'),
  row('backend_wait', 'c', 'i', 'info', 'Fetches that waited for a connection: backend at its limit'),
  row('backend_wait_fail', 'c', 'i', 'info', 'Fetches that gave up waiting for a connection'),
  row('backend_fail', 'c', 'i', 'info', 'Backend connections that failed'),
  row('backend_reuse', 'c', 'i', 'info', 'Fetches on a connection from the pool'),
  row('backend_recycle', 'c', 'i', 'info', 'Backend connections returned to the pool'),
  row('backend_retry', 'c', 'i', 'info', 'Fetches repeated because a pooled connection had closed'),
  row('fetch_head', 'c', 'i', 'info', 'Fetches without body: HEAD'),
  row('fetch_length', 'c', 'i', 'info', 'Fetches with Content-Length'),
  row('fetch_chunked', 'c', 'i', 'info', 'Fetches with chunked body'),
  row('fetch_eof', 'c', 'i', 'info', 'Fetches whose body ends with the connection'),
  row('fetch_bad', 'c', 'i', 'info', 'Fetches with unusable framing'),
  row('fetch_none', 'c', 'i', 'info', 'Fetches with empty body'),
  row('fetch_1xx', 'c', 'i', 'info', 'Fetches without body: 1xx'),
  row('fetch_204', 'c', 'i', 'info', 'Fetches without body: 204'),
  row('fetch_304', 'c', 'i', 'info', 'Fetches without body: 304'),
  row('fetch_failed', 'c', 'i', 'info', 'Failed fetches, all causes'),
  row('fetch_no_thread', 'c', 'i', 'info', 'Background fetches skipped: too many at once'),
  row('bgfetch_no_thread', 'c', 'i', 'info', 'The same, by its name since Varnish 7.2'),
  row('pools', 'g', 'i', 'info', 'Groups of worker threads'),
  row('threads', 'g', 'i', 'info', 'Worker threads'),
  row('threads_limited', 'c', 'i', 'info', 'Times the limit on worker threads was reached'),
  row('threads_created', 'c', 'i', 'info', 'Worker threads started'),
  row('threads_destroyed', 'c', 'i', 'info', 'Worker threads ended'),
  row('threads_failed', 'c', 'i', 'info', 'Worker threads that could not start'),
  row('thread_queue_len', 'g', 'i', 'info', 'Sessions waiting for a worker thread'),
  row('busy_sleep', 'c', 'i', 'info', 'Requests that waited for the fetch of another request'),
  row('busy_wakeup', 'c', 'i', 'info', 'Requests resumed after such a wait'),
  row('busy_killed', 'c', 'i', 'info', 'Requests abandoned during such a wait'),
  row('sess_queued', 'c', 'i', 'info', 'Sessions that had to wait for a thread'),
  row('sess_dropped', 'c', 'i', 'info', 'Sessions dropped for lack of a thread'),
  row('req_dropped', 'c', 'i', 'info', 'Requests dropped under load'),
  row('req_reset', 'c', 'i', 'info', 'Requests ended because the client had disconnected (varnish_release=9.0)'),
  row('n_object', 'g', 'i', 'info', 'Objects with a head in storage'),
  row('n_vampireobject', 'g', 'i', 'diag', 'Objects of a persistent storage that are not usable yet; none are here'),
  row('n_objectcore', 'g', 'i', 'info', 'Object cores, including marks and fetches in progress'),
  row('n_objecthead', 'g', 'i', 'info', 'Distinct lookup keys'),
  row('n_backend', 'g', 'i', 'info', 'Backends of all loaded programs', 'worst'),
  row('n_expired', 'c', 'i', 'info', 'Objects removed because they expired'),
  row('n_superseded', 'c', 'i', 'diag', 'Objects replaced by a newer one'),
  row('n_lru_nuked', 'c', 'i', 'info', 'Objects evicted to make room'),
  row('n_lru_moved', 'c', 'i', 'diag', 'Objects moved to the front of their LRU list'),
  row('n_lru_limited', 'c', 'i', 'info', 'Times nuke_limit stopped making room'),
  row('losthdr', 'c', 'i', 'info', 'Header fields dropped for lack of room'),
  row('s_sess', 'c', 'i', 'info', 'Sessions in total'),
  row('n_pipe', 'g', 'i', 'info', 'Pipes open now'),
  row('pipe_limited', 'c', 'i', 'info', 'Pipes refused at pipe_sess_max'),
  row('s_pipe', 'c', 'i', 'info', 'Pipes in total'),
  row('s_pass', 'c', 'i', 'info', 'Passed requests'),
  row('s_fetch', 'c', 'i', 'info', 'Fetches begun'),
  row('s_bgfetch', 'c', 'i', 'info', 'Background fetches started'),
  row('s_synth', 'c', 'i', 'info', 'Synthetic responses'),
  row('s_req_hdrbytes', 'c', 'B', 'info', 'Bytes of request heads'),
  row('s_req_bodybytes', 'c', 'B', 'info', 'Bytes of request bodies'),
  row('s_resp_hdrbytes', 'c', 'B', 'info', 'Bytes of response heads'),
  row('s_resp_bodybytes', 'c', 'B', 'info', 'Bytes of response bodies'),
  row('s_resp_bodybytes_hit', 'c', 'B', 'info', 's_resp_bodybytes of cache hits; a page with ESI includes counts by its own lookup'),
  row('s_pipe_hdrbytes', 'c', 'B', 'info', 'Bytes of request heads that opened a pipe'),
  row('s_pipe_in', 'c', 'B', 'info', 'Bytes piped from clients'),
  row('s_pipe_out', 'c', 'B', 'info', 'Bytes piped to clients'),
  row('sess_closed', 'c', 'i', 'info', 'Sessions closed normally'),
  row('sess_closed_err', 'c', 'i', 'info', 'Sessions closed with an error'),
  row('sess_readahead', 'c', 'i', 'info', 'Requests received together with the previous one'),
  row('sess_herd', 'c', 'i', 'diag', 'Times a session went idle between requests'),
  row('sc_rem_close', 'c', 'i', 'diag', 'Close reason REM_CLOSE: the client closed'),
  row('sc_req_close', 'c', 'i', 'diag', 'Close reason REQ_CLOSE: the request asked for it'),
  row('sc_req_http10', 'c', 'i', 'diag', 'Close reason REQ_HTTP10: version 1.0 without keep-alive'),
  row('sc_rx_bad', 'c', 'i', 'diag', 'Close reason RX_BAD: malformed request'),
  row('sc_rx_body', 'c', 'i', 'diag', 'Close reason RX_BODY: broken request body'),
  row('sc_rx_junk', 'c', 'i', 'diag', 'Close reason RX_JUNK: not a request'),
  row('sc_rx_overflow', 'c', 'i', 'diag', 'Close reason RX_OVERFLOW: request head too large'),
  row('sc_rx_timeout', 'c', 'i', 'diag', 'Close reason RX_TIMEOUT: the request arrived too slowly'),
  row('sc_rx_close_idle', 'c', 'i', 'diag', 'Close reason RX_CLOSE_IDLE: idle for timeout_idle'),
  row('sc_tx_pipe', 'c', 'i', 'diag', 'Close reason TX_PIPE: a pipe ended'),
  row('sc_tx_error', 'c', 'i', 'diag', 'Close reason TX_ERROR: writing failed'),
  row('sc_tx_eof', 'c', 'i', 'diag', 'Close reason TX_EOF: the body ended with the connection'),
  row('sc_resp_close', 'c', 'i', 'diag', 'Close reason RESP_CLOSE: the response asked for it'),
  row('sc_overload', 'c', 'i', 'diag', 'Close reason OVERLOAD: out of some resource'),
  row('sc_pipe_overflow', 'c', 'i', 'diag', 'Close reason PIPE_OVERFLOW: too many pipes'),
  row('sc_range_short', 'c', 'i', 'diag', 'Close reason RANGE_SHORT: too few bytes for a range'),
  row('sc_req_http20', 'c', 'i', 'diag', 'Close reason REQ_HTTP20: HTTP/2 not accepted'),
  row('sc_vcl_failure', 'c', 'i', 'diag', 'Close reason VCL_FAILURE: the VCL failed'),
  row('sc_rapid_reset', 'c', 'i', 'diag', 'Close reason RAPID_RESET: too many HTTP/2 streams reset by the client'),
  row('sc_bankrupt', 'c', 'i', 'diag', 'Close reason BANKRUPT: an HTTP/2 client left no window for its responses'),
  row('client_resp_500', 'c', 'i', 'diag', 'Responses that could not be built within limits'),
  row('ws_backend_overflow', 'c', 'i', 'diag', 'Times workspace_backend was too small'),
  row('ws_client_overflow', 'c', 'i', 'diag', 'Times workspace_client was too small'),
  row('ws_thread_overflow', 'c', 'i', 'diag', 'Times workspace_thread was too small'),
  row('ws_session_overflow', 'c', 'i', 'diag', 'Times workspace_session was too small'),
  row('shm_records', 'c', 'i', 'diag', 'Log records written'),
  row('shm_writes', 'c', 'i', 'diag', 'Writes to the log ring'),
  row('shm_flushes', 'c', 'i', 'diag', 'Writes to the log ring forced by a full staging buffer'),
  row('shm_cycles', 'c', 'i', 'diag', 'Times the log ring wrapped around'),
  row('shm_cont', 'c', 'i', 'diag', 'Writes to the log ring that waited for another thread; always 0 here'),
  row('shm_bytes', 'c', 'B', 'diag', 'Bytes written to the log ring'),
  row('backend_req', 'c', 'i', 'info', 'Requests sent to backends'),
  row('n_vcl', 'g', 'i', 'info', 'Loaded VCL programs, including discarded ones in use', 'worst'),
  row('n_vcl_avail', 'g', 'i', 'diag', 'VCL programs available', 'worst'),
  row('n_vcl_discard', 'g', 'i', 'diag', 'VCL programs discarded but still in use', 'worst'),
  row('vcl_fail', 'c', 'i', 'info', 'VCL failures'),
  row('bans', 'g', 'i', 'info', 'Bans on the list'),
  row('bans_completed', 'g', 'i', 'diag', 'Bans on the list that need no further tests'),
  row('bans_obj', 'g', 'i', 'diag', 'Bans on the list that test only obj.*'),
  row('bans_req', 'g', 'i', 'diag', 'Bans on the list that test req.*'),
  row('bans_added', 'c', 'i', 'diag', 'Bans added'),
  row('bans_deleted', 'c', 'i', 'diag', 'Bans deleted'),
  row('bans_tested', 'c', 'i', 'diag', 'Bans tested at lookup'),
  row('bans_obj_killed', 'c', 'i', 'diag', 'Objects removed by bans at lookup'),
  row('bans_lurker_tested', 'c', 'i', 'diag', 'Bans tested by the lurker'),
  row('bans_tests_tested', 'c', 'i', 'diag', 'Single ban conditions tested at lookup'),
  row('bans_lurker_tests_tested', 'c', 'i', 'diag', 'Single ban conditions tested by the lurker'),
  row('bans_lurker_obj_killed', 'c', 'i', 'diag', 'Objects removed by the lurker'),
  row('bans_lurker_obj_killed_cutoff', 'c', 'i', 'diag', 'Objects removed by the lurker to keep within ban_cutoff'),
  row('bans_dups', 'c', 'i', 'diag', 'Bans superseded by a later one'),
  row('bans_lurker_contention', 'c', 'i', 'diag', 'Times the lurker yielded to a lookup'),
  row('bans_soft', 'c', 'i', 'diag', 'Soft bans added'),
  row('bans_obj_softened', 'c', 'i', 'diag', 'Objects made stale by soft bans at lookup'),
  row('bans_lurker_obj_softened', 'c', 'i', 'diag', 'Objects made stale by the lurker'),
  row('bans_persisted_bytes', 'g', 'B', 'diag', 'Bytes of the ban list'),
  row('bans_persisted_fragmentation', 'g', 'B', 'diag', 'Bytes of superseded bans not yet freed'),
  row('n_purges', 'c', 'i', 'info', 'Purges'),
  row('n_obj_purged', 'c', 'i', 'info', 'Objects removed by purges'),
  row('n_soft_purges', 'c', 'i', 'info', 'Soft purges'),
  row('n_obj_soft_purged', 'c', 'i', 'info', 'Objects made stale by soft purges'),
  row('xkey_purges', 'c', 'i', 'info', 'Purges by surrogate key'),
  row('xkey_obj_purged', 'c', 'i', 'info', 'Objects removed by surrogate key'),
  row('xkey_soft_purges', 'c', 'i', 'info', 'Soft purges by surrogate key'),
  row('xkey_obj_soft_purged', 'c', 'i', 'info', 'Objects made stale by surrogate key'),
  row('xkey_keys', 'g', 'i', 'info', 'Surrogate keys that objects carry'),
  row('xkey_links', 'g', 'i', 'diag', 'Pairs of object and surrogate key'),
  row('xkey_bytes', 'g', 'B', 'diag', 'Bytes of the surrogate-key index'),
  row('xkey_refused', 'c', 'i', 'info', 'Objects not cached: no room for their surrogate keys'),
  row('exp_mailed', 'c', 'i', 'diag', 'Objects handed to expiry'),
  row('exp_received', 'c', 'i', 'diag', 'Objects taken over by expiry'),
  row('hcb_nolock', 'c', 'i', 'debug', 'Searches for a lookup key'),
  row('hcb_lock', 'c', 'i', 'debug', 'Searches that created the key'),
  row('hcb_insert', 'c', 'i', 'debug', 'Lookup keys made'),
  row('esi_errors', 'c', 'i', 'diag', 'Errors in ESI markup of fetched pages (ESI_xmlerror)'),
  row('esi_warnings', 'c', 'i', 'diag', 'Warnings about ESI markup of fetched pages (ESI_xmlerror)'),
  row('vmods', 'g', 'i', 'info', 'Extensions in use', 'first'),
  row('n_gzip', 'c', 'i', 'info', 'Bodies compressed'),
  row('n_gunzip', 'c', 'i', 'info', 'Bodies unpacked'),
  row('n_test_gunzip', 'c', 'i', 'info', 'Compressed bodies checked'),
  row('http1_iovs_flush', 'c', 'i', 'info', 'HTTP/1 writes split for lack of I/O vectors; always 0 here'),
  row('beresp_lenient', 'c', 'i', 'info', 'Backend responses in an old form that was read all the same'),
  row('client_req_lenient', 'c', 'i', 'info', 'Requests with bare LF line ends, accepted by feature lenient_lf'),
  row('h2_sess', 'c', 'i', 'info', 'HTTP/2 sessions'),
  row('h2_streams', 'c', 'i', 'info', 'Streams opened by clients: HTTP/2 requests'),
  row('h2_streams_refused', 'c', 'i', 'info', 'Streams refused beyond h2_max_concurrent_streams'),
  row('h2_rst_received', 'c', 'i', 'info', 'Streams reset by clients'),
  row('h2_rst_rapid', 'c', 'i', 'info', 'Of these, within h2_rapid_reset'),
  row('h2_rst_sent', 'c', 'i', 'info', 'Streams reset because of a client error'),
  row('h2_trailers', 'c', 'i', 'diag', 'Trailers of HTTP/2 requests (dropped)'),
  row('h2_goaway', 'c', 'i', 'info', 'HTTP/2 sessions ended because of a client error, all codes'),
  row('h2_goaway_protocol', 'c', 'i', 'diag', 'Ended with PROTOCOL_ERROR'),
  row('h2_goaway_flow', 'c', 'i', 'diag', 'Ended with FLOW_CONTROL_ERROR'),
  row('h2_goaway_frame_size', 'c', 'i', 'diag', 'Ended with FRAME_SIZE_ERROR'),
  row('h2_goaway_closed', 'c', 'i', 'diag', 'Ended with STREAM_CLOSED'),
  row('h2_goaway_compression', 'c', 'i', 'diag', 'Ended with COMPRESSION_ERROR'),
  row('h2_goaway_calm', 'c', 'i', 'diag', 'Ended with ENHANCE_YOUR_CALM: a flood'),
  row('h2_goaway_other', 'c', 'i', 'diag', 'Ended with any other code'),
  row('h2_goaway_graceful', 'c', 'i', 'diag', 'HTTP/2 sessions asked to end gracefully'),
  row('h2_goaway_received', 'c', 'i', 'diag', 'HTTP/2 sessions ended by the client (GOAWAY)'),
  row('h2_flood_reset', 'c', 'i', 'diag', 'Floods: streams opened and reset at once (h2_rapid_reset)'),
  row('h2_flood_error', 'c', 'i', 'diag', 'Floods: streams reset because of client errors'),
  row('h2_flood_continuation', 'c', 'i', 'diag', 'Floods: heads with too many CONTINUATION frames'),
  row('h2_flood_hpack', 'c', 'i', 'diag', 'Floods: heads that expand far beyond their size on the wire'),
  row('h2_flood_settings', 'c', 'i', 'diag', 'Floods: SETTINGS'),
  row('h2_flood_ping', 'c', 'i', 'diag', 'Floods: PING'),
  row('h2_flood_priority', 'c', 'i', 'diag', 'Floods: PRIORITY and PRIORITY_UPDATE'),
  row('h2_flood_window', 'c', 'i', 'diag', 'Floods: WINDOW_UPDATE'),
  row('h2_flood_data', 'c', 'i', 'diag', 'Floods: empty or nearly empty DATA frames'),
  row('h2_flood_other', 'c', 'i', 'diag', 'Floods: frames of any other type'),
  ...REFUSED_COUNTERS,
] as const satisfies readonly CounterRow[];
export type MainCounterName = (typeof MAIN_COUNTERS)[number]['name'];

/** One storage: SMA.<name>.<counter>. */
// biome-ignore format: a row is a line
export const SMA_COUNTERS = [
  row('c_req', 'c', 'i', 'info', 'Allocations'),
  row('c_fail', 'c', 'i', 'info', 'Allocations refused'),
  row('c_bytes', 'c', 'B', 'info', 'Bytes allocated in total'),
  row('c_freed', 'c', 'B', 'info', 'Bytes freed in total'),
  row('g_alloc', 'g', 'i', 'info', 'Allocations in use'),
  row('g_bytes', 'g', 'B', 'info', 'Bytes in use'),
  row('g_space', 'g', 'B', 'info', 'Bytes still free'),
] as const satisfies readonly CounterRow[];
export type SmaCounterName = (typeof SMA_COUNTERS)[number]['name'];

/** A disk tier: SMD.<name>.<counter>. */
// biome-ignore format: a row is a line
export const SMD_COUNTERS = [
  row('g_objects', 'g', 'i', 'info', 'Objects on disk that can be found'),
  row('g_bytes', 'g', 'B', 'info', 'Bytes of its segments in use'),
  row('g_space', 'g', 'B', 'info', 'Bytes until the oldest segment is removed'),
  row('g_segments', 'g', 'i', 'diag', 'Segments'),
  row('g_oldest', 'g', 'd', 'info', 'Age of the oldest segment; 0 while unknown'),
  row('g_waiting', 'g', 'B', 'info', 'Bytes waiting to be written'),
  row('c_hit', 'c', 'i', 'info', 'Objects found on disk'),
  row('c_miss', 'c', 'i', 'info', 'Disk lookups that found no usable object'),
  row('c_promote', 'c', 'i', 'info', 'Objects found on disk and loaded into memory'),
  row('c_promote_fail', 'c', 'i', 'info', 'Of those found, not loaded: no room, a ban, too late, or damaged'),
  row('c_write', 'c', 'i', 'info', 'Objects written'),
  row('c_write_bytes', 'c', 'B', 'info', 'Bytes written for objects, including record overhead'),
  row('c_write_object_bytes', 'c', 'B', 'info', 'Of these, bytes of heads and bodies'),
  row('c_write_again', 'c', 'i', 'info', 'Of the objects written, rewritten from a segment soon to be removed'),
  row('c_write_drop', 'c', 'i', 'info', 'Objects not written: too many waiting, or too large'),
  row('c_write_large', 'c', 'i', 'info', 'Of these, larger than an eighth of the storage'),
  row('c_write_fail', 'c', 'i', 'info', 'Writes failed by the device'),
  row('c_read_fail', 'c', 'i', 'info', 'Reads failed by the device'),
  row('c_checksum', 'c', 'i', 'info', 'Records and blocks rejected for a wrong checksum'),
  row('c_late', 'c', 'i', 'info', 'Reads abandoned after more than a second'),
  row('c_busy', 'c', 'i', 'info', 'Disk lookups skipped: too many in progress'),
  row('c_invalid', 'c', 'i', 'diag', 'Objects found that had been purged'),
  row('c_collision', 'c', 'i', 'diag', 'Records found that belong to another key'),
  row('c_segment_drop', 'c', 'i', 'info', 'Segments removed to make room, or unusable'),
  row('c_full_drop', 'c', 'i', 'info', 'Of these, removed since the device was full before the storage was'),
] as const satisfies readonly CounterRow[];
export type SmdCounterName = (typeof SMD_COUNTERS)[number]['name'];

/** TLS listeners, while there are any: TLS.<counter>; the certificates are the manager's to count. */
// biome-ignore format: a row is a line
export const TLS_COUNTERS = [
  row('handshakes', 'c', 'i', 'info', 'Handshakes with clients that were completed'),
  row('full', 'c', 'i', 'info', 'Of these, full handshakes with a new key'),
  row('resumed', 'c', 'i', 'info', 'Of these, resumed sessions'),
  row('tls12', 'c', 'i', 'diag', 'Of these, with TLS 1.2 or older'),
  row('tls13', 'c', 'i', 'diag', 'Of these, with TLS 1.3'),
  row('pending', 'g', 'i', 'info', 'Handshakes in progress'),
  row('failed', 'c', 'i', 'info', 'Handshakes that failed, all reasons'),
  row('failed_protocol', 'c', 'i', 'diag', 'Failed: no protocol version or cipher in common'),
  row('failed_alert', 'c', 'i', 'diag', 'Failed: the client refused, by an alert'),
  row('failed_name', 'c', 'i', 'diag', 'Failed: no certificate for the name that the client asked for'),
  row('failed_no_cert', 'c', 'i', 'diag', 'Failed: the listener has no certificate'),
  row('failed_client_cert', 'c', 'i', 'diag', 'Failed: no valid client certificate where one is required'),
  row('failed_plain', 'c', 'i', 'diag', 'Failed: the client does not speak TLS'),
  row('failed_timeout', 'c', 'i', 'diag', 'Failed: not completed within tls_handshake_timeout'),
  row('failed_closed', 'c', 'i', 'diag', 'Failed: the client disconnected'),
  row('failed_other', 'c', 'i', 'diag', 'Failed: any other cause'),
] as const satisfies readonly CounterRow[];
export type TlsCounterName = (typeof TLS_COUNTERS)[number]['name'];

/** Its certificates, while there are TLS listeners: TLS.<counter>. Kept by the manager. */
// biome-ignore format: a row is a line
export const TLS_CERT_COUNTERS = [
  row('certs', 'g', 'i', 'info', 'Certificates in use'),
  row('certs_expiring', 'g', 'i', 'info', 'Of these, valid for less than 14 days'),
  row('certs_expired', 'g', 'i', 'info', 'Of these, expired'),
  row('days_left', 'g', 'i', 'info', 'Whole days until the first certificate expires; 99999 without any'),
] as const satisfies readonly CounterRow[];
export type TlsCertCounterName = (typeof TLS_CERT_COUNTERS)[number]['name'];

/** The edge connector, while a program that imports it is loaded: EDGE.<counter>. */
// biome-ignore format: a row is a line
export const EDGE_COUNTERS = [
  row('queued', 'g', 'i', 'info', 'Purges waiting to be sent to the edge network'),
  row('inflight', 'g', 'i', 'info', 'Purges sent to the network'),
  row('acked', 'c', 'i', 'info', 'Purges accepted by the network'),
  row('retried', 'c', 'i', 'info', 'Purges to be retried'),
  row('dead', 'g', 'i', 'info', 'Dead letters'),
  row('ratelimited', 'c', 'i', 'info', 'Calls refused by the network’s rate limit'),
  row('auth_paused', 'c', 'i', 'info', 'Pauses because credentials were refused'),
  row('tokens_left', 'g', 'i', 'info', 'Calls that the throttle allows now'),
  row('oldest_age', 'g', 'i', 'info', 'Seconds that the oldest purge has waited'),
] as const satisfies readonly CounterRow[];
export type EdgeCounterName = (typeof EDGE_COUNTERS)[number]['name'];

/** The fleet, with --fleet: FLEET.<counter>. Kept by the manager. */
// biome-ignore format: a row is a line
export const FLEET_COUNTERS = [
  row('connected', 'g', 'i', 'info', 'Whether the bus is reachable'),
  row('behind', 'g', 'i', 'info', 'Whether this node may lack invalidations that others have'),
  row('nodes', 'g', 'i', 'info', 'Nodes of the fleet, this one among them'),
  row('lag', 'g', 'i', 'info', 'Messages known but not yet applied'),
  row('lag_seconds', 'g', 'i', 'info', 'Seconds since the last applied message, while others wait'),
  row('published', 'c', 'i', 'info', 'Invalidations from here that the fleet has stored'),
  row('unconfirmed', 'c', 'i', 'info', 'Invalidations from here not stored, or with unknown outcome'),
  row('applied', 'c', 'i', 'info', 'Invalidations of other nodes applied here'),
  row('refused', 'c', 'i', 'info', 'Messages that were not invalidations'),
  row('gaps', 'c', 'i', 'info', 'Times that messages were missed'),
  row('flushed', 'c', 'i', 'info', 'Times everything was banned, as the missed messages were unknown'),
  row('programs_failed', 'g', 'i', 'info', 'Programs of the fleet that could not be loaded here'),
  row('own_program', 'g', 'i', 'info', 'Whether this node runs another program than the fleet has chosen'),
] as const satisfies readonly CounterRow[];
export type FleetCounterName = (typeof FLEET_COUNTERS)[number]['name'];

/** Pools of connections to backends: VCP.<counter>. With several threads, as the first one has them. */
// biome-ignore format: a row is a line
export const VCP_COUNTERS = [
  row('ref_hit', 'c', 'i', 'debug', 'Backends created with an address that had a connection pool', 'first'),
  row('ref_miss', 'c', 'i', 'debug', 'Backends created with an address that had none', 'first'),
] as const satisfies readonly CounterRow[];
export type VcpCounterName = (typeof VCP_COUNTERS)[number]['name'];

/** Idle connections of clients and to backends: WAITER.pool0.<counter>. With several threads, as the first one has them. */
// biome-ignore format: a row is a line
export const WAITER_COUNTERS = [
  row('conns', 'g', 'i', 'debug', 'Idle connections: of clients that have sent nothing for longer than timeout_linger, and to backends', 'first'),
  row('remclose', 'c', 'i', 'debug', 'Idle connections that the other side closed', 'first'),
  row('timeout', 'c', 'i', 'debug', 'Idle connections closed after timeout_idle or backend_idle_timeout', 'first'),
  row('action', 'c', 'i', 'debug', 'Idle connections used again', 'first'),
] as const satisfies readonly CounterRow[];
export type WaiterCounterName = (typeof WAITER_COUNTERS)[number]['name'];

/** One backend: VBE.<program>.<backend>.<counter>. */
// biome-ignore format: a row is a line
export const VBE_COUNTERS = [
  row('happy', 'b', 'b', 'info', 'Results of the last 64 probes, newest in the lowest bit; all good without a probe'),
  row('bereq_hdrbytes', 'c', 'B', 'info', 'Bytes of request heads sent'),
  row('bereq_bodybytes', 'c', 'B', 'info', 'Bytes of request bodies sent'),
  row('beresp_hdrbytes', 'c', 'B', 'info', 'Bytes of response heads received'),
  row('beresp_bodybytes', 'c', 'B', 'info', 'Bytes of response bodies received'),
  row('pipe_hdrbytes', 'c', 'B', 'info', 'Bytes of request heads that opened a pipe'),
  row('pipe_out', 'c', 'B', 'info', 'Bytes piped to the backend'),
  row('pipe_in', 'c', 'B', 'info', 'Bytes piped from the backend'),
  row('conn', 'g', 'i', 'info', 'Connections in use'),
  row('req', 'c', 'i', 'info', 'Requests sent'),
  row('unhealthy', 'c', 'i', 'info', 'Fetches refused: backend sick'),
  row('busy', 'c', 'i', 'info', 'Fetches refused: at the connection limit'),
  row('fail', 'c', 'i', 'info', 'Failed connects, all causes'),
  row('fail_eacces', 'c', 'i', 'diag', 'Failed connects: EACCES or EPERM'),
  row('fail_eaddrnotavail', 'c', 'i', 'diag', 'Failed connects: EADDRNOTAVAIL'),
  row('fail_econnrefused', 'c', 'i', 'diag', 'Failed connects: ECONNREFUSED'),
  row('fail_enetunreach', 'c', 'i', 'diag', 'Failed connects: ENETUNREACH'),
  row('fail_etimedout', 'c', 'i', 'diag', 'Failed connects: ETIMEDOUT'),
  row('fail_other', 'c', 'i', 'diag', 'Failed connects: any other cause'),
  row('fail_tls', 'c', 'i', 'diag', 'Failed connects: TLS, from the handshake to the verification of the certificate'),
  row('helddown', 'c', 'i', 'diag', 'Connects not attempted for a while after a failure'),
] as const satisfies readonly CounterRow[];
export type VbeCounterName = (typeof VBE_COUNTERS)[number]['name'];

/** One thread of the worker: THR.<number>.<counter>; not in Varnish. No name is one of MAIN's: tools that do not know
 * THR would mix them up. */
// biome-ignore format: a row is a line
export const THR_COUNTERS = [
  row('requests', 'c', 'i', 'info', 'Well-formed client requests'),
  row('connections', 'c', 'i', 'info', 'Client connections accepted'),
  row('connections_open', 'g', 'i', 'info', 'Client connections open now'),
  row('loop_busy', 'g', 'i', 'diag', 'Event loop utilisation of the last second, in 1/1000'),
  row('loop_lag_us', 'g', 'i', 'diag', 'Event loop delay of the last second, worst, in microseconds'),
  row('lock_waits', 'c', 'i', 'diag', 'Times it slept because another thread held a shared lock'),
  row('silent', 'g', 'd', 'diag', 'Seconds since its last report to the first thread: its event loop has been blocked at least this long; the first thread has none'),
] as const satisfies readonly CounterRow[];
export type ThrCounterName = (typeof THR_COUNTERS)[number]['name'];

/** The worker process as seen by Node; not in Varnish. With several threads, the worst loop. */
// biome-ignore format: a row is a line
export const WRK_COUNTERS = [
  row('loop_busy', 'g', 'i', 'diag', 'Event loop utilisation of the last second, in 1/1000', 'worst'),
  row('loop_lag_us', 'g', 'i', 'diag', 'Event loop delay of the last second, worst, in microseconds', 'worst'),
  row('longest_turn_us', 'g', 'i', 'diag', 'The longest turn of an event loop in the last minute, in microseconds, if at least ten milliseconds; turn.list shows its work', 'worst'),
  row('cpu', 'g', 'i', 'diag', 'Processor time that all threads used in the last second, in 1/1000 of one processor', 'first'),
  row('heap_bytes', 'g', 'B', 'diag', 'JavaScript heap in use'),
  row('rss_bytes', 'g', 'B', 'diag', 'Resident memory of the worker', 'first'),
  row('write_errors', 'c', 'i', 'info', 'Writes of the log or of the counters that failed'),
] as const satisfies readonly CounterRow[];
export type WrkCounterName = (typeof WRK_COUNTERS)[number]['name'];
