// The counters that the cache adds to, by their MAIN names. Lookups, waits and purges are counted by the request's steps.

const NAMES = [
  'n_object',
  'n_objectcore',
  'n_objecthead',
  'hcb_nolock',
  'hcb_lock',
  'hcb_insert',
  'n_expired',
  'n_superseded',
  'n_lru_nuked',
  'n_lru_moved',
  'n_lru_limited',
  'exp_mailed',
  'exp_received',
  'bans',
  'bans_completed',
  'bans_obj',
  'bans_req',
  'bans_added',
  'bans_deleted',
  'bans_tested',
  'bans_tests_tested',
  'bans_obj_killed',
  'bans_lurker_tested',
  'bans_lurker_tests_tested',
  'bans_lurker_obj_killed',
  'bans_lurker_obj_killed_cutoff',
  'bans_lurker_contention',
  'bans_obj_softened',
  'bans_lurker_obj_softened',
  'bans_soft',
  'bans_persisted_bytes',
  'bans_persisted_fragmentation',
  'xkey_keys',
  'xkey_links',
  'xkey_bytes',
  'xkey_refused',
  'bans_dups',
] as const;

export type CacheCounters = Record<(typeof NAMES)[number], number>;

export function newCacheCounters(): CacheCounters {
  return Object.fromEntries(NAMES.map((name) => [name, 0])) as CacheCounters;
}
