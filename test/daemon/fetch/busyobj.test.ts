// A fetch is new, but its messages and its log may be those of a former one: nothing of that may be seen.
import { describe, expect, it } from 'vitest';
import { BusyObj, FetchAttempt, FetchBuffers } from '../../../daemon/fetch/busyobj.ts';
import type { Core } from '../../../daemon/transaction/core.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { soil, visible } from '../transaction/soil.ts';

function newCore(): Core {
  return {
    host: {},
    cache: { references: { ref: () => undefined } },
    clock: { now: () => 5 },
    params: { transit_buffer: 0, pipe_task_deadline: 0 },
    spareFetchBuffers: [],
    newVxid: () => 7,
    newLog: () => ({ begun: 0 }),
  } as unknown as Core;
}

function request(core: Core): Request {
  return {
    core,
    programRef: { refs: 0, program: { defaultDirector: null } },
    session: {},
    settings: { backendHint: undefined, clientIdentity: null },
    attempt: { vxid: 3, hashKey: '/', isHitMiss: false, isHitPass: false },
    cachedBody: null,
    body: null,
    filters: null,
  } as unknown as Request;
}

function fetch(core: Core): BusyObj {
  return new BusyObj(request(core), 4, 0, 'fetch');
}

describe('BusyObj', () => {
  it('begins again as if it were new', () => {
    const core = newCore();
    const fresh = fetch(newCore());
    const used = fetch(core);
    const { log } = used;
    for (const message of [used.bereq, used.beresp, used.bereq0, used.stored]) soil(message);
    used.attempt = soiled(used.attempt);
    used.recycle();
    expect(core.spareFetchBuffers.length).toBe(1);
    const again = fetch(core);
    expect(again.log).toBe(log);
    expect(core.spareFetchBuffers.length).toBe(0);
    expect(shown(again)).toEqual(shown(fresh));
  });

  it('keeps the buffers of ended fetches, but not without end', () => {
    const core = newCore();
    const ended = Array.from({ length: 1000 }, () => fetch(core));
    for (const bo of ended) bo.recycle();
    expect(core.spareFetchBuffers.length).toBeLessThan(1000);
    expect(core.spareFetchBuffers[0]).toBeInstanceOf(FetchBuffers);
  });

  it('keeps nothing else than messages and a log for another fetch', () => {
    expect(Object.keys(new FetchBuffers(newCore()))).toEqual([
      'bereq',
      'beresp',
      'original',
      'stored',
      'log',
    ]);
  });
});

function soiled(attempt: FetchAttempt): FetchAttempt {
  const other = new FetchAttempt(attempt.vxid);
  soil(other);
  return other;
}

function shown(bo: BusyObj): object {
  const { core: _core, ...own } = visible(bo);
  return { ...own, buffers: null, ctx: { ...bo.ctx, bo: null }, exchange: null };
}
