// A fetch is made of what a former one left: nothing of that may be seen.
import { describe, expect, it } from 'vitest';
import { BusyObj } from '../../../daemon/fetch/busyobj.ts';
import type { HttpMessage } from '../../../daemon/http1/message.ts';
import type { Core } from '../../../daemon/transaction/core.ts';
import type { Request } from '../../../daemon/transaction/request.ts';

const FIXED = new Set(['core', 'log', 'resume', 'exchange', 'stored']);
const MESSAGES = ['bereq', 'beresp', 'bereq0'] as const;

function core(): Core {
  const cache = { ref: () => undefined };
  const clock = { now: () => 5 };
  return {
    host: {},
    cache,
    clock,
    spareFetches: [],
    newVxid: () => 7,
    newLog: () => ({}),
  } as unknown as Core;
}

function request(of: Core): Request {
  const programRef = { refs: 0, program: { defaultDirector: null } };
  return {
    core: of,
    programRef,
    session: {},
    vxid: 3,
    hashKey: '/',
    cachedBody: null,
    body: null,
  } as unknown as Request;
}

/** Everything a program or a step could have changed. */
function state(bo: BusyObj): object {
  const shown = (message: HttpMessage): unknown[] => [message.method, message.status, message.n, message.log];
  const own = Object.entries(bo).filter(([name]) => !FIXED.has(name) && name !== 'ctx');
  const ctx = Object.entries(bo.ctx).filter(([name]) => name !== 'bo' && name !== 'log');
  const plain = own.filter(([name]) => !MESSAGES.includes(name as 'bereq'));
  return { plain, ctx, messages: MESSAGES.map((name) => shown(bo[name])) };
}

describe('BusyObj', () => {
  it('begins again as if it were new', () => {
    const shared = core();
    const req = request(shared);
    const fresh = new BusyObj(shared);
    fresh.begin(req, 4, 0, 'fetch');

    const used = new BusyObj(shared);
    used.begin(req, 9, 8, 'pass');
    for (const [object, kept] of [
      [used, FIXED],
      [used.ctx, new Set(['bo', 'req', 'log', 'host'])],
    ] as const) {
      for (const [name, value] of Object.entries(object)) {
        if (kept.has(name) || name === 'ctx' || MESSAGES.includes(name as 'bereq')) continue;
        const dirt = typeof value === 'number' ? value + 77 : typeof value === 'boolean' ? !value : 'dirt';
        Object.assign(object, { [name]: dirt });
      }
    }
    for (const name of MESSAGES) {
      used[name].push('x-dirt', 'X-Dirt: 1');
      used[name].status = 999;
      used[name].log = used.log;
    }
    used.begin(req, 4, 0, 'fetch');
    expect(state(used)).toEqual(state(fresh));
  });

  it('is kept for another fetch, but not without end', () => {
    const shared = core();
    for (let i = 0; i < 1000; i++) {
      const bo = new BusyObj(shared);
      bo.begin(request(shared), 1, 0, 'pass');
      bo.recycle();
    }
    expect((shared.spareFetches[0] as BusyObj).session).toBeNull();
    expect(shared.spareFetches.length).toBeLessThan(1000);
  });
});
