// The worker's own counters, one plain numeric field a row of protocol/tables/counters.ts, so that the hot
// path counts with `c.cache_hit++`. Numbers are doubles: exact up to 2^53. Nothing here writes or publishes;
// counters-file.ts does. The fields are spelled out because a class with literal fields stays a fast object.

import type {
  MainCounterName,
  MgtCounterName,
  SmaCounterName,
  VbeCounterName,
  WrkCounterName,
} from '../../protocol/tables/counters.ts';

/** MAIN.*: one instance a worker. */
export class MainCounters implements Record<MainCounterName, number> {
  uptime = 0;
  sess_conn = 0;
  sess_fail = 0;
  sess_fail_econnaborted = 0;
  sess_fail_eintr = 0;
  sess_fail_emfile = 0;
  sess_fail_ebadf = 0;
  sess_fail_enomem = 0;
  sess_fail_other = 0;
  client_req_400 = 0;
  client_req_417 = 0;
  client_req = 0;
  esi_req = 0;
  cache_hit = 0;
  cache_hit_grace = 0;
  cache_hitpass = 0;
  cache_hitmiss = 0;
  cache_miss = 0;
  beresp_uncacheable = 0;
  beresp_shortlived = 0;
  backend_conn = 0;
  backend_unhealthy = 0;
  backend_busy = 0;
  backend_fail = 0;
  backend_reuse = 0;
  backend_recycle = 0;
  backend_retry = 0;
  fetch_head = 0;
  fetch_length = 0;
  fetch_chunked = 0;
  fetch_eof = 0;
  fetch_bad = 0;
  fetch_none = 0;
  fetch_1xx = 0;
  fetch_204 = 0;
  fetch_304 = 0;
  fetch_failed = 0;
  fetch_no_thread = 0;
  pools = 0;
  threads = 0;
  threads_limited = 0;
  threads_created = 0;
  threads_destroyed = 0;
  threads_failed = 0;
  thread_queue_len = 0;
  busy_sleep = 0;
  busy_wakeup = 0;
  busy_killed = 0;
  sess_queued = 0;
  sess_dropped = 0;
  req_dropped = 0;
  n_object = 0;
  n_objectcore = 0;
  n_objecthead = 0;
  n_backend = 0;
  n_expired = 0;
  n_lru_nuked = 0;
  n_lru_moved = 0;
  n_lru_limited = 0;
  losthdr = 0;
  s_sess = 0;
  n_pipe = 0;
  pipe_limited = 0;
  s_pipe = 0;
  s_pass = 0;
  s_fetch = 0;
  s_bgfetch = 0;
  s_synth = 0;
  s_req_hdrbytes = 0;
  s_req_bodybytes = 0;
  s_resp_hdrbytes = 0;
  s_resp_bodybytes = 0;
  s_pipe_hdrbytes = 0;
  s_pipe_in = 0;
  s_pipe_out = 0;
  sess_closed = 0;
  sess_closed_err = 0;
  sess_readahead = 0;
  sess_herd = 0;
  sc_rem_close = 0;
  sc_req_close = 0;
  sc_req_http10 = 0;
  sc_rx_bad = 0;
  sc_rx_body = 0;
  sc_rx_junk = 0;
  sc_rx_overflow = 0;
  sc_rx_timeout = 0;
  sc_rx_close_idle = 0;
  sc_tx_pipe = 0;
  sc_tx_error = 0;
  sc_tx_eof = 0;
  sc_resp_close = 0;
  sc_overload = 0;
  sc_pipe_overflow = 0;
  sc_range_short = 0;
  sc_req_http20 = 0;
  sc_vcl_failure = 0;
  client_resp_500 = 0;
  ws_backend_overflow = 0;
  ws_client_overflow = 0;
  ws_thread_overflow = 0;
  ws_session_overflow = 0;
  shm_records = 0;
  shm_writes = 0;
  shm_flushes = 0;
  shm_cycles = 0;
  backend_req = 0;
  n_vcl = 0;
  n_vcl_avail = 0;
  n_vcl_discard = 0;
  vcl_fail = 0;
  bans = 0;
  bans_completed = 0;
  bans_obj = 0;
  bans_req = 0;
  bans_added = 0;
  bans_deleted = 0;
  bans_tested = 0;
  bans_obj_killed = 0;
  bans_lurker_tested = 0;
  bans_tests_tested = 0;
  bans_lurker_tests_tested = 0;
  bans_lurker_obj_killed = 0;
  bans_lurker_obj_killed_cutoff = 0;
  bans_dups = 0;
  bans_lurker_contention = 0;
  bans_soft = 0;
  bans_obj_softened = 0;
  bans_lurker_obj_softened = 0;
  bans_persisted_bytes = 0;
  bans_persisted_fragmentation = 0;
  n_purges = 0;
  n_obj_purged = 0;
  n_soft_purges = 0;
  n_obj_soft_purged = 0;
  xkey_purges = 0;
  xkey_obj_purged = 0;
  xkey_soft_purges = 0;
  xkey_obj_soft_purged = 0;
  xkey_keys = 0;
  xkey_links = 0;
  xkey_bytes = 0;
  xkey_refused = 0;
  exp_mailed = 0;
  exp_received = 0;
  esi_errors = 0;
  esi_warnings = 0;
  vmods = 0;
  n_gzip = 0;
  n_gunzip = 0;
  n_test_gunzip = 0;
  beresp_lenient = 0;
  client_req_lenient = 0;
  refused_preamble = 0;
  refused_start_line = 0;
  refused_method = 0;
  refused_target = 0;
  refused_version = 0;
  refused_start_line_end = 0;
  refused_name_empty = 0;
  refused_name_blank = 0;
  refused_name_token = 0;
  refused_colon_missing = 0;
  refused_fold = 0;
  refused_bare_lf = 0;
  refused_bare_cr = 0;
  refused_value_control = 0;
  refused_line_long = 0;
  refused_fields_many = 0;
  refused_overflow = 0;
  refused_fold_first = 0;
  refused_length_conflict = 0;
  refused_length_invalid = 0;
  refused_length_and_coding = 0;
  refused_coding_unknown = 0;
  refused_coding_http10 = 0;
  refused_upload_unbounded = 0;
  refused_expectation = 0;
  refused_host_missing = 0;
  refused_host_many = 0;
  refused_host_invalid = 0;
  refused_target_invalid = 0;
  refused_connection_names = 0;
  refused_connect = 0;
  refused_http2 = 0;
  refused_chunk_size = 0;
  refused_chunk_size_overflow = 0;
  refused_chunk_extension = 0;
  refused_chunk_line_end = 0;
  refused_chunk_data_end = 0;
  refused_trailer = 0;
  refused_chunk_too_long = 0;
}

/** SMA.<name>.*: one instance a storage. */
export class SmaCounters implements Record<SmaCounterName, number> {
  c_req = 0;
  c_fail = 0;
  c_bytes = 0;
  c_freed = 0;
  g_alloc = 0;
  g_bytes = 0;
  g_space = 0;
}

/** VBE.<program>.<backend>.*: one instance a backend of a loaded program. */
export class VbeCounters implements Record<VbeCounterName, number | bigint> {
  happy = 0n;
  bereq_hdrbytes = 0;
  bereq_bodybytes = 0;
  beresp_hdrbytes = 0;
  beresp_bodybytes = 0;
  pipe_hdrbytes = 0;
  pipe_out = 0;
  pipe_in = 0;
  conn = 0;
  req = 0;
  unhealthy = 0;
  busy = 0;
  fail = 0;
  fail_eacces = 0;
  fail_eaddrnotavail = 0;
  fail_econnrefused = 0;
  fail_enetunreach = 0;
  fail_etimedout = 0;
  fail_other = 0;
  helddown = 0;
}

/** WRK.*: filled just before each publication. */
export class WrkCounters implements Record<WrkCounterName, number> {
  loop_busy = 0;
  loop_lag_us = 0;
  heap_bytes = 0;
  rss_bytes = 0;
  write_errors = 0;
}

/** MGT.*: kept by the manager. */
export class MgtCounters implements Record<MgtCounterName, number> {
  uptime = 0;
  child_start = 0;
  child_exit = 0;
  child_stop = 0;
  child_died = 0;
  child_dump = 0;
  child_panic = 0;
}
