// A connection has one request and uses it again: nothing of a former one may be seen.
import { describe, expect, it } from 'vitest';
import type { HeadResult } from '../../../daemon/http1/head-parser.ts';
import type { ClientSession } from '../../../daemon/transaction/client-session.ts';
import type { Core } from '../../../daemon/transaction/core.ts';
import { Request } from '../../../daemon/transaction/request.ts';

/** Made once a connection: parts that are emptied by whoever uses them, and what does not change. */
const OF_THE_CONNECTION = new Set([
  'core',
  'session',
  'log',
  'top',
  'lookup',
  'query',
  'resume',
  'objectView',
  'fetchWait',
  'kept',
  'topPrivs',
]);
/** Written by the first step or by the one that waits, before anything reads them. */
const WRITTEN_FIRST = new Set(['hostless', 'recvCode']);
/** Set as a program runs: by the loop, or by the return that is read next. */
const OF_THE_CONTEXT = new Set([
  'req',
  'bo',
  'log',
  'host',
  'vcl',
  'state',
  'now',
  'priv',
  'failure',
  'tracing',
  'synthStatus',
  'synthReason',
  'passTtl',
]);
const MESSAGES = ['http', 'resp'] as const;

function quiet(): object {
  const record: object = new Proxy({}, { get: () => () => record });
  return record;
}

const core = {
  host: {},
  cache: {},
  clock: { now: () => 5 },
  params: {},
  newVxid: () => 7,
  newLog: quiet,
} as unknown as Core;
const session = { log: quiet(), tHead: 4 } as unknown as ClientSession;

function again(req: Request): Request {
  req.reset();
  req.http.method = 'GET';
  req.http.url = '/';
  req.http.proto = 'HTTP/1.1';
  req.begin(
    { headStart: 10, headEnd: 30, trimmed: false, lineStart: [10, 25] } as unknown as HeadResult,
    Buffer.alloc(40),
    5,
  );
  return req;
}

/** Everything a program or a step could have changed. */
function state(req: Request): object {
  const messages = MESSAGES.map((name) => [
    req[name].method,
    req[name].status,
    req[name].n,
    req[name].reason,
  ]);
  const own = Object.entries(req).filter(
    ([name]) =>
      !OF_THE_CONNECTION.has(name) &&
      !WRITTEN_FIRST.has(name) &&
      name !== 'ctx' &&
      name !== 'http' &&
      name !== 'resp',
  );
  const ctx = Object.entries(req.ctx).filter(([name]) => !OF_THE_CONTEXT.has(name));
  return { own, ctx, messages };
}

describe('Request', () => {
  it('begins again as if it were new', () => {
    const fresh = again(new Request(core, session, () => undefined));
    const used = again(new Request(core, session, () => undefined));
    for (const object of [used, used.ctx]) {
      for (const [name, value] of Object.entries(object)) {
        const kept = object === used ? OF_THE_CONNECTION : OF_THE_CONTEXT;
        if (kept.has(name) || name === 'ctx' || name === 'http' || name === 'resp') continue;
        const dirt = typeof value === 'number' ? value + 77 : typeof value === 'boolean' ? !value : 'dirt';
        Object.assign(object, { [name]: dirt });
      }
    }
    for (const name of MESSAGES) {
      used[name].push('x-dirt', 'X-Dirt: 1');
      used[name].status = 999;
      used[name].reason = 'dirt';
    }
    expect(state(again(used))).toEqual(state(fresh));
  });
});
