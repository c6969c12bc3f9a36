// The extension edge: caching and purging on an edge network, from a program. The work is done by the connector
// (daemon/edge), which the worker creates when a program that imports this is loaded; without purge settings only the
// local work is done.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext, VclObject, VclRequest } from '../../contract/context.ts';
import type { Extension, ExtensionCall, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { type EdgeReceipt, isRefused, STALE } from '../../contract/invalidation.ts';
import { taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import { awaited, type Waiting } from '../../contract/waiting.ts';
import { byName, row } from '../extension-rows.ts';

// The test page: an operator can see whether edge network, proxy and connector work together, because its size and
// headers are known.

/** Size of the page in bytes, and its lifetimes in seconds. */
const TEST_OBJECT = { size: 20_480, ttl: 60, grace: 10, path: '/testobject.html' };

const HEAD =
  '<!DOCTYPE html>\n<html lang="en">\n<head><title>Test object</title></head>\n<body>\n<h1>Test object</h1>\n<pre>\n';
const TAIL = '</pre>\n</body>\n</html>\n';

/** The page; always the same. */
function testPage(): string {
  const room = TEST_OBJECT.size - HEAD.length - TAIL.length;
  let lines = '';
  for (let i = 1; lines.length < room; i++) lines += `Line ${i} of a page whose size is known.\n`;
  return `${HEAD}${lines.slice(0, room - 1)}\n${TAIL}`;
}

/** Headers of the page; `identity` is the proxy's. */
function testHeaders(identity: string, version: string): readonly (readonly [string, string])[] {
  return [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Edge-Control', `max-age=${TEST_OBJECT.ttl + TEST_OBJECT.grace}`],
    ['Cache-Control', `post-check=${TEST_OBJECT.ttl}`],
    ['Via', `1.1 ${identity} (proxyd/0.1), 1.1 edge-connector (Edge-Connector/${version})`],
    ['Accept-Ranges', 'bytes'],
  ];
}

/** Version of the connector. */
const EDGE_VERSION = '0.1';
/** Seconds that a program waits for the journal, or with mode = inline for the network. */
const PATIENCE = 60;
const PURGE_PLACES = 'recv pass hit miss synth';

const REPLY = {};
const ERROR = {};
const REFUSED = {};
const PAGE = testPage();

function isEdge(ctx: VclContext): boolean {
  return ctx.req !== null && ctx.host.edge?.isEdge(ctx.req.http.getAll('via')) === true;
}

function isTestObject(ctx: VclContext): boolean {
  const { req, host } = ctx;
  if (req === null || host.edge === null || !isEdge(ctx)) return false;
  const { method, url } = req.http;
  const path = url.split('?', 1)[0];
  return (
    (method === 'GET' || method === 'HEAD') && path === `${host.edge.settings.prefix}${TEST_OBJECT.path}`
  );
}

/** The local result, as the reply shows it. */
interface Local {
  readonly purged: number;
  readonly [more: string]: number | string | boolean;
}

/**
 * Does the local work, whose event reaches the connector, and combines both results in a reply.
 * @param work returns the local result, or the reason of its failure
 */
function both(ctx: VclContext, name: string, work: () => Local | string): Waiting | string {
  const owedBefore = ctx.owed;
  ctx.owed = null;
  const local = work();
  const receipts = ctx.owed as Promise<EdgeReceipt>[] | null;
  ctx.owed = owedBefore;
  const problem = typeof local === 'string' ? local : '';
  taskPriv(ctx, ERROR).value = problem;
  taskPriv(ctx, REFUSED).value = false;
  if (problem !== '') {
    ctx.log.put(Tag.VCL_Error, `edge.${name}(): ${problem}`);
    return replied(ctx, JSON.stringify({ error: problem }));
  }
  if (receipts === null) {
    const bare = ctx.localOnly ? { local } : {};
    return replied(ctx, JSON.stringify(bare));
  }
  const reply = Promise.all(receipts).then((all) => {
    taskPriv(ctx, REFUSED).value = all.some(isRefused);
    return replied(ctx, JSON.stringify({ local, edge: all[0] }));
  });
  return awaited(`edge.${name}`, reply, PATIENCE);
}

function replied(ctx: VclContext, json: string): string {
  taskPriv(ctx, REPLY).value = json;
  return json;
}

function byUrl(ctx: VclContext, name: string, url: string | null, soft: boolean): Waiting | string {
  return both(ctx, name, () => {
    const lives = soft ? STALE : null;
    if (url !== null && url !== '') return ctx.host.purgeUrl(url, soft, ctx);
    const known = [State.hit, State.miss, State.pass].includes(ctx.state);
    if (!known) return 'which object is meant is known in vcl_hit, vcl_miss and vcl_pass only: give its URL';
    return { purged: (ctx.req as VclRequest).purge(lives, false) };
  });
}

function byExpression(
  ctx: VclContext,
  name: string,
  expression: string | null,
  soft: boolean,
): Waiting | string {
  return both(ctx, name, () => {
    if (expression === null) return 'no expression';
    const problem = soft ? ctx.host.softBan(expression, ctx) : ctx.host.ban(expression, ctx);
    return problem ?? { purged: 0, banned: true };
  });
}

function byKeys(ctx: VclContext, name: string, keys: string | null, soft: boolean): Waiting | string {
  return both(ctx, name, () => ({ purged: ctx.host.purgeTags(keys ?? '', soft, ctx) }));
}

function purging(signature: string, call: ExtensionCall, help: string): ExtensionFunction {
  return row(signature, call, help, { places: PURGE_PLACES, waits: true });
}

function putHeaders(ctx: VclContext): void {
  const { req, host } = ctx;
  if (req === null || host.edge === null || !isEdge(ctx)) return;
  const { resp } = req;
  const obj: VclObject | null = req.obj;
  const age = obj?.age ?? 0;
  const changes = host.edge.headers({
    cacheable: obj !== null && !obj.uncacheable,
    ttl: (obj?.ttl ?? 0) + age,
    grace: obj?.grace ?? 0,
    age,
    cacheControl: resp.getAll('cache-control') ?? '',
    keys: [resp.getAll(host.edge.settings.tagHeader) ?? ''],
    host: req.http.get('host') ?? '',
  });
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) resp.unset(name.toLowerCase());
    else resp.set(name, value);
  }
}

function putTestObject(ctx: VclContext): void {
  const { req, host } = ctx;
  if (req === null) return;
  if (ctx.state !== State.synth) {
    softFail(ctx, 'edge.test_object() can only be called in vcl_synth{}');
    return;
  }
  const { resp } = req;
  resp.status = 200;
  resp.reason = 'OK';
  for (const [name, value] of testHeaders(host.identity, EDGE_VERSION)) resp.set(name, value);
  (req.attempt as { synthBody: string | null }).synthBody = PAGE;
}

const URL_HELP =
  'The URL may be a path, of the host of the request, or begin with http:// or https://. Without one the object of the request is meant, in vcl_hit, vcl_miss and vcl_pass.';

const NOTES = {
  setup:
    'proxy-edge-setup install copies edge_auto.vcl and edge.vcl to /etc/proxyd, and an example of the settings to /etc/proxyd/edge-connector.conf; what is there stays. Then a program says\n\nimport std; import edge; include "edge_auto.vcl";\n\nand proxyadm edge.test asks for the test object as the edge would. The settings, what is told to the network, and the queue are described in daemon/edge/README.md of the package; the acl of those who may purge is in edge.vcl.',
  prerequisites:
    'Node.js 20.19 or newer and npm, and make(1) for the Makefile in daemon/edge. Distributions ship them in separate packages: nodejs, npm and make in Debian, Ubuntu, Alpine and Arch; nodejs, nodejs-npm and make in Fedora; nodejs20, npm20 and make in openSUSE. Where those are older, https://nodejs.org has newer ones. ./configure says what is missing.',
};

function localOnly(ctx: VclContext): void {
  ctx.localOnly = true;
}

export const edge: Extension = {
  name: 'edge',
  help: 'caching and purging on an edge network',
  notes: NOTES,
  // biome-ignore format: a row is a line
  functions: byName(
    row('BOOL is_edge()', isEdge,
      'Whether the Via header of the request has the token of an edge network. It can be forged: it shapes headers and grants nothing.', { places: 'client' }),
    row('BOOL configured()', (ctx) => ctx.host.edge?.configured === true,
      'Whether purges are sent to a network: the file of settings names one, and has all that a call needs.'),
    row('STRING version()', () => EDGE_VERSION, 'The version of the connector.'),
    row('BOOL revalidates()', (ctx) => isEdge(ctx) && ctx.host.edge?.settings.graceToEdge === 'revalidate',
      'Whether the request came through the edge and must not be answered from grace, so that the edge never takes an old copy again after a soft purge (setting grace_to_edge).', { places: 'client' }),
    row('VOID headers()', putHeaders,
      'In vcl_deliver, of a request that came through the edge: sets the headers by which the edge caches for TTL plus grace, and downstream caches for the TTL, and the cache tags.', { places: 'deliver' }),
    row('BOOL is_test_object()', isTestObject,
      'Whether the request came through the edge and is for the test object, testobject.html below the prefix of the settings.', { places: 'client' }),
    row('VOID test_object()', putTestObject, 'In vcl_synth: makes the response the test object, with its headers.', { places: 'synth' }),
    row('VOID local_only()', localOnly, 'What the rest of the task invalidates is not sent to the edge.'),
    row('STRING reply()', (ctx) => (taskPriv(ctx, REPLY).value as string | undefined) ?? '',
      'Result of the last purging function of the task; empty if there was none.'),
    row('BOOL refused()', (ctx) => taskPriv(ctx, REFUSED).value === true,
      'Whether the last of them was done here but not at the edge: the queue refused it, or with mode = inline the network did. The reply has the reason. edge_auto.vcl answers 207 then.'),
    row('STRING error()', (ctx) => (taskPriv(ctx, ERROR).value as string | undefined) ?? '',
      'Why the last of them failed; empty if it succeeded.'),
    purging('STRING purge(STRING url="")', (ctx, url) => byUrl(ctx, 'purge', url, false),
      `Purges here and deletes at the edge. ${URL_HELP} Returns the reply as JSON.`),
    purging('STRING softpurge(STRING url="")', (ctx, url) => byUrl(ctx, 'softpurge', url, true),
      `As purge(), but makes stale here and invalidates at the edge. ${URL_HELP}`),
    purging('STRING ban(STRING expression)', (ctx, text) => byExpression(ctx, 'ban', text, false),
      'Adds a ban here and deletes by rule at the edge. A network that cannot delete by rule invalidates. Returns the reply as JSON.'),
    purging('STRING softban(STRING expression)', (ctx, text) => byExpression(ctx, 'softban', text, true),
      'As ban(), but what matches becomes stale here and is invalidated at the edge.'),
    purging('STRING purge_tags(STRING keys)', (ctx, keys) => byKeys(ctx, 'purge_tags', keys, false),
      'Purges by surrogate keys here and deletes by cache tags at the edge. Returns the reply as JSON.'),
    purging('STRING softpurge_tags(STRING keys)', (ctx, keys) => byKeys(ctx, 'softpurge_tags', keys, true),
      'As purge_tags(), but makes stale here and invalidates at the edge.'),
  ),
};
