// One client connection without a network: order, backpressure, half-closed clients and time limits.
import { describe, expect, it } from 'vitest';
import type { Sink } from '../../../daemon/flow/flow.ts';
import { own } from '../../../daemon/flow/piece.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { sinkOf, textOf } from '../flow/flow-ends.ts';
import { FakeSession, get, newSharedParts } from './fake-session.ts';

/** Answers with this many bytes and ends the request. */
const reply =
  (bytes: number) =>
  (req: Request): void => {
    req.session.write(own(Buffer.alloc(bytes, 'x')));
    req.session.requestDone();
  };

/** Takes the request's body to its end, then ends the request. */
const drain =
  (length: number) =>
  (req: Request): void => {
    req.attachBody(length);
    const end = (): void => req.session.requestDone();
    req.body?.start(sinkOf(() => undefined, end, end));
  };

describe('requests on one connection', () => {
  it('runs what comes in one packet in order', () => {
    const one = new FakeSession();
    one.receive(get('/a') + get('/b') + get('/c'));
    expect(one.ran).toEqual(['/a', '/b', '/c']);
  });

  it('puts a head together that comes a byte at a time', () => {
    const one = new FakeSession();
    for (const c of get('/slow')) one.receive(c);
    expect(one.ran).toEqual(['/slow']);
  });

  it('keeps the next request while one is running, and stops reading when they pile up', () => {
    const one = new FakeSession();
    one.answer = () => {};
    one.receive(get('/a'));
    for (let i = 0; i < 3000; i++) one.receive(get(`/${i}`));
    expect(one.ran).toEqual(['/a']);
    expect(one.wire.paused).toBe(true);
    one.answer = (req) => req.session.requestDone();
    one.session.requestDone();
    expect(one.ran).toHaveLength(3001);
    expect(one.wire.paused).toBe(false);
  });

  it('answers nobody who does not read: the next request waits until the last answer has left', () => {
    const one = new FakeSession();
    one.answer = reply(50_000);
    one.wire.takes = false;
    one.receive(get('/a') + get('/b') + get('/c'));
    expect(one.ran).toEqual(['/a']);
    one.wire.drain();
    expect(one.ran).toEqual(['/a', '/b', '/c']);
  });

  it('thousands of requests with an empty body do not nest', () => {
    const one = new FakeSession();
    one.receive(get('/n', 'Content-Length: 0\r\n').repeat(20_000));
    expect(one.ran).toHaveLength(20_000);
  });

  it.each([
    ['in the packet of the head', (text: string) => [text]],
    [
      'in a packet of its own',
      (text: string) => [text.slice(0, -3 - get('/next').length), text.slice(-3 - get('/next').length)],
    ],
  ])('continues after a body that ends %s', (_name, cut) => {
    const one = new FakeSession();
    one.answer = (req) => (one.ran.length === 1 ? drain(5)(req) : req.session.requestDone());
    for (const part of cut(`${get('/body', 'Content-Length: 5\r\n')}hello${get('/next')}`)) one.receive(part);
    expect(one.ran).toEqual(['/body', '/next']);
  });
});

describe('the buffers of requests', () => {
  it('are reused by the next connection once the last request is over', () => {
    const shared = newSharedParts();
    const one = new FakeSession(false, null, {}, shared);
    let used: Request | null = null;
    one.answer = (req) => {
      used = req;
    };
    one.receive(get('/a'));
    one.session.lost();
    expect(shared.esi.spareBuffers).toHaveLength(0);
    const req = used as unknown as Request;
    req.ended = true;
    one.session.requestDone();
    expect(one.closed).toBe(1);
    expect(shared.esi.spareBuffers).toHaveLength(1);
    const two = new FakeSession(false, null, {}, shared);
    expect(shared.esi.spareBuffers).toHaveLength(0);
    two.answer = (next) => {
      expect(next.http).toBe(req.http);
      expect(next.http.url).toBe('/b');
      expect(next.http.get('x')).toBeNull();
    };
    two.receive(get('/b'));
    expect(two.ran).toEqual(['/b']);
  });

  it('are reused after a connection without a request', () => {
    const shared = newSharedParts();
    const one = new FakeSession(false, null, {}, shared);
    one.receive('GET /a HTTP/1.1\r\nX: y\r\n');
    one.session.lost();
    expect(shared.esi.spareBuffers).toHaveLength(1);
    const two = new FakeSession(false, null, {}, shared);
    const fields: unknown[] = [];
    two.answer = (req) => {
      fields.push(req.http.get('x'));
    };
    two.receive(get('/b'));
    expect(fields).toEqual([null]);
  });

  it('stay with a request that is not over', () => {
    const shared = newSharedParts();
    const one = new FakeSession(false, null, {}, shared);
    one.answer = () => {};
    one.receive(get('/a'));
    one.session.lost();
    one.session.requestDone();
    expect(one.closed).toBe(1);
    expect(shared.esi.spareBuffers).toHaveLength(0);
  });
});

describe('a client that has ended its side', () => {
  it('still gets the requests answered that it sent before', () => {
    const one = new FakeSession();
    one.answer = () => {};
    one.receive(get('/a') + get('/b'));
    one.session.receivedEnd();
    expect(one.wire.isGone).toBe(false);
    one.session.requestDone();
    expect(one.ran).toEqual(['/a', '/b']);
    expect(one.wire.isGone).toBe(false);
    one.session.requestDone();
    expect(one.wire.isGone).toBe(true);
  });

  it('has sent a whole body when all of it waits, and none when it does not', () => {
    for (const [sent, expected] of [
      ['hello', 'end'],
      ['hel', 'eof'],
    ]) {
      const one = new FakeSession();
      let what = '';
      one.answer = (req) => req.attachBody(5);
      one.receive(get('/up', 'Content-Length: 5\r\n') + sent);
      one.session.receivedEnd();
      const received = (how: string): void => {
        what = how;
      };
      one.session.body?.start(
        sinkOf(
          () => undefined,
          () => received('end'),
          received,
        ),
      );
      expect(what).toBe(expected);
    }
  });
});

describe('a pipe', () => {
  it('receives data of its client, and its end, from before it began', () => {
    const one = new FakeSession();
    const received: string[] = [];
    one.answer = () => {};
    one.receive(`${get('/pipe')}more`);
    one.session.receivedEnd();
    one.session.startPipe(
      sinkOf(
        (piece) => void received.push(textOf(piece)),
        () => received.push('end'),
        () => received.push('lost'),
      ),
    );
    expect(received).toEqual(['more', 'end']);
  });

  /** A pipe whose other end is being replaced. */
  function interrupted() {
    const one = new FakeSession();
    const received: string[] = [];
    const tap = (name: string): Sink =>
      sinkOf(
        (piece) => void received.push(`${name} ${textOf(piece)}`),
        () => received.push(`${name} end`),
        () => received.push(`${name} lost`),
      );
    let req: Request | null = null;
    one.answer = (begun) => {
      req = begun;
    };
    one.receive(get('/pipe'));
    one.session.startPipe(tap('first'));
    one.session.interruptPipe();
    return { one, received, tap, req: req as unknown as Request };
  }

  it('that gets another end keeps for it what comes meanwhile', () => {
    const { one, received, tap } = interrupted();
    one.receive('more');
    one.session.receivedEnd();
    expect(one.wire.paused).toBe(false);
    one.session.startPipe(tap('second'));
    expect(received).toEqual(['second more', 'second end']);
  });

  it('that gets another end notices a client that leaves meanwhile', () => {
    const { one, received, req } = interrupted();
    one.session.lost();
    expect([req.aborted, one.session.isOpen, received]).toEqual([true, false, []]);
    req.session.requestDone();
    expect([one.closed, one.records.filter((r) => r.startsWith('SessClose')).length]).toEqual([1, 1]);
  });
});

describe('time', () => {
  it('ends an idle connection', () => {
    const one = new FakeSession();
    one.pass(4.9);
    expect(one.wire.ended).toBe(false);
    one.pass(0.2);
    expect(one.wire.ended).toBe(true);
    expect(one.stats.sc_rx_close_idle).toBe(1);
  });

  it('ends a slow head, however often a byte comes', () => {
    const one = new FakeSession();
    for (const c of get('/slow').slice(0, 12)) {
      one.receive(c);
      one.pass(0.5);
    }
    expect(one.wire.ended).toBe(true);
    expect(one.stats.sc_rx_timeout).toBe(1);
  });

  it('fails a body that stalls, but not while its consumer asked it to wait', () => {
    const one = new FakeSession();
    let failed = '';
    one.answer = (req) => {
      req.attachBody(100);
      req.body?.start(
        sinkOf(
          () => 'wait',
          () => undefined,
          (reason) => {
            failed = reason;
          },
        ),
      );
    };
    one.receive(`${get('/up', 'Content-Length: 100\r\n')}some`);
    one.pass(30);
    expect(failed).toBe('');
    one.session.body?.room();
    one.pass(6);
    expect(failed).toBe('timeout');
  });

  it('gives up a client that takes nothing, and bears with one that takes a little', () => {
    const one = new FakeSession();
    one.answer = reply(50_000);
    one.wire.takes = false;
    one.receive(get('/a'));
    for (let i = 0; i < 5; i++) {
      one.wire.queued -= 1000;
      one.pass(61);
      expect(one.wire.isGone).toBe(false);
    }
    one.pass(61);
    expect(one.wire.isGone).toBe(true);
    one.session.lost();
    expect(one.stats.sc_tx_error).toBe(1);
    expect(one.closed).toBe(1);
  });

  it('does not bear with it beyond send_timeout', () => {
    const one = new FakeSession();
    one.answer = reply(50_000);
    one.wire.takes = false;
    one.receive(get('/a'));
    for (let i = 0; i < 11; i++) {
      one.wire.queued -= 1000;
      one.pass(61);
    }
    expect(one.wire.isGone).toBe(true);
  });

  it('does not cut the end of a response short because it is the last one', () => {
    const one = new FakeSession();
    one.answer = (req) => {
      req.closeAfter('REQ_CLOSE');
      reply(50_000)(req);
    };
    one.wire.takes = false;
    one.receive(get('/a'));
    expect(one.wire.ended).toBe(true);
    one.session.receivedEnd();
    one.pass(30);
    expect(one.wire.isGone).toBe(false);
    one.wire.drain();
    one.pass(2);
    expect(one.wire.isGone).toBe(true);
    expect(one.closed).toBe(1);
  });
});

describe('the last request', () => {
  const last = (one: FakeSession): void => {
    one.answer = (req) => {
      req.closeAfter('REQ_CLOSE');
      reply(10)(req);
    };
  };

  it('of a client that announces it closes the connection at once, counted and logged once', () => {
    const one = new FakeSession();
    last(one);
    one.receive(get('/a'));
    expect([one.wire.isGone, one.wire.ended, one.closed]).toEqual([true, false, 0]);
    one.session.lost();
    one.pass(2);
    expect([one.closed, one.stats.sc_req_close, one.stats.sess_closed]).toEqual([1, 1, 1]);
    expect(one.records.filter((record) => record.startsWith('SessClose'))).toHaveLength(1);
  });

  it.each([
    ['of a client that has sent more', get('/a') + get('/b'), (one: FakeSession) => last(one)],
    [
      'with a body, after which some send a line end',
      `${get('/a', 'Content-Length: 1\r\n')}x`,
      (one: FakeSession): void => {
        one.answer = (req) => {
          req.closeAfter('REQ_CLOSE');
          drain(1)(req);
        };
      },
    ],
    [
      'that we declared to be the last',
      get('/a'),
      (one: FakeSession): void => {
        one.answer = (req) => {
          req.closeAfter('RESP_CLOSE');
          reply(10)(req);
        };
      },
    ],
  ])('%s: what may still come is discarded for a moment', (_what, text, prepare) => {
    const one = new FakeSession();
    prepare(one);
    one.receive(text);
    expect([one.wire.isGone, one.wire.ended]).toEqual([false, true]);
    one.pass(2);
    expect([one.wire.isGone, one.closed]).toEqual([true, 1]);
  });
});

describe('a cut', () => {
  it('is a reset where an end would say that all was sent', () => {
    const one = new FakeSession();
    one.answer = () => {};
    one.receive(get('/a'));
    one.session.reset('REM_CLOSE');
    expect(one.wire.wasReset).toBe(true);
    one.session.lost();
    one.session.requestDone();
    expect(one.closed).toBe(1);
  });
});
