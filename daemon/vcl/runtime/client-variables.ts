// Getters and setters of the variables of a client request: connection, req, req_top, obj, resp, sess. Their names
// derive from tables/variables.ts (`req.url` is get_req_url). The checker guarantees that the state has them.

import { createHash } from 'node:crypto';
import { readableNumber } from '../../../protocol/tables/params.ts';
import type { Director, VclContext, VclObject, VclRequest, VclSession } from '../../contract/context.ts';
import { softFail } from '../../contract/failure.ts';
import { VclIp } from './ip.ts';
import { setMessageStatus, wireText } from './limits.ts';

function req(ctx: VclContext): VclRequest {
  return ctx.req as VclRequest;
}

function obj(ctx: VclContext): VclObject {
  return (ctx.req as VclRequest).obj as VclObject;
}

const NO_SESSION: VclSession = Object.freeze({
  remoteIp: '0.0.0.0',
  remotePort: 0,
  localIp: '0.0.0.0',
  localPort: 0,
  clientIp: '0.0.0.0',
  clientPort: 0,
  serverIp: '0.0.0.0',
  serverPort: 0,
  endpointName: '',
  endpointSocket: '',
  vxid: 0,
  timeoutIdle: 0,
  timeoutLinger: 0,
  idleSendTimeout: 0,
  sendTimeout: 0,
  proxyAttributes: null,
  tls: null,
  http2: null,
  peerCredentials: () => null,
});

function sess(ctx: VclContext): VclSession {
  if (ctx.req !== null) return ctx.req.session;
  return ctx.bo?.session ?? NO_SESSION;
}

/** Whether resp.do_esi may still be read or set: not once resp.filters was set. */
function respFiltersOpen(c: VclContext): boolean {
  if (req(c).attempt.respFilters === null) return true;
  softFail(c, 'resp.filters are already fixed, resp.do_esi is undefined');
  return false;
}

const maxAge = (c: VclContext): number => req(c).settings.ttl;
const setMaxAge = (c: VclContext, v: number): void => {
  req(c).settings.ttl = Math.max(0, v);
};
const unsetMaxAge = (c: VclContext): void => {
  req(c).settings.ttl = -1;
};

export const clientVariables = {
  get_local_ip: (c: VclContext) => new VclIp(sess(c).localIp, sess(c).localPort),
  get_remote_ip: (c: VclContext) => new VclIp(sess(c).remoteIp, sess(c).remotePort),
  get_client_ip: (c: VclContext) => new VclIp(sess(c).clientIp, sess(c).clientPort),
  get_server_ip: (c: VclContext) => new VclIp(sess(c).serverIp, sess(c).serverPort),
  get_local_endpoint: (c: VclContext) => sess(c).endpointSocket,
  get_local_socket: (c: VclContext) => sess(c).endpointName,
  get_client_identity: (c: VclContext) =>
    (c.req !== null ? c.req.settings.clientIdentity : c.bo?.clientIdentity) ?? sess(c).clientIp,
  set_client_identity: (c: VclContext, v: string | null) => {
    req(c).settings.clientIdentity = v ?? '';
  },
  get_server_hostname: (c: VclContext) => c.host.hostname,
  get_server_identity: (c: VclContext) => c.host.identity,
  get_now: (c: VclContext) => c.now,

  get_req: (c: VclContext) => req(c).http,
  get_req_method: (c: VclContext) => req(c).http.method,
  set_req_method: (c: VclContext, v: string | null) => req(c).http.setMethod(wireText(c, 'req.method', v)),
  get_req_url: (c: VclContext) => req(c).http.url,
  set_req_url: (c: VclContext, v: string | null) => req(c).http.setUrl(wireText(c, 'req.url', v)),
  get_req_proto: (c: VclContext) => req(c).http.proto,
  set_req_proto: (c: VclContext, v: string | null) => req(c).http.setProto(wireText(c, 'req.proto', v)),
  get_req_hash: (c: VclContext) => createHash('sha256').update(req(c).attempt.hashKey, 'latin1').digest(),
  get_req_restarts: (c: VclContext) => req(c).restarts,
  get_req_filters: (c: VclContext) => req(c).bodyFilters,
  set_req_filters: (c: VclContext, v: string | null) => {
    if (!req(c).setBodyFilters(v ?? '')) softFail(c, 'req.filters not settable');
  },
  get_req_storage: (c: VclContext) => req(c).settings.storage,
  set_req_storage: (c: VclContext, v: string | null) => {
    req(c).settings.storage = v;
  },
  get_req_esi_level: (c: VclContext) => req(c).esiLevel,
  get_req_max_age: maxAge,
  set_req_max_age: setMaxAge,
  unset_req_max_age: unsetMaxAge,
  get_req_ttl: maxAge,
  set_req_ttl: setMaxAge,
  unset_req_ttl: unsetMaxAge,
  get_req_grace: (c: VclContext) => req(c).settings.grace,
  set_req_grace: (c: VclContext, v: number) => {
    req(c).settings.grace = Math.max(0, v);
  },
  unset_req_grace: (c: VclContext) => {
    req(c).settings.grace = -1;
  },
  get_req_trace: (c: VclContext) => c.tracing,
  set_req_trace: (c: VclContext, v: boolean) => {
    req(c).settings.trace = v;
    c.tracing = v;
  },
  get_req_xid: (c: VclContext) => req(c).attempt.vxid,
  get_req_esi: (c: VclContext) => req(c).settings.esi,
  // A fragment belongs to a page being assembled: as in Varnish it has no effect.
  set_req_esi: (c: VclContext, v: boolean) => {
    if (req(c).esiLevel === 0) req(c).settings.esi = v;
  },
  get_req_can_gzip: (c: VclContext) => req(c).canGzip,
  get_req_backend_hint: (c: VclContext) => {
    const { backendHint } = req(c).settings;
    return backendHint === undefined ? c.vcl.defaultDirector : backendHint;
  },
  set_req_backend_hint: (c: VclContext, v: Director | null) => {
    req(c).settings.backendHint = v;
  },
  get_req_hash_ignore_busy: (c: VclContext) => req(c).settings.hashIgnoreBusy,
  set_req_hash_ignore_busy: (c: VclContext, v: boolean) => {
    req(c).settings.hashIgnoreBusy = v;
  },
  get_req_hash_ignore_vary: (c: VclContext) => req(c).settings.hashIgnoreVary,
  set_req_hash_ignore_vary: (c: VclContext, v: boolean) => {
    req(c).settings.hashIgnoreVary = v;
  },
  get_req_hash_always_miss: (c: VclContext) => req(c).settings.hashAlwaysMiss,
  set_req_hash_always_miss: (c: VclContext, v: boolean) => {
    req(c).settings.hashAlwaysMiss = v;
  },
  get_req_slice: (c: VclContext) => req(c).settings.slice,
  set_req_slice: (c: VclContext, v: number) => {
    req(c).settings.slice = v;
  },
  get_req_parts: (c: VclContext) => req(c).settings.parts,
  set_req_parts: (c: VclContext, v: boolean) => {
    req(c).settings.parts = v;
  },
  get_req_is_hitmiss: (c: VclContext) => req(c).attempt.isHitMiss,
  get_req_is_hitpass: (c: VclContext) => req(c).attempt.isHitPass,
  get_req_time: (c: VclContext) => req(c).tReq,
  get_req_transport: (_c: VclContext) => 'HTTP/1',

  get_req_top_method: (c: VclContext) => req(c).top.http.method,
  get_req_top_url: (c: VclContext) => req(c).top.http.url,
  get_req_top_proto: (c: VclContext) => req(c).top.http.proto,
  get_req_top_time: (c: VclContext) => req(c).top.tReq,

  get_obj_proto: (c: VclContext) => obj(c).http.proto,
  get_obj_status: (c: VclContext) => obj(c).http.status,
  get_obj_reason: (c: VclContext) => obj(c).http.reason,
  get_obj_hits: (c: VclContext) => req(c).obj?.hits ?? 0,
  get_obj_ttl: (c: VclContext) => req(c).obj?.ttl ?? 0,
  get_obj_age: (c: VclContext) => req(c).obj?.age ?? 0,
  get_obj_grace: (c: VclContext) => req(c).obj?.grace ?? 0,
  get_obj_keep: (c: VclContext) => req(c).obj?.keep ?? 0,
  get_obj_time: (c: VclContext) => c.now - (req(c).obj?.age ?? 0),
  get_obj_uncacheable: (c: VclContext) => req(c).obj?.uncacheable ?? false,
  get_obj_storage: (c: VclContext) => req(c).obj?.storageName ?? null,
  get_obj_can_esi: (c: VclContext) => req(c).obj?.canEsi ?? false,

  get_resp: (c: VclContext) => req(c).resp,
  get_resp_proto: (c: VclContext) => req(c).resp.proto,
  set_resp_proto: (c: VclContext, v: string | null) => req(c).resp.setProto(wireText(c, 'resp.proto', v)),
  get_resp_status: (c: VclContext) => req(c).resp.status,
  set_resp_status: (c: VclContext, v: number) => setMessageStatus(c, req(c).resp, 'resp', v),
  get_resp_reason: (c: VclContext) => req(c).resp.reason,
  set_resp_reason: (c: VclContext, v: string | null) => req(c).resp.setReason(wireText(c, 'resp.reason', v)),
  get_resp_do_esi: (c: VclContext) => respFiltersOpen(c) && req(c).attempt.respDoEsi,
  set_resp_do_esi: (c: VclContext, v: boolean) => {
    if (respFiltersOpen(c)) req(c).attempt.respDoEsi = v;
  },
  get_resp_is_streaming: (c: VclContext) => req(c).respIsStreaming,
  get_resp_filters: (c: VclContext) => req(c).attempt.respFilters ?? req(c).usualRespFilters(),
  set_resp_filters: (c: VclContext, v: string | null) => {
    req(c).attempt.respFilters = v ?? '';
  },
  get_resp_time: (c: VclContext) => c.now,

  get_sess_xid: (c: VclContext) => sess(c).vxid,
  get_sess_timeout_idle: (c: VclContext) => sess(c).timeoutIdle,
  set_sess_timeout_idle: (c: VclContext, v: number) => {
    sess(c).timeoutIdle = Math.max(0, v);
  },
  unset_sess_timeout_idle: (c: VclContext) => {
    sess(c).timeoutIdle = Number(c.host.param('timeout_idle'));
  },
  get_sess_timeout_linger: (c: VclContext) => sess(c).timeoutLinger,
  set_sess_timeout_linger: (c: VclContext, v: number) => {
    sess(c).timeoutLinger = Math.max(0, v);
  },
  unset_sess_timeout_linger: (c: VclContext) => {
    sess(c).timeoutLinger = Number(c.host.param('timeout_linger'));
  },
  get_sess_idle_send_timeout: (c: VclContext) => readableNumber(sess(c).idleSendTimeout),
  set_sess_idle_send_timeout: (c: VclContext, v: number) => {
    sess(c).idleSendTimeout = Math.max(0, v);
  },
  unset_sess_idle_send_timeout: (c: VclContext) => {
    sess(c).idleSendTimeout = Number(c.host.param('idle_send_timeout'));
  },
  get_sess_send_timeout: (c: VclContext) => readableNumber(sess(c).sendTimeout),
  set_sess_send_timeout: (c: VclContext, v: number) => {
    sess(c).sendTimeout = Math.max(0, v);
  },
  unset_sess_send_timeout: (c: VclContext) => {
    sess(c).sendTimeout = Number(c.host.param('send_timeout'));
  },
};
