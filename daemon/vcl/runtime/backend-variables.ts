// Getters and setters of bereq.*, beresp.* and obj_stale.*. Setting a lifetime logs a TTL record, as Varnish does.

import { createHash } from 'node:crypto';
import { limitSeconds, readableNumber } from '../../../protocol/tables/params.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclBusyobj, VclContext, VclStaleObject } from '../../contract/context.ts';
import { softFail } from '../../contract/failure.ts';
import { roundedNumber } from '../../log/rounded-number.ts';
import { VclIp } from './ip.ts';
import { setMessageStatus, wireText } from './limits.ts';
import { stevedoreString } from './string-values.ts';

function bo(ctx: VclContext): VclBusyobj {
  return ctx.bo as VclBusyobj;
}

function stale(ctx: VclContext): VclStaleObject {
  return bo(ctx).stale as VclStaleObject;
}

function logTtl(c: VclContext): void {
  const b = bo(c);
  const origin = Math.round(c.now - b.age);
  const kind = b.uncacheable ? 'uncacheable' : 'cacheable';
  const [ttl, grace, keep] = [b.ttl, b.grace, b.keep].map(roundedNumber);
  c.log.put(Tag.TTL, `VCL ${ttl} ${grace} ${keep} ${origin} ${kind}`);
}

/** Whether a do_* switch may still be read or set: not once beresp.filters was set. */
function filtersOpen(c: VclContext, name: string): boolean {
  if (bo(c).attempt.filters === null) return true;
  softFail(c, `beresp.filters are already fixed, beresp.${name} is undefined`);
  return false;
}

/** In 7.1 a timeout of zero selects the backend's own, or the parameter; since 7.5 it is over at once. */
function ownTimeout(c: VclContext, v: number): number {
  if (v > 0) return v;
  return c.vcl.changes.zeroTimeouts ? 0 : -1;
}

type TimeoutParam = keyof VclBusyobj['params'];

/** A timeout that is not set reads as 0 in 7.1, and since 7.5 as what the parameter says. */
function shownTimeout(c: VclContext, own: number, param: TimeoutParam): number {
  if (own >= 0) return own;
  return c.vcl.changes.shownTimeouts ? readableNumber(bo(c).params[param]) : 0;
}

export const backendVariables = {
  get_bereq: (c: VclContext) => bo(c).bereq,
  get_bereq_xid: (c: VclContext) => bo(c).attempt.vxid,
  get_bereq_retries: (c: VclContext) => bo(c).retries,
  get_bereq_retry_connect: (c: VclContext) => bo(c).retryConnect,
  set_bereq_retry_connect: (c: VclContext, v: boolean) => {
    bo(c).retryConnect = v;
  },
  get_bereq_trace: (c: VclContext) => c.tracing,
  set_bereq_trace: (c: VclContext, v: boolean) => {
    bo(c).trace = v;
    c.tracing = v;
  },
  get_bereq_backend: (c: VclContext) => bo(c).backend,
  set_bereq_backend: (c: VclContext, v: Director | null) => {
    bo(c).backend = v;
  },
  get_bereq_hash: (c: VclContext) =>
    createHash('sha256')
      .update(c.req?.attempt.hashKey ?? bo(c).hashKey, 'latin1')
      .digest(),
  get_bereq_method: (c: VclContext) => bo(c).bereq.method,
  set_bereq_method: (c: VclContext, v: string | null) =>
    bo(c).bereq.setMethod(wireText(c, 'bereq.method', v)),
  get_bereq_url: (c: VclContext) => bo(c).bereq.url,
  set_bereq_url: (c: VclContext, v: string | null) => bo(c).bereq.setUrl(wireText(c, 'bereq.url', v)),
  get_bereq_proto: (c: VclContext) => bo(c).bereq.proto,
  set_bereq_proto: (c: VclContext, v: string | null) => bo(c).bereq.setProto(wireText(c, 'bereq.proto', v)),
  get_bereq_uncacheable: (c: VclContext) => bo(c).uncacheable,
  get_bereq_connect_timeout: (c: VclContext) => shownTimeout(c, bo(c).connectTimeout, 'connect_timeout'),
  set_bereq_connect_timeout: (c: VclContext, v: number) => {
    bo(c).connectTimeout = ownTimeout(c, v);
  },
  unset_bereq_connect_timeout: (c: VclContext) => {
    bo(c).connectTimeout = -1;
  },
  get_bereq_first_byte_timeout: (c: VclContext) =>
    shownTimeout(c, bo(c).firstByteTimeout, 'first_byte_timeout'),
  set_bereq_first_byte_timeout: (c: VclContext, v: number) => {
    bo(c).firstByteTimeout = ownTimeout(c, v);
  },
  unset_bereq_first_byte_timeout: (c: VclContext) => {
    bo(c).firstByteTimeout = -1;
  },
  get_bereq_between_bytes_timeout: (c: VclContext) =>
    shownTimeout(c, bo(c).betweenBytesTimeout, 'between_bytes_timeout'),
  set_bereq_between_bytes_timeout: (c: VclContext, v: number) => {
    bo(c).betweenBytesTimeout = ownTimeout(c, v);
  },
  unset_bereq_between_bytes_timeout: (c: VclContext) => {
    bo(c).betweenBytesTimeout = -1;
  },
  get_bereq_filters: (c: VclContext) => bo(c).bodyFilters ?? '',
  set_bereq_filters: (c: VclContext, v: string | null) => {
    bo(c).bodyFilters = v ?? '';
  },
  get_bereq_task_deadline: (c: VclContext) => bo(c).taskDeadline,
  set_bereq_task_deadline: (c: VclContext, v: number) => {
    bo(c).taskDeadline = Math.max(0, v);
  },
  unset_bereq_task_deadline: (c: VclContext) => {
    bo(c).taskDeadline = limitSeconds(bo(c).params.pipe_task_deadline);
  },
  get_bereq_is_bgfetch: (c: VclContext) => bo(c).isBgFetch,
  get_bereq_is_hitmiss: (c: VclContext) => bo(c).isHitMiss,
  get_bereq_is_hitpass: (c: VclContext) => bo(c).isHitPass,
  get_bereq_time: (c: VclContext) => bo(c).tStart,

  get_beresp: (c: VclContext) => bo(c).beresp,
  get_beresp_proto: (c: VclContext) => bo(c).beresp.proto,
  set_beresp_proto: (c: VclContext, v: string | null) =>
    bo(c).beresp.setProto(wireText(c, 'beresp.proto', v)),
  get_beresp_status: (c: VclContext) => bo(c).beresp.status,
  set_beresp_status: (c: VclContext, v: number) => setMessageStatus(c, bo(c).beresp, 'beresp', v),
  get_beresp_reason: (c: VclContext) => bo(c).beresp.reason,
  set_beresp_reason: (c: VclContext, v: string | null) =>
    bo(c).beresp.setReason(wireText(c, 'beresp.reason', v)),
  get_beresp_do_esi: (c: VclContext) => filtersOpen(c, 'do_esi') && bo(c).attempt.doEsi,
  set_beresp_do_esi: (c: VclContext, v: boolean) => {
    if (filtersOpen(c, 'do_esi')) bo(c).attempt.doEsi = v;
  },
  get_beresp_do_stream: (c: VclContext) => bo(c).attempt.doStream,
  set_beresp_do_stream: (c: VclContext, v: boolean) => {
    bo(c).attempt.doStream = v;
  },
  get_beresp_do_gzip: (c: VclContext) => filtersOpen(c, 'do_gzip') && bo(c).attempt.doGzip,
  set_beresp_do_gzip: (c: VclContext, v: boolean) => {
    if (filtersOpen(c, 'do_gzip')) bo(c).attempt.doGzip = v;
  },
  get_beresp_do_gunzip: (c: VclContext) => filtersOpen(c, 'do_gunzip') && bo(c).attempt.doGunzip,
  set_beresp_do_gunzip: (c: VclContext, v: boolean) => {
    if (filtersOpen(c, 'do_gunzip')) bo(c).attempt.doGunzip = v;
  },
  get_beresp_was_304: (c: VclContext) => bo(c).attempt.was304,
  get_beresp_uncacheable: (c: VclContext) => bo(c).uncacheable,
  set_beresp_uncacheable: (c: VclContext, v: boolean) => {
    if (!v && bo(c).uncacheable) {
      c.log.put(Tag.VCL_Error, 'Ignoring attempt to reset beresp.uncacheable');
    } else bo(c).uncacheable = v;
    logTtl(c);
  },
  get_beresp_transit_buffer: (c: VclContext) => bo(c).transitBuffer,
  set_beresp_transit_buffer: (c: VclContext, v: number) => {
    bo(c).transitBuffer = Math.max(0, v);
  },
  // The remaining TTL from now on: the time already lived is added.
  get_beresp_ttl: (c: VclContext) => Math.max(0, bo(c).ttl) - bo(c).age,
  set_beresp_ttl: (c: VclContext, v: number) => {
    bo(c).ttl = Math.max(0, v + bo(c).age);
    logTtl(c);
  },
  get_beresp_age: (c: VclContext) => bo(c).age,
  get_beresp_grace: (c: VclContext) => bo(c).grace,
  set_beresp_grace: (c: VclContext, v: number) => {
    bo(c).grace = Math.max(0, v);
    logTtl(c);
  },
  get_beresp_keep: (c: VclContext) => bo(c).keep,
  set_beresp_keep: (c: VclContext, v: number) => {
    bo(c).keep = Math.max(0, v);
    logTtl(c);
  },
  get_beresp_backend: (c: VclContext) => bo(c).respBackend,
  get_beresp_backend_name: (c: VclContext) => bo(c).respBackend?.vclName ?? null,
  get_beresp_backend_ip: (c: VclContext) => {
    const ends = bo(c).attempt.respEnds;
    return new VclIp(ends?.remoteAddress ?? '0.0.0.0', ends?.remotePort ?? 0);
  },
  get_beresp_storage: (c: VclContext) => bo(c).storage,
  set_beresp_storage: (c: VclContext, v: string | null) => {
    bo(c).storage = v;
  },
  get_beresp_storage_hint: (c: VclContext) => stevedoreString(bo(c).storage),
  set_beresp_storage_hint: (c: VclContext, v: string | null) => {
    if (v !== null && c.host.stevedores().includes(v)) bo(c).storage = v;
  },
  get_beresp_filters: (c: VclContext) => bo(c).attempt.filters ?? bo(c).usualFilters(),
  set_beresp_filters: (c: VclContext, v: string | null) => {
    bo(c).attempt.filters = v ?? '';
  },
  get_beresp_time: (c: VclContext) => c.now,

  get_obj_stale_proto: (c: VclContext) => stale(c).http.proto,
  get_obj_stale_status: (c: VclContext) => stale(c).http.status,
  get_obj_stale_reason: (c: VclContext) => stale(c).http.reason,
  get_obj_stale_hits: (c: VclContext) => stale(c).hits,
  get_obj_stale_ttl: (c: VclContext) => stale(c).ttl,
  get_obj_stale_age: (c: VclContext) => stale(c).age,
  get_obj_stale_grace: (c: VclContext) => stale(c).grace,
  get_obj_stale_keep: (c: VclContext) => stale(c).keep,
  get_obj_stale_time: (c: VclContext) => c.now - stale(c).age,
  get_obj_stale_uncacheable: (c: VclContext) => stale(c).uncacheable,
  get_obj_stale_storage: (c: VclContext) => stale(c).storageName,
  get_obj_stale_can_esi: (c: VclContext) => stale(c).canEsi,
  get_obj_stale_is_valid: (c: VclContext) => stale(c).isValid,
};
