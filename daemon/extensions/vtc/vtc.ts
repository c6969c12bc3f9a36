// The extension vtc: for scripts of proxytest, to bring a program into states that are hard to reach. Follows vmod_vtc(3) of
// 7.1. Calls that wait pause their transaction and not the thread. There are no workspaces here, but their sizes limit the
// texts of a task (vcl/runtime/limits.ts): of these, the calls about workspaces take, as far as that goes.

import { connect } from 'node:net';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension } from '../../contract/extension.ts';
import { softFail, VclFailure } from '../../contract/failure.ts';
import { taskPriv } from '../../contract/priv.ts';
import { awaited, Waiting } from '../../contract/waiting.ts';
import { VclIp } from '../../vcl/runtime/ip.ts';
import { overflow, roomLeft, takeRoom } from '../../vcl/runtime/limits.ts';
import { byName, row } from '../extension-rows.ts';
import { preambleBlob } from './preamble-blob.ts';
import { typeSize } from './type-size.ts';
import { replayed, tagByName } from './vsl-lines.ts';

type Text = string | null;
type Workspace = 'client' | 'backend' | 'session' | 'thread';

/** Seconds that a call waits at most: a script ends long before. */
const LONG = 3600;
const WAITS = { waits: true };

/** The address of a barrier: `HOST:PORT`, `HOST PORT`, or the path of a socket. */
function address(text: string): { path: string } | { host: string; port: number } | null {
  if (text.startsWith('/')) return { path: text };
  const [, host, port] = /^\[?([^\s\]]+?)\]?[: ](\d+)$/.exec(text) ?? [];
  return host === undefined ? null : { host, port: Number(port) };
}

/** Waits until the peer closes the connection without a byte, as a barrier does when all have come. */
function barrierSync(ctx: VclContext, addr: Text, timeout: number): Waiting | undefined {
  const to = address(addr ?? '');
  ctx.log.put(Tag.Debug, `barrier_sync("${addr ?? ''}")`);
  if (to === null) {
    softFail(ctx, `Barrier connection failed: "${addr ?? ''}" is no address`);
    return;
  }
  const met = new Promise<void>((resolve, reject) => {
    const socket = connect(to);
    let connected = false;
    const end = (problem: string | null): void => {
      clearTimeout(timer);
      socket.destroy();
      if (problem === null) resolve();
      else reject(new VclFailure(problem));
    };
    const seconds = Math.min(LONG, timeout > 0 ? timeout : LONG);
    const timer = setTimeout(() => end(`Barrier read failed: nothing for ${seconds} s`), seconds * 1000);
    socket.on('connect', () => {
      connected = true;
    });
    socket.on('data', () => end('Barrier unexpected message'));
    socket.on('end', () => end(null));
    socket.on('error', ({ message }) =>
      end(`Barrier ${connected ? 'read' : 'connection'} failed: ${message}`),
    );
  });
  return awaited('vtc.barrier_sync()', met, LONG);
}

const sleep = (_ctx: VclContext, seconds: number): Waiting =>
  new Waiting((answered) => setTimeout(answered, Math.min(LONG, Math.max(0, seconds)) * 1000, undefined));

/** The worker ends with this report. */
function panic(_ctx: VclContext, text: Text): void {
  setImmediate(() => {
    throw new Error(`It works: ${text ?? ''}`);
  });
}

/** Whether this task has the workspace; those of a session and of a thread stand for its own. */
function has(ctx: VclContext, which: Workspace, call: string): boolean {
  const own = ctx.req === null ? 'backend' : 'client';
  if (which === 'session' || which === 'thread' || which === own) return true;
  softFail(ctx, `vtc.${call}(): this task has no ${which} workspace`);
  return false;
}

/** Bytes that a size asks for: a negative one leaves as many. */
const asked = (ctx: VclContext, size: number): number =>
  size < 0 ? Math.max(0, roomLeft(ctx) + size) : size;

function allocate(ctx: VclContext, which: Workspace, size: number): void {
  if (has(ctx, which, 'workspace_alloc') && !takeRoom(ctx, asked(ctx, size)))
    softFail(ctx, 'vtc.workspace_alloc');
}

function reserve(ctx: VclContext, which: Workspace, size: number): number {
  if (!has(ctx, which, 'workspace_reserve')) return 0;
  const bytes = asked(ctx, size);
  return bytes > roomLeft(ctx) ? 0 : bytes;
}

/** Key of a task's snapshot. */
const SNAPSHOT = Object.freeze({});

function snapshot(ctx: VclContext, which: Workspace): void {
  if (has(ctx, which, 'workspace_snapshot')) taskPriv(ctx, SNAPSHOT).value = { which, taken: ctx.roomTaken };
}

function reset(ctx: VclContext, which: Workspace): void {
  const priv = taskPriv(ctx, SNAPSHOT);
  const taken = priv.value as { which: Workspace; taken: number } | null | undefined;
  if (taken?.which !== which) {
    softFail(ctx, `vtc.workspace_reset(): there is no snapshot of the ${which} workspace`);
    return;
  }
  ctx.roomTaken = taken.taken;
  priv.value = null;
}

/** Writes a record of any transaction. */
function vsl(ctx: VclContext, vxid: number, tag: Text, side: 'c' | 'b', text: Text): void {
  const number = tagByName(tag ?? '');
  if (number === undefined) softFail(ctx, `No such tag: ${tag ?? ''}`);
  else if (vxid < 0 || vxid >= 2 ** 30) softFail(ctx, `vxid ${vxid} is out of bounds`);
  else ctx.log.putFor(vxid, vxid === 0 ? '-' : side, number, text ?? '');
}

function vslReplay(ctx: VclContext, text: Text): void {
  for (const { vxid, tag, side, text: record } of replayed(text ?? ''))
    ctx.log.putFor(vxid, side, tag, record);
}

const WHICH = 'ENUM {client, backend, session, thread}';

export const vtc: Extension = {
  name: 'vtc',
  help: 'helpers for scripts of proxytest',
  notes: {
    description:
      'For tests of programs by proxytest(1), not for traffic: some calls stop requests, and one the worker. The sizes of workspaces limit long texts here and nothing else, so the calls about them reach less than in Varnish; those of a session and of a thread stand for that of the task.',
  },
  // biome-ignore format: a row is a line
  functions: byName(
    row('VOID barrier_sync(STRING addr, DURATION timeout=0)', barrierSync,
      'Waits for a barrier of the script, whose address is the macro of its name and `_sock`. Fails when it cannot be reached, or after timeout; 0 is none.', WAITS),
    row('BACKEND no_backend()', () => null, 'No backend: a fetch from it fails.'),
    row('STEVEDORE no_stevedore()', () => null, 'No storage.'),
    row('IP no_ip()', () => new VclIp('', 0), 'No address: its use fails.'),
    row('VOID panic(STRING)', panic, 'Ends the worker with this report, all of its requests with it.'),
    row('VOID sleep(DURATION)', sleep, 'The task waits; others do not.', WAITS),
    row(`VOID workspace_alloc(${WHICH}, INT size)`, allocate,
      'Takes bytes of the workspace; a negative size leaves as many. Fails where there are too few.'),
    row(`BYTES workspace_reserve(${WHICH}, INT size)`, reserve, 'How much of it could be taken: all, or 0.'),
    row(`INT workspace_free(${WHICH})`, (ctx: VclContext, which: Workspace) => (has(ctx, which, 'workspace_free') ? roomLeft(ctx) : 0),
      'Bytes left for texts.'),
    row(`VOID workspace_snapshot(${WHICH})`, snapshot, 'Keeps how much is taken.'),
    row(`VOID workspace_reset(${WHICH})`, reset, 'Returns to the snapshot, which is gone then. Fails without one.'),
    row(`BOOL workspace_overflowed(${WHICH})`, (ctx: VclContext, which: Workspace) => has(ctx, which, 'workspace_overflowed') && ctx.overflowed,
      'Whether something did not fit.'),
    row(`VOID workspace_overflow(${WHICH})`, (ctx: VclContext, which: Workspace) => { if (has(ctx, which, 'workspace_overflow')) overflow(ctx); },
      'As if something had not fitted: the response will be a 500.'),
    row(`BLOB workspace_dump(${WHICH}, ENUM {s, f, r}, BYTES off=0, BYTES len=64)`, () => null, 'There is nothing to show: no bytes.'),
    row('INT typesize(STRING)', (_ctx: VclContext, types: Text) => typeSize(types ?? ''),
      'Bytes of a C structure of these types: p pointer, i int, d double, f float, l long, s short, z size_t, o off_t, j intmax_t. -1 for another one.'),
    row('BLOB proxy_header(ENUM {v1, v2} version, IP client, IP server, [STRING authority])', preambleBlob,
      'A PROXY preamble with these addresses; version 2 may name an authority.'),
    row('VOID vsl(INT vxid, STRING tag, ENUM {c, b} side, STRING s)', vsl, 'Writes a record into the log. Fails for an unknown tag.'),
    row('VOID vsl_replay(STRING s)', vslReplay,
      'Writes records that are given as `proxylog -g raw` shows them, or as the lines `vsl|` of a script’s log; other lines are left out.'),
  ),
};
