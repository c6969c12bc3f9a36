// Each request of a connection is a new one over buffers that the connection keeps: nothing of a former one may be seen.
import { describe, expect, it } from 'vitest';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import type { ClientSession } from '../../../daemon/transaction/client-session.ts';
import type { Core, ProgramRef } from '../../../daemon/transaction/core.ts';
import { Request } from '../../../daemon/transaction/request.ts';
import { ObjectView, RequestBuffers } from '../../../daemon/transaction/request-buffers.ts';
import { soil, visible } from './soil.ts';

/** Parts of RequestBuffers that are not emptied when a request begins, and why that is right. */
const OVERWRITTEN: Readonly<Record<string, string>> = {
  original: 'copied over whole by keepOriginal(), and not looked at before',
  log: 'begun with each transaction',
  lookup: 'written whole by the lookup',
  query: 'written whole ahead of the lookup',
  objectView: 'cleared with the object that it shows',
};

const core = {
  host: {},
  cache: {},
  clock: { now: () => 5 },
  params: {},
  newVxid: () => 7,
  newLog: () => ({}),
} as unknown as Core;
const session = {} as unknown as ClientSession;

function request(buffers: RequestBuffers): Request {
  return new Request(core, session, buffers, () => undefined);
}

/** Everything that a program or a step could have changed. */
function state(req: Request): object {
  const { ctx, ...own } = visible({ ...req, top: null, buffers: visible(buffersOf(req)) });
  return { own, ctx: { ...(ctx as object), req: null } };
}

function buffersOf(req: Request): object {
  return (req as unknown as { buffers: object }).buffers;
}

describe('Request', () => {
  it('begins again as if it were new', () => {
    const fresh = new RequestBuffers(core);
    const used = new RequestBuffers(core);
    soil(request(used));
    for (const name of Object.keys(OVERWRITTEN)) {
      Object.assign(used, { [name]: fresh[name as keyof RequestBuffers] });
    }
    expect(state(request(used))).toEqual(state(request(fresh)));
  });

  it('is not made equal by what is called overwritten', () => {
    const fresh = new RequestBuffers(core);
    const used = new RequestBuffers(core);
    for (const name of Object.keys(OVERWRITTEN)) expect(used, name).toHaveProperty(name);
    soil(used);
    expect(used.http).not.toEqual(fresh.http);
    expect(used.objectView).not.toEqual(fresh.objectView);
    expect(used.query).not.toEqual(fresh.query);
  });

  it('releases its object once', () => {
    const dropped: number[] = [];
    const holding = { ...core, cache: { references: { deref: (oc: number) => dropped.push(oc) } } };
    const buffers = new RequestBuffers(core);
    const req = new Request(holding as unknown as Core, {} as ClientSession, buffers, () => undefined);
    req.attempt.oc = 3;
    req.dropObject();
    req.dropObject();
    expect(dropped).toEqual([3]);
  });

  it('has no object after it has released one', () => {
    const view = new ObjectView(core.cache);
    soil(view);
    view.clear();
    expect({ ...view, now: 0, message: null }).toEqual({
      ...new ObjectView(core.cache),
      now: 0,
      message: null,
    });
  });

  it('goes back to the head as it came, and to nothing that a program set, in another program', () => {
    const req = request(new RequestBuffers(core));
    const to = { refs: 0, program: {} } as unknown as ProgramRef;
    req.http.method = 'GET';
    req.http.url = '/came';
    req.keepOriginal();
    req.http.url = '/changed';
    const { settings } = req;
    soil(settings);
    req.switchProgram(to);
    expect(req.http.url).toBe('/came');
    expect(req.settings).toEqual(request(new RequestBuffers(core)).settings);
    expect(to.refs).toBe(1);
  });
});

describe('soil', () => {
  it('changes every field', () => {
    const message = new HttpMessage(1);
    const clean = structuredClone({ ...message });
    soil(message);
    for (const [name, value] of Object.entries(clean)) {
      if (name === 'base') continue;
      expect(message[name as keyof HttpMessage], name).not.toEqual(value);
    }
  });
});
