// Many requests on one connection, some in each turn of the event loop, and what may happen between two turns.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyPiece } from '../../../daemon/flow/piece.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { runs } from '../../harness/runs.ts';
import { bytesOf, sinkOf, textOf } from '../flow/flow-ends.ts';
import { FakeSession, get } from './fake-session.ts';

/** Milliseconds that each request takes, and how many a turn takes: its time begins when the first is over. */
const EACH = 0.5;
const A_TURN = 5;

/** A session whose requests take their time. */
function busySession(): FakeSession {
  const one = new FakeSession();
  one.answer = (req) => {
    one.millis += EACH;
    req.session.requestDone();
  };
  return one;
}

/** How many requests ran in each turn, from the first one on, which is over. */
function perTurn(one: FakeSession): number[] {
  const counts = [one.ran.length];
  for (;;) {
    const before = one.ran.length;
    if (!one.turn()) return counts;
    counts.push(one.ran.length - before);
  }
}

const pipeline = (count: number, fields = ''): string =>
  Array.from({ length: count }, (_, i) => get(`/${i}`, fields)).join('');

const urls = (count: number): string[] => Array.from({ length: count }, (_, i) => `/${i}`);

describe('many requests in one read', () => {
  it.each([
    ['without a body', ''],
    ['with an empty body', 'Content-Length: 0\r\n'],
  ])('are served some in each turn, in order, and all of them: %s', (_name, fields) => {
    const one = busySession();
    one.receive(pipeline(100, fields));
    const counts = perTurn(one);
    expect(one.ran).toEqual(urls(100));
    expect(Math.max(...counts)).toBeLessThanOrEqual(A_TURN);
    expect(one.stats.sess_readahead).toBe(99);
    expect(one.wire.paused).toBe(false);
  });

  it('stop the runtime from reading on in the same turn', () => {
    const one = busySession();
    one.receive(pipeline(100));
    expect(one.wire.paused).toBe(true);
    // A wire with more data than read so far.
    one.receive(get('/more'));
    expect(one.ran.length).toBe(A_TURN);
    perTurn(one);
    expect(one.ran).toEqual([...urls(100), '/more']);
  });

  it('are served one a read at the least when each read brings one, and no turn serves all', () => {
    const one = busySession();
    for (let i = 0; i < 20; i++) one.receive(get(`/${i}`) + get(`/${i}b`));
    expect(one.ran.length).toBeLessThanOrEqual(A_TURN);
    perTurn(one);
    expect(one.ran.length).toBe(40);
  });

  it('of two clients take turns', () => {
    const one = busySession();
    const order: string[] = [];
    one.answer = (req) => {
      one.millis += EACH;
      order.push(req.http.url);
      req.session.requestDone();
    };
    const other = new FakeSession(false, one.turns);
    other.answer = one.answer;
    one.receive(pipeline(50).replaceAll('GET /', 'GET /a'));
    other.receive(pipeline(50).replaceAll('GET /', 'GET /b'));
    perTurn(one);
    const half = order.slice(0, 50);
    expect(half.filter((url) => url.startsWith('/b')).length).toBeGreaterThan(15);
    expect(order).toHaveLength(100);
  });
});

describe('between two turns', () => {
  it('a client that ends its side is answered to its last request', () => {
    const one = busySession();
    one.receive(pipeline(20));
    one.session.receivedEnd();
    expect(one.wire.isGone).toBe(false);
    perTurn(one);
    expect(one.ran).toHaveLength(20);
    expect(one.wire.isGone).toBe(true);
  });

  it('a client that goes is served no more, and is logged once as one whose answers did not arrive', () => {
    const one = busySession();
    one.receive(pipeline(20));
    one.session.lost();
    perTurn(one);
    expect(one.ran).toHaveLength(A_TURN);
    expect(one.records.filter((text) => text.startsWith('SessClose'))).toEqual(['SessClose TX_ERROR 0.000']);
    expect(one.closed).toBe(1);
  });

  it('a client that waits is not idle', () => {
    const one = busySession();
    one.receive(pipeline(20));
    one.pass(3600);
    expect(one.session.isIdle).toBe(false);
    perTurn(one);
    expect(one.ran).toHaveLength(20);
    expect(one.stats.sc_rx_close_idle + one.stats.sc_rx_timeout).toBe(0);
  });

  it('a worker that ends serves one more, and closes', () => {
    const one = busySession();
    one.receive(pipeline(20));
    one.session.shutdown();
    perTurn(one);
    expect(one.ran).toHaveLength(A_TURN + 1);
    expect(one.stats.sc_resp_close).toBe(1);
  });

  it('a request that closes is the last one, and its connection ends as any other', () => {
    const one = busySession();
    const { answer } = one;
    one.answer = (req) => {
      if (req.http.url === '/6') req.session.closeAfter = 'REQ_CLOSE';
      answer(req);
    };
    one.receive(pipeline(7));
    perTurn(one);
    expect(one.ran).toHaveLength(7);
    // Nothing follows, so there is nothing to wait for.
    expect(one.wire.isGone).toBe(true);
  });

  it('a waiting request keeps reading, so that the end of its client is noticed', () => {
    const one = busySession();
    const { answer } = one;
    one.answer = (req) => {
      if (req.http.url !== '/6') answer(req);
    };
    one.receive(pipeline(20));
    perTurn(one);
    expect(one.ran).toHaveLength(7);
    expect(one.wire.paused).toBe(false);
  });
});

type Kind = 'plain' | 'body' | 'later' | 'slow';

/** The n-th request of a pipeline. */
function sent(kind: Kind, n: number): string {
  return kind === 'body'
    ? `${get(`/${n}`, 'Content-Length: 5\r\n')}b${String(n).padStart(4, '0')}`
    : get(`/${n}`);
}

describe('any history of a connection', () => {
  it('serves every request once and in order, with its own body, until its client goes', () => {
    const kind = fc.constantFrom<Kind>('plain', 'plain', 'plain', 'body', 'later', 'slow');
    const event = fc.constantFrom('receive', 'receive', 'turn', 'turn', 'finish', 'drain', 'stuck');
    fc.assert(
      fc.property(
        fc.array(kind, { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(event, fc.integer({ min: 1, max: 700 })), { maxLength: 60 }),
        fc.constantFrom('nothing', 'end', 'lost', 'shutdown'),
        (kinds, events, last) => {
          const one = new FakeSession();
          const bytes = kinds.map((each, n) => sent(each, n)).join('');
          const bodies: string[] = [];
          let waiting: Request | null = null;
          one.answer = (req) => {
            const n = Number(req.http.url.slice(1));
            one.millis += kinds[n] === 'slow' ? 3 : 0.3;
            const done = (): void => {
              req.session.write(bytesOf(`${n} `));
              req.session.requestDone();
            };
            if (kinds[n] === 'later') waiting = req;
            else if (kinds[n] !== 'body') done();
            else {
              let body = '';
              req.attachBody(5);
              const end = (): void => {
                bodies.push(body);
                done();
              };
              const take = (piece: AnyPiece): void => {
                body += textOf(piece);
              };
              req.body?.start(sinkOf(take, end, () => req.session.requestDone()));
            }
          };
          const finish = (): void => {
            const req = waiting;
            waiting = null;
            if (req === null) return;
            one.session.write(bytesOf(`${req.http.url.slice(1)} `));
            one.session.requestDone();
          };
          let at = 0;
          for (const [what, amount] of events) {
            if (what === 'turn') one.turn();
            else if (what === 'finish') finish();
            else if (what === 'drain') one.wire.drain();
            else if (what === 'stuck') one.wire.takes = false;
            else if (!one.wire.paused && at < bytes.length) {
              one.receive(bytes.slice(at, at + amount));
              at += amount;
            }
          }
          if (last === 'end') one.session.receivedEnd();
          if (last === 'shutdown') one.session.shutdown();
          if (last === 'lost') {
            one.wire.isGone = true;
            one.session.lost();
          }
          const served = one.ran.length;
          for (let i = 0; i < 500; i++) {
            if (last === 'nothing' && at < bytes.length && !one.wire.paused) {
              one.receive(bytes.slice(at, at + 100));
              at += 100;
            }
            one.turn();
            finish();
            one.wire.drain();
          }
          expect(one.ran).toEqual(urls(one.ran.length));
          expect(bodies).toEqual(
            kinds
              .flatMap((each, n) =>
                each === 'body' && n < one.ran.length ? [`b${String(n).padStart(4, '0')}`] : [],
              )
              .slice(0, bodies.length),
          );
          if (last === 'nothing') expect(one.ran).toHaveLength(kinds.length);
          if (last === 'end') {
            // Whole ones among what had come; the body of the last may be missing.
            const whole = kinds.map((each, n) => sent(each, n).length);
            let complete = 0;
            for (let sum = 0; complete < whole.length; complete++) {
              sum += whole[complete] as number;
              if (sum > at) break;
            }
            expect(one.ran.length).toBeGreaterThanOrEqual(complete);
            expect(one.wire.isGone || one.wire.ended).toBe(true);
          }
          if (last === 'lost') {
            expect(one.ran.length).toBe(served);
            expect(one.closed).toBe(1);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
