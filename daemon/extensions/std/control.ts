// std functions that log, or that inspect or control the task.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { endPrivs, taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import type { Waiting } from '../../contract/waiting.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { Syslog } from '../../syslog.ts';
import type { VclIp } from '../../vcl/runtime/ip.ts';
import type { SubValue } from '../../vcl/runtime/sub-value.ts';
import { byName, row } from '../extension-rows.ts';

/** Key of the last ban's error in the private data of a task. */
const BAN_ERROR = Object.freeze({});

/** Strings of a program are bytes. */
const system = new Syslog({ encoding: 'latin1' });

function syslog(ctx: VclContext, priority: number, s: string | null): void {
  // One call writes one message.
  const text = (s ?? '').replace(/[\0\r\n]+/g, ' ');
  if (system.reachable) system.send(priority, text);
  else ctx.host.syslog(priority, text);
}

function timestamp(ctx: VclContext, s: string | null): void {
  if (s !== null && s !== '') ctx.log.timestamp(s, ctx.host.now());
}

function cacheReqBody(ctx: VclContext, size: number): boolean | Waiting {
  if (ctx.req === null || ctx.bo !== null || ctx.state !== State.recv) {
    softFail(ctx, 'req_body can only be cached in vcl_recv{}');
    return false;
  }
  return ctx.req.cacheBody(size);
}

function late100Continue(ctx: VclContext, late: boolean): void {
  if (ctx.req !== null && ctx.state === State.recv) ctx.req.late100Continue = late;
}

function rollback(ctx: VclContext, h: HttpMessage): void {
  if (h === ctx.req?.http) ctx.req.rollback();
  else if (h === ctx.bo?.bereq) ctx.bo.rollback();
  else {
    softFail(ctx, 'std.rollback() can only be called on req or bereq');
    return;
  }
  // Private data of extensions was derived from the discarded state.
  endPrivs(ctx.priv);
}

function ban(ctx: VclContext, expression: string | null): boolean {
  return banned(ctx, 'ban', expression === null ? 'Null argument' : ctx.host.ban(expression, ctx));
}

function softban(ctx: VclContext, expression: string | null): boolean {
  return banned(ctx, 'softban', expression === null ? 'Null argument' : ctx.host.softBan(expression, ctx));
}

/** Seconds. */
function timedCall(ctx: VclContext, sub: SubValue | null): number {
  if (sub === null) throw new VclFailure('std.timed_call(): the sub is NULL', true);
  const start = process.hrtime.bigint();
  sub.call(ctx);
  return Number(process.hrtime.bigint() - start) / 1e9;
}

// biome-ignore format: a row is a line
export const controlFunctions = byName(
  row('VOID log(STRANDS s)', (ctx, s: string | null) => ctx.log.put(Tag.VCL_Log, s ?? ''), 'Writes a VCL_Log record.'),
  row('VOID syslog(INT priority, STRANDS s)', syslog, 'Sends a message to the system’s log; priority is facility * 8 + level (syslog(3)).'),
  row('VOID timestamp(STRING s)', timestamp, 'Adds a Timestamp record with this label.'),
  row('BOOL syntax(REAL)', (ctx, version: number) => Math.round(version * 10) <= ctx.vcl.compiled.syntax,
    'Whether the program’s version of VCL is at least this one.'),
  row('BOOL healthy(BACKEND be)', (ctx, be: Director | null) => be?.healthy(ctx.now, ctx) ?? false, 'Whether the backend or director is healthy.'),
  row('TIME now()', (ctx) => ctx.host.now(), 'The time of the call; the variable now is the time at which the state began.'),
  row('DURATION timed_call(SUB)', timedCall, 'Calls the sub, and returns how long that took. Where the sub returns an action, the state ends with it.'),
  row('VOID rfc_ttl()', (ctx) => ctx.bo?.recalculateLifetime(),
    'In vcl_backend_response and vcl_backend_refresh: calculates beresp.ttl, beresp.grace and beresp.keep again, from the fields that beresp has now (RFC 9111 section 4.2). beresp.uncacheable is unchanged, and a pass has no lifetime.', { places: 'backend_response backend_refresh' }),
  row('INT port(IP ip)', (_c, ip: VclIp) => ip.port, 'The port of the address.'),
  // In other states the call fails at run time, as in Varnish.
  row('BOOL cache_req_body(BYTES size)', cacheReqBody,
    'In vcl_recv: reads the body of the request, so that it can be sent more than once and looked at. The request waits until it is there. False if it is larger than this, or incomplete.', { waits: true, places: 'all', newerPlaces: 'recv' }),
  row('VOID late_100_continue(BOOL late)', late100Continue, 'In vcl_recv: ask the client for the body (100 Continue) only where the body is needed.', { newerPlaces: 'recv' }),
  // The runtime cannot set the socket option: the call is accepted without effect, as for a Unix domain socket.
  row('VOID set_ip_tos(INT tos)', () => undefined, 'Does nothing: the runtime has no access to the socket option.', { newerPlaces: 'client' }),
  row('VOID rollback(HTTP h)', rollback,
    'Restores req or bereq to its state before the program modified it, and ends the private data of the task.', { restores: true, newerPlaces: 'recv pass hash purge miss hit deliver synth backend' }),
  row('BOOL ban(STRANDS)', ban, 'Adds a ban; false when it is not valid, and ban_error() says why.'),
  row('BOOL softban(STRANDS)', softban, 'As ban(), but what it matches becomes stale.'),
  row('STRING ban_error()', (ctx) => (taskPriv(ctx, BAN_ERROR).value as string | null | undefined) ?? '',
    'Why the last ban() or softban() of the task failed; empty when it did not.'),
);

/** Stores the result of a ban for ban_error(); null is success. */
function banned(ctx: VclContext, name: string, problem: string | null): boolean {
  taskPriv(ctx, BAN_ERROR).value = problem;
  if (problem !== null) ctx.log.put(Tag.VCL_Error, `${name}(): ${problem}`);
  return problem === null;
}
