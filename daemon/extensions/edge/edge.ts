// The extension edge: caching and purging on an edge network, from a program. What it does is the connector's
// (daemon/edge), which the worker makes when a program that imports this is loaded; without settings for purges, the
// local work is done and nothing else.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext, VclObject, VclRequest } from '../../contract/context.ts';
import type { Extension, ExtensionFunction } from '../../contract/extension.ts';
import { softFail } from '../../contract/failure.ts';
import { type EdgeReceipt, isRefused, STALE } from '../../contract/invalidation.ts';
import { taskPriv } from '../../contract/priv.ts';
import { State } from '../../contract/program.ts';
import { awaited, type Waiting } from '../../contract/waiting.ts';
import { TEST_OBJECT, testHeaders, testPage } from './test-object.ts';

/** Of the connector. */
const EDGE_VERSION = '0.1';
/** Seconds that a program waits for the journal, and with mode = inline for the network. */
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

/** What was done here, as the reply shows it. */
interface Local {
  readonly purged: number;
  readonly [more: string]: number | string | boolean;
}

/**
 * Does the local work, whose event tells the connector, and makes the reply of both.
 * @param work gives what was done, or why it was not
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

function purging(
  name: string,
  signature: string,
  help: string,
  call: ExtensionFunction['call'],
): readonly [string, ExtensionFunction] {
  return [name, { signature: `STRING ${name}(${signature})`, help, places: PURGE_PLACES, waits: true, call }];
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

export const edge: Extension = {
  name: 'edge',
  help: 'caching and purging on an edge network',
  notes: NOTES,
  functions: {
    is_edge: {
      signature: 'BOOL is_edge()',
      help: 'Whether the Via header of the request has the token of an edge network. It can be forged: it shapes headers and grants nothing.',
      places: 'client',
      call: isEdge,
    },
    configured: {
      signature: 'BOOL configured()',
      help: 'Whether purges are sent to a network: the file of settings names one, and has all that a call needs.',
      call: (ctx) => ctx.host.edge?.configured === true,
    },
    version: {
      signature: 'STRING version()',
      help: 'The version of the connector.',
      call: () => EDGE_VERSION,
    },
    revalidates: {
      signature: 'BOOL revalidates()',
      help: 'Whether the request came through the edge and must not be answered from grace, so that the edge never takes an old copy again after a soft purge (setting grace_to_edge).',
      places: 'client',
      call: (ctx) => isEdge(ctx) && ctx.host.edge?.settings.graceToEdge === 'revalidate',
    },
    headers: {
      signature: 'VOID headers()',
      help: 'In vcl_deliver, of a request that came through the edge: sets the headers by which the edge caches for TTL plus grace, and caches behind it for the TTL, and the cache tags.',
      places: 'deliver',
      call: putHeaders,
    },
    is_test_object: {
      signature: 'BOOL is_test_object()',
      help: 'Whether the request came through the edge and is for the test object, testobject.html below the prefix of the settings.',
      places: 'client',
      call: isTestObject,
    },
    test_object: {
      signature: 'VOID test_object()',
      help: 'In vcl_synth: makes the response the test object, with its headers.',
      places: 'synth',
      call: putTestObject,
    },
    local_only: {
      signature: 'VOID local_only()',
      help: 'What the rest of the task invalidates is not told to the edge.',
      call: (ctx) => {
        ctx.localOnly = true;
      },
    },
    reply: {
      signature: 'STRING reply()',
      help: 'What the last of the purging functions of the task returned; empty when there was none.',
      call: (ctx) => (taskPriv(ctx, REPLY).value as string | undefined) ?? '',
    },
    refused: {
      signature: 'BOOL refused()',
      help: 'Whether what the last of them did here is not done at the edge: the queue did not take it, or with mode = inline the network would not. Its reply says why. edge_auto.vcl answers 207 then.',
      call: (ctx) => taskPriv(ctx, REFUSED).value === true,
    },
    error: {
      signature: 'STRING error()',
      help: 'Why the last of them did nothing; empty when it did something.',
      call: (ctx) => (taskPriv(ctx, ERROR).value as string | undefined) ?? '',
    },
    ...Object.fromEntries([
      purging(
        'purge',
        'STRING url=""',
        `Purges here and deletes at the edge. ${URL_HELP} Returns the reply as JSON.`,
        (ctx, url) => byUrl(ctx, 'purge', url, false),
      ),
      purging(
        'softpurge',
        'STRING url=""',
        `As purge(), but makes stale here and invalidates at the edge. ${URL_HELP}`,
        (ctx, url) => byUrl(ctx, 'softpurge', url, true),
      ),
      purging(
        'ban',
        'STRING expression',
        'Adds a ban here and deletes by rule at the edge. A network that cannot delete by rule invalidates. Returns the reply as JSON.',
        (ctx, text) => byExpression(ctx, 'ban', text, false),
      ),
      purging(
        'softban',
        'STRING expression',
        'As ban(), but what matches becomes stale here and is invalidated at the edge.',
        (ctx, text) => byExpression(ctx, 'softban', text, true),
      ),
      purging(
        'purge_tags',
        'STRING keys',
        'Purges by surrogate keys here and deletes by cache tags at the edge. Returns the reply as JSON.',
        (ctx, keys) => byKeys(ctx, 'purge_tags', keys, false),
      ),
      purging(
        'softpurge_tags',
        'STRING keys',
        'As purge_tags(), but makes stale here and invalidates at the edge.',
        (ctx, keys) => byKeys(ctx, 'softpurge_tags', keys, true),
      ),
    ]),
  },
};
