// The parts of a worker that a step of a request or a fetch uses, so that one step can run alone: a manual clock,
// counters, a log of texts, and a cache of one object whose references are counted. A test replaces what its step
// needs.

import { type Director, RequestSettings, type VclProgram } from '../../daemon/contract/context.ts';
import { State, type StateName } from '../../daemon/contract/program.ts';
import { BusyObj, type FetchMode } from '../../daemon/fetch/busyobj.ts';
import { own } from '../../daemon/flow/piece.ts';
import { newMainCounters } from '../../daemon/stats/counter-fields.ts';
import { SharedCount } from '../../daemon/threads/shared-count.ts';
import type { ClientSession } from '../../daemon/transaction/client-session.ts';
import type { Core, ProgramRef } from '../../daemon/transaction/core.ts';
import type { Step } from '../../daemon/transaction/drive.ts';
import { EarlySlices } from '../../daemon/transaction/early-slices.ts';
import { EsiState } from '../../daemon/transaction/fragment-place.ts';
import { HeldLookups } from '../../daemon/transaction/held-lookups.ts';
import { Request } from '../../daemon/transaction/request.ts';
import { RequestBuffers } from '../../daemon/transaction/request-buffers.ts';
import { Turns } from '../../daemon/turns/turns.ts';
import { changesOf } from '../../protocol/tables/release-changes.ts';
import { RETURN } from '../../protocol/tables/returns.ts';
import { TAGS, Tag } from '../../protocol/tables/tags.ts';

type ReturnName = keyof typeof RETURN;

/** A log that stores texts as "Tag text"; its other methods do nothing. */
export function textLog(records: string[]): object {
  const put = (tag: number, text: string): void => {
    records.push(`${TAGS[tag - 1]?.name} ${text}`);
  };
  const log: object = new Proxy(
    { tPrev: 0, tFirst: 0 },
    {
      get: (target, name) => {
        if (name in target) return target[name as keyof typeof target];
        if (name === 'put') return put;
        if (name === 'end') return () => put(Tag.End, '');
        return name === 'wants' ? () => false : name === 'closeText' ? () => 'X-Proxy-Id: 7' : () => log;
      },
    },
  );
  return log;
}

/** Anything a step may call of a part that the test does not look at: each call returns 0. */
function silent(own: object = {}): object {
  return new Proxy(own, {
    get: (target, name) => (name in target ? target[name as keyof typeof target] : () => 0),
  });
}

export class FakeCore {
  now = 1000;
  readonly stats = newMainCounters();
  readonly records: string[] = [];
  /** References that are held, by handle. */
  readonly references = new Map<number, number>();
  /** Handles that were looked up, killed, failed …, as "what handle". */
  readonly calls: string[] = [];
  /** The cache's answer for every object. */
  readonly facts = { isFinished: true, isFailed: false, isDeliverable: true, isGzipped: false };
  /** Steps that were resumed with. */
  readonly resumed: string[] = [];
  /** Whatever the program of a state returns. */
  private readonly returns = new Map<number, ReturnName>();
  readonly core: Core;
  readonly programRef: ProgramRef;
  readonly session: ClientSession;
  readonly later: (() => void)[] = [];

  constructor(params: Record<string, number> = {}) {
    const count = (by: number) => (oc: number) => {
      this.references.set(oc, (this.references.get(oc) ?? 0) + by);
    };
    const noted = (what: string) => (oc: number) => {
      this.calls.push(`${what} ${oc}`);
      return 0;
    };
    const fact = (name: keyof FakeCore['facts']) => () => this.facts[name];
    this.core = {
      clock: { now: () => this.now },
      params: { max_restarts: 4, max_retries: 4, http_gzip_support: 1, http_range_support: 1, ...params },
      stats: this.stats,
      host: { edge: null, fleet: null, disk: null },
      stepChecks: null,
      turnWatch: null,
      turns: new Turns(() => 0),
      bgFetches: new SharedCount(),
      pipes: new SharedCount(),
      spareFetchBuffers: [],
      held: new HeldLookups(),
      earlySlices: new EarlySlices(),
      esi: new EsiState(),
      requestLimits: { maxLine: 8192, maxFields: 64, maxSize: 32768 },
      newVxid: () => 7,
      newLog: () => textLog(this.records),
      idHeader: { key: 'x-proxy-id', name: 'X-Proxy-Id', start: 'X-Proxy-Id: ', since: 0 },
      output: (size: number) => Buffer.alloc(size),
      outputPiece: (out: Buffer, start: number, end: number) => own(out.subarray(start, end)),
      later: (run: () => void) => this.later.push(run),
      cache: silent({
        facts: silent({
          isFinished: fact('isFinished'),
          isFailed: fact('isFailed'),
          isDeliverable: fact('isDeliverable'),
          isGzipped: fact('isGzipped'),
        }),
        references: silent({ ref: count(1), deref: count(-1) }),
        filling: silent({ newPrivate: () => 9, fail: noted('fail') }),
        invalidation: silent({ purge: noted('purge'), kill: noted('kill') }),
        hits: silent({ count: noted('hit') }),
        storages: silent({ next: () => 's0' }),
        reading: silent(),
        lookup: silent(),
      }),
    } as unknown as Core;
    this.session = {
      vxid: 1,
      tHead: 999,
      closeAfter: null,
      stream: null,
      isOpen: true,
      clientIp: '192.0.2.1',
      write: () => 'more',
      requestDone: () => this.calls.push('done'),
      cut: (reason: string) => this.calls.push(`cut ${reason}`),
      close: (reason: string) => this.calls.push(`close ${reason}`),
    } as unknown as ClientSession;
    const states: Record<number, () => number> = new Proxy(
      {},
      { get: (_, state) => () => RETURN[this.returns.get(Number(state)) ?? 'fail'] },
    );
    this.programRef = {
      name: 'boot',
      refs: 0,
      program: {
        name: 'boot',
        states,
        changes: changesOf('7.1'),
        waiting: [],
        isPlain: [],
        defaultDirector: null as Director | null,
        makeBackend: null,
        privs: new Map(),
      } as unknown as VclProgram,
      keepsRequest: false,
      keepsFetch: false,
      plainHit: false,
      plainDeliver: false,
      labels: new Map(),
    };
  }

  /** The program's return in a state. */
  program(state: StateName, ret: ReturnName): this {
    this.returns.set(State[state], ret);
    return this;
  }

  request(): Request {
    const req = new Request(this.core, this.session, new RequestBuffers(this.core), (_, step) =>
      this.resumed.push(step.name),
    );
    req.http.method = 'GET';
    req.http.url = '/';
    req.http.proto = 'HTTP/1.1';
    req.attempt.vxid = 3;
    req.settings = new RequestSettings();
    req.takeProgram(this.programRef);
    return req;
  }

  fetch(mode: FetchMode = 'fetch', staleOc = 0): BusyObj {
    return new BusyObj(this.request(), 4, staleOc, mode, (_, step: Step<BusyObj>) =>
      this.resumed.push(step.name),
    );
  }

  /** References to an object that are held, beyond what the test began with. */
  held(oc: number): number {
    return this.references.get(oc) ?? 0;
  }
}
