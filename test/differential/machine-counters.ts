// Counters that differ from Varnish's after the cases of machine.test.ts that differ in nothing else, and why.
// All others of its MAIN section must be the same.

const OWN = 'names and pages of our own have other lengths';
const MARKERS = 'markers that a newer object hides go at once';
const INDEX = 'keys without objects are forgotten at once, and there is no tree of them';
const THREADS = 'one worker serves without threads';
const LOG = 'the log is written a turn at a time, and in other lengths';
const TIME = 'a matter of time';

export const COUNTERS_KNOWN: Readonly<Record<string, string>> = {
  uptime: TIME,
  summs: THREADS,
  threads: THREADS,
  threads_created: THREADS,
  pools: THREADS,
  thread_queue_len: THREADS,
  sess_herd: THREADS,
  sess_queued: THREADS,
  sess_readahead: THREADS,
  hcb_insert: INDEX,
  hcb_lock: INDEX,
  hcb_nolock: INDEX,
  n_objecthead: INDEX,
  n_object: MARKERS,
  n_objectcore: MARKERS,
  n_vampireobject: MARKERS,
  n_expired: TIME,
  backend_conn: TIME,
  backend_reuse: TIME,
  s_sess: TIME,
  sess_conn: TIME,
  sess_closed: TIME,
  sess_closed_err: TIME,
  sc_rem_close: TIME,
  exp_mailed: MARKERS,
  exp_received: MARKERS,
  shm_records: LOG,
  shm_writes: LOG,
  shm_flushes: LOG,
  shm_cont: LOG,
  shm_cycles: LOG,
  s_resp_hdrbytes: OWN,
  s_resp_bodybytes: OWN,
  s_pipe_out: OWN,
  bans_persisted_bytes: 'bans are kept in memory alone',
  vmods: 'extensions are part of the product',
};
