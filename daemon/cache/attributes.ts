// What a fetch says of its object beside the bytes: when it was made, how long it lives, what kind it is.

import * as row from './objcore.ts';

/** What setAttributes takes in `flags`. */
export const FLAG = {
  HIT_MISS: row.OF_HIT_MISS,
  HIT_PASS: row.OF_HIT_PASS,
  GZIPPED: row.OF_GZIPPED,
  UNSTREAMED: row.OF_UNSTREAMED,
  ESI: row.OF_ESI,
  FOR_WAITERS: row.OF_FOR_WAITERS,
  UNCACHEABLE: row.OF_UNCACHEABLE,
  PLAIN: row.OF_PLAIN,
  RECODED: row.OF_RECODED,
} as const;

/** Times in seconds, tOrigin since the epoch. */
export interface Attributes {
  tOrigin: number;
  ttl: number;
  grace: number;
  keep: number;
  vxid: number;
  /** Of FLAG. */
  flags: number;
}

/** The row's META word with these flags in place of the ones it had. */
export function attributesIn(meta: number, flags: number): number {
  return (meta & ~row.OF_ATTRIBUTES) | (flags & row.OF_ATTRIBUTES);
}
