// std functions that log, and that look at or steer the task.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { Director, VclContext } from '../../contract/context.ts';
import type { ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { endPrivs, taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import type { HttpMessage } from '../../http1/message.ts';
import { Syslog } from '../../syslog.ts';
import type { VclIp } from '../../vcl/runtime/ip.ts';

/** Key of the last ban's error among the private data of a task. */
const BAN_ERROR = Object.freeze({});

/** Strings of a program are bytes. */
const system = new Syslog({ encoding: 'latin1' });

export const controlFunctions: Record<string, ExtensionFunction> = {
  log: {
    signature: 'VOID log(STRANDS s)',
    help: 'Writes a VCL_Log record.',
    call: (ctx, s: string | null) => ctx.log.put(Tag.VCL_Log, s ?? ''),
  },
  syslog: {
    signature: 'VOID syslog(INT priority, STRANDS s)',
    help: 'Sends a message to the system’s log; priority is facility * 8 + level (syslog(3)).',
    call: (ctx, priority: number, s: string | null) => {
      // One call is one message.
      const text = (s ?? '').replace(/[\0\r\n]+/g, ' ');
      if (system.reachable) system.send(priority, text);
      else ctx.host.syslog(priority, text);
    },
  },
  timestamp: {
    signature: 'VOID timestamp(STRING s)',
    help: 'Adds a Timestamp record with this label.',
    call: (ctx, s: string | null) => {
      if (s !== null && s !== '') ctx.log.timestamp(s, ctx.host.now());
    },
  },
  syntax: {
    signature: 'BOOL syntax(REAL)',
    help: 'Whether the program’s version of VCL is at least this one.',
    call: (ctx, version: number) => Math.round(version * 10) <= ctx.vcl.compiled.syntax,
  },
  healthy: {
    signature: 'BOOL healthy(BACKEND be)',
    help: 'Whether the backend or director is healthy.',
    call: (ctx, be: Director | null) => be?.healthy(ctx.now, ctx) ?? false,
  },
  port: { signature: 'INT port(IP ip)', help: 'The port of the address.', call: (_c, ip: VclIp) => ip.port },
  cache_req_body: {
    signature: 'BOOL cache_req_body(BYTES size)',
    help: 'In vcl_recv: reads the body of the request, so that it can be sent more than once and looked at. The request waits until it is there. False when it is larger than this, or did not come whole.',
    waits: true,
    // Elsewhere than in vcl_recv the call fails, as in Varnish.
    places: 'all',
    call: (ctx, size: number) => {
      if (ctx.req === null || ctx.bo !== null || ctx.state !== State.recv) {
        softFail(ctx, 'req_body can only be cached in vcl_recv{}');
        return false;
      }
      return ctx.req.cacheBody(size);
    },
  },
  late_100_continue: {
    signature: 'VOID late_100_continue(BOOL late)',
    help: 'In vcl_recv: ask the client for the body (100 Continue) only where the body is needed.',
    call: (ctx, late: boolean) => {
      if (ctx.req !== null && ctx.state === State.recv) ctx.req.late100Continue = late;
    },
  },
  // No socket option can be set from here: the call is taken and does nothing, as on a Unix domain socket.
  set_ip_tos: {
    signature: 'VOID set_ip_tos(INT tos)',
    help: 'Does nothing: the runtime has no way to the socket option.',
    call: () => undefined,
  },
  rollback: {
    signature: 'VOID rollback(HTTP h)',
    help: 'Brings req or bereq back to what it was before the program changed it, and ends the private data of the task.',
    restores: true,
    call: (ctx, h: HttpMessage) => {
      if (h === ctx.req?.http) ctx.req.rollback();
      else if (h === ctx.bo?.bereq) ctx.bo.rollback();
      else {
        softFail(ctx, 'std.rollback() can only be called on req or bereq');
        return;
      }
      // What extensions kept for the task was made of what is no more.
      endPrivs(ctx.priv);
    },
  },
  ban: {
    signature: 'BOOL ban(STRANDS)',
    help: 'Adds a ban; false when it is not valid, and ban_error() says why.',
    call: (ctx, expression: string | null) =>
      banned(ctx, 'ban', expression === null ? 'Null argument' : ctx.host.ban(expression, ctx)),
  },
  softban: {
    signature: 'BOOL softban(STRANDS)',
    help: 'As ban(), but what it matches becomes stale.',
    call: (ctx, expression: string | null) =>
      banned(ctx, 'softban', expression === null ? 'Null argument' : ctx.host.softBan(expression, ctx)),
  },
  ban_error: {
    signature: 'STRING ban_error()',
    help: 'Why the last ban() or softban() of the task failed; empty when it did not.',
    call: (ctx) => (taskPriv(ctx, BAN_ERROR).value as string | null | undefined) ?? '',
  },
};

/** Notes what came of a ban for ban_error(); null is well. */
function banned(ctx: VclContext, name: string, problem: string | null): boolean {
  taskPriv(ctx, BAN_ERROR).value = problem;
  if (problem !== null) ctx.log.put(Tag.VCL_Error, `${name}(): ${problem}`);
  return problem === null;
}
