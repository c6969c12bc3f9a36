// A fetch is new, but its messages and its log may be those of a former one: nothing of that may be seen.
import { describe, expect, it } from 'vitest';
import { BusyObj, FetchBuffers } from '../../../daemon/fetch/busyobj.ts';
import { FetchAttempt } from '../../../daemon/fetch/fetch-attempt.ts';
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
    used.attempt = soiled(used);
    used.recycle();
    expect(core.spareFetchBuffers.length).toBe(1);
    const again = fetch(core);
    expect(again.log).toBe(log);
    expect(core.spareFetchBuffers.length).toBe(0);
    expect(shown(again)).toEqual(shown(fresh));
  });

  it('resets what a program has set for one attempt, but do_gzip and do_gunzip', () => {
    const { attempt } = fetch(newCore());
    Object.assign(attempt, {
      doEsi: true,
      doGzip: true,
      doGunzip: true,
      doStream: false,
      filters: 'gzip',
      hasBody: true,
    });
    expect(attempt.next(8)).toMatchObject({
      ...{
        vxid: 8,
        doEsi: false,
        doGzip: true,
        doGunzip: true,
        doStream: true,
        filters: null,
        hasBody: false,
      },
    });
    expect(attempt.madeInstead()).toMatchObject({
      vxid: attempt.vxid,
      doStream: false,
      doEsi: false,
      madeHere: true,
    });
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

function soiled(bo: BusyObj): FetchAttempt {
  const other = new FetchAttempt(bo, bo.attempt.vxid);
  soil(Object.assign(other, { bo: null }));
  return other;
}

function shown(bo: BusyObj): object {
  const { core: _core, ...own } = visible(bo);
  return {
    ...own,
    buffers: null,
    ctx: { ...bo.ctx, bo: null },
    attempt: { ...visible(bo.attempt), bo: null },
  };
}
