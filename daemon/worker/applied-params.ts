// Parameters in the form that the parts of a worker use: limits of heads and settings of the cache.

import type { CacheLimits } from '../cache/cache-state.ts';
import { headerNames } from '../cache/tags/tag-headers.ts';
import { isStrict } from '../fetch/lifetime.ts';
import { fieldLimit, type HeadLimits } from '../http1/head-parser.ts';
import type { Params } from '../params/parameter-set.ts';

export function requestHeadLimits({ hot }: Params): HeadLimits {
  return {
    maxLine: hot.http_req_hdr_len,
    maxFields: fieldLimit(hot.http_max_hdr),
    maxSize: hot.http_req_size,
  };
}

export function responseHeadLimits({ hot }: Params): HeadLimits {
  return {
    maxLine: hot.http_resp_hdr_len,
    maxFields: fieldLimit(hot.http_max_hdr),
    maxSize: hot.http_resp_size,
  };
}

export function limitsOfCache(params: Params): CacheLimits {
  const p = params.hot;
  return {
    nukeLimit: p.nuke_limit,
    rushExponent: p.rush_exponent,
    lruInterval: p.lru_interval,
    gzipSupport: p.http_gzip_support !== 0,
    normaliseVary: isStrict(p),
    banDups: p.ban_dups !== 0,
    banAnyVariant: p.ban_any_variant,
    tagHeaders: headerNames(params.text('xkey_fields')),
    tagSpace: p.xkey_space,
    lurker: {
      age: p.ban_lurker_age,
      batch: p.ban_lurker_batch,
      sleep: p.ban_lurker_sleep,
      cutoff: p.ban_cutoff,
      holdoff: p.ban_lurker_holdoff,
    },
  };
}
