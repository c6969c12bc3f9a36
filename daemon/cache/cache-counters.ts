// The counters that the cache adds to itself, by their MAIN names. The request state machine
// counts how lookups, waits and purges ended.

import type { BanCounters } from './ban/ban-list.ts';

export interface CacheCounters extends BanCounters {
  n_object: number;
  n_objectcore: number;
  n_objecthead: number;
  n_expired: number;
  n_lru_nuked: number;
  n_lru_moved: number;
  n_lru_limited: number;
  exp_mailed: number;
  exp_received: number;
  bans_obj_killed: number;
  bans_lurker_tested: number;
  bans_lurker_tests_tested: number;
  bans_lurker_obj_killed: number;
  bans_lurker_obj_killed_cutoff: number;
  bans_lurker_contention: number;
  bans_obj_softened: number;
  bans_lurker_obj_softened: number;
  xkey_keys: number;
  xkey_links: number;
  xkey_bytes: number;
  xkey_refused: number;
}

export function newCacheCounters(): CacheCounters {
  return {
    n_object: 0,
    n_objectcore: 0,
    n_objecthead: 0,
    n_expired: 0,
    n_lru_nuked: 0,
    n_lru_moved: 0,
    n_lru_limited: 0,
    exp_mailed: 0,
    exp_received: 0,
    bans: 0,
    bans_completed: 0,
    bans_obj: 0,
    bans_req: 0,
    bans_added: 0,
    bans_deleted: 0,
    bans_tested: 0,
    bans_tests_tested: 0,
    bans_obj_killed: 0,
    bans_lurker_tested: 0,
    bans_lurker_tests_tested: 0,
    bans_lurker_obj_killed: 0,
    bans_lurker_obj_killed_cutoff: 0,
    bans_lurker_contention: 0,
    bans_obj_softened: 0,
    bans_lurker_obj_softened: 0,
    bans_soft: 0,
    bans_persisted_bytes: 0,
    bans_persisted_fragmentation: 0,
    xkey_keys: 0,
    xkey_links: 0,
    xkey_bytes: 0,
    xkey_refused: 0,
    bans_dups: 0,
  };
}
