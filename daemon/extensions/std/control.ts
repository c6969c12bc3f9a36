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
    call: (ctx, s: string | null) => ctx.log.put(Tag.VCL_Log, s ?? ''),
  },
  syslog: {
    signature: 'VOID syslog(INT priority, STRANDS s)',
    call: (ctx, priority: number, s: string | null) => {
      // One call is one message.
      const text = (s ?? '').replace(/[\0\r\n]+/g, ' ');
      if (system.reachable) system.send(priority, text);
      else ctx.host.syslog(priority, text);
    },
  },
  timestamp: {
    signature: 'VOID timestamp(STRING s)',
    call: (ctx, s: string | null) => {
      if (s !== null && s !== '') ctx.log.timestamp?.(s, ctx.host.now?.() ?? Date.now() / 1000);
    },
  },
  syntax: {
    signature: 'BOOL syntax(REAL)',
    call: (ctx, version: number) => Math.round(version * 10) <= ctx.vcl.compiled.syntax,
  },
  healthy: {
    signature: 'BOOL healthy(BACKEND be)',
    call: (ctx, be: Director | null) => be?.healthy(ctx.now, ctx) ?? false,
  },
  port: { signature: 'INT port(IP ip)', call: (_c, ip: VclIp) => ip.port },
  cache_req_body: {
    signature: 'BOOL cache_req_body(BYTES size)',
    waits: true,
    call: (ctx, size: number) => {
      if (ctx.req === null || ctx.bo !== null || ctx.state !== State.recv) {
        softFail(ctx, 'req_body can only be cached in vcl_recv{}');
        return false;
      }
      return ctx.req.cacheBody?.(size) ?? false;
    },
  },
  late_100_continue: {
    signature: 'VOID late_100_continue(BOOL late)',
    call: (ctx, late: boolean) => {
      if (ctx.req !== null && ctx.state === State.recv) ctx.req.late100Continue = late;
    },
  },
  // No socket option can be set from here: the call is taken and does nothing, as on a Unix domain socket.
  set_ip_tos: { signature: 'VOID set_ip_tos(INT tos)', call: () => undefined },
  rollback: {
    signature: 'VOID rollback(HTTP h)',
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
    call: (ctx, expression: string | null) =>
      banned(ctx, 'ban', expression === null ? 'Null argument' : ctx.host.ban(expression)),
  },
  softban: {
    signature: 'BOOL softban(STRANDS)',
    call: (ctx, expression: string | null) =>
      banned(
        ctx,
        'softban',
        expression === null ? 'Null argument' : (ctx.host.softBan?.(expression) ?? null),
      ),
  },
  ban_error: {
    signature: 'STRING ban_error()',
    call: (ctx) => (taskPriv(ctx, BAN_ERROR).value as string | null | undefined) ?? '',
  },
};

/** Notes what came of a ban for ban_error(); null is well. */
function banned(ctx: VclContext, name: string, problem: string | null): boolean {
  taskPriv(ctx, BAN_ERROR).value = problem;
  if (problem !== null) ctx.log.put(Tag.VCL_Error, `${name}(): ${problem}`);
  return problem === null;
}
