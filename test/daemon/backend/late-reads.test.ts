// Origins that are ready in a turn without time for them: what they have sent comes out as if there had been time, in the
// order in which they became ready; and the pool under any order of takes, returns and ends.
import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { connectOrigin } from '../../../daemon/backend/connect.ts';
import { OriginConnection } from '../../../daemon/backend/connection.ts';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';
import { ConnectionPool } from '../../../daemon/backend/pool.ts';
import { NO_BODY, responseBody } from '../../../daemon/http1/framing.ts';
import { Leniencies } from '../../../daemon/http1/leniency.ts';
import { keep } from '../../../daemon/http1/lent-bytes.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { TurnQueue } from '../../../daemon/turns/turn-queue.ts';
import { Turns, turns } from '../../../daemon/turns/turns.ts';
import { ScriptedOrigin } from './scripted-origin.ts';

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const limits = { maxLine: 8192, maxFields: 58, maxSize: 32768 };
const readBuffer = { bytes: Buffer.allocUnsafeSlow(64 * 1024), turnOver: () => readBuffer.bytes.fill(88) };
const cleanup: (() => void)[] = [];
afterEach(() => {
  for (const undo of cleanup.splice(0)) undo();
});

/** A queue in which everybody waits for a turn. */
class NoTime extends TurnQueue {
  readonly waiting: { turn(): void }[] = [];
  private scheduled = false;

  override enter(one: { turn(): void }): boolean {
    this.waiting.push(one);
    if (!this.scheduled) setImmediate(() => this.serve());
    this.scheduled = true;
    return false;
  }

  /** One of them in each turn. */
  private serve(): void {
    this.scheduled = this.waiting.length > 1;
    if (this.scheduled) setImmediate(() => this.serve());
    this.waiting.shift()?.turn();
  }
}

async function open(port: number, reads: TurnQueue): Promise<OriginConnection> {
  const owner = { keep: () => undefined, tooLate: () => undefined, gone: () => undefined };
  const env = { readBuffer, limits, pacer: new PiecePacer(), reads };
  const conn = await connectOrigin({ kind: 'tcp', address: '127.0.0.1', port }, 10, env, owner, 'key');
  if (!(conn instanceof OriginConnection)) throw new Error('not connected');
  cleanup.push(() => conn.destroy());
  conn.open(owner, newVbeCounters(), limits, false);
  return conn;
}

/** What becomes of an exchange. */
function exchange(conn: OriginConnection, pauses = false): Promise<string> {
  const message = new HttpMessage(0);
  conn.sendHead(GET, NO_BODY);
  conn.endBody();
  return new Promise((done) => {
    conn.readHead(message, 60, 60, (failed) => {
      if (failed !== null) {
        done(failed.reason);
        return;
      }
      let text = '';
      const end = (how: string): void => done(`${message.status} ${text} ${how} ${conn.release()}`);
      conn.readBody(responseBody(message, 'GET', new Leniencies()), {
        data: (buf, from, to) => {
          text += keep(buf, from, to).toString('latin1');
          if (!pauses) return;
          conn.pause();
          setImmediate(() => conn.resume());
        },
        end: () => end('end'),
        error: end,
      });
    });
  });
}

const BODY = 'x'.repeat(3000);
const ANSWERS = {
  length: `HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\n${BODY}`,
  chunks: `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'5\r\nabcde\r\n'.repeat(200)}0\r\n\r\n`,
  'to the end': `HTTP/1.1 200 OK\r\n\r\n${BODY}`,
  interim: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
  short: 'HTTP/1.1 200 OK\r\nContent-Length: 3000\r\n\r\nshort',
  'no head': 'HTTP/1.1 200 OK\r\nContent-',
  junk: 'junk\r\n\r\n',
  'bytes after it': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokmore',
};

it.each(Object.entries(ANSWERS))('comes out the same: %s', async (_name, answer) => {
  for (const how of ['keep', 'end']) {
    // One that ends with the connection never comes to its end without.
    if (how === 'keep' && !/^(length|chunks|interim|bytes|junk)/.test(_name)) continue;
    for (const [at, pauses] of [
      [answer.length, false],
      [20, false],
      [60, true],
      [answer.length, true],
    ] as const) {
      const origin = await ScriptedOrigin.start((socket, received) => {
        if (!received.endsWith('\r\n\r\n')) return;
        socket.write(Buffer.from(answer.slice(0, at), 'latin1'));
        setImmediate(() => {
          socket.write(Buffer.from(answer.slice(at), 'latin1'));
          if (how === 'end') socket.end();
        });
      });
      cleanup.push(() => origin.stop());
      const outcomes: string[] = [];
      for (const reads of [new TurnQueue(new Turns(() => 0)), new NoTime(turns)])
        outcomes.push(await exchange(await open(origin.port, reads), pauses));
      expect(outcomes[1]).toBe(outcomes[0]);
    }
  }
});

it('lets origins that are ready at once go on in their order, with others between them', async () => {
  const sockets: (() => void)[] = [];
  const origin = await ScriptedOrigin.start((socket, received) => {
    if (received.endsWith('\r\n\r\n')) sockets.push(() => socket.write(ANSWERS.length));
  });
  cleanup.push(() => origin.stop());
  const reads = new NoTime(turns);
  const conns = await Promise.all(Array.from({ length: 30 }, () => open(origin.port, reads)));
  const came: number[] = [];
  const ready: unknown[] = [];
  const enter = reads.enter.bind(reads);
  reads.enter = (one) => {
    ready.push(one);
    return enter(one);
  };
  let others = 0;
  const all = Promise.all(
    conns.map(async (conn, i) => {
      await exchange(conn);
      came.push(i);
    }),
  );
  await origin.until(() => sockets.length === 30);
  for (const answer of sockets) answer();
  const turn = (): void => {
    others++;
    if (came.length < 30) setImmediate(turn);
  };
  turn();
  await all;
  expect(came).toEqual(ready.slice(0, 30).map((one) => conns.indexOf(one as OriginConnection)));
  expect(others).toBeGreaterThanOrEqual(30);
});

it('gives nobody an idle connection whose end waits for a turn', async () => {
  const origin = await ScriptedOrigin.start((socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.write(ANSWERS.length);
  });
  cleanup.push(() => origin.stop());
  const pool = new ConnectionPool(60);
  const reads = new NoTime(turns);
  const conn = await open(origin.port, reads);
  const owner = {
    keep: (c: OriginConnection) => pool.put(c),
    tooLate: () => undefined,
    gone: (c: OriginConnection) => pool.drop(c),
  };
  conn.open(owner, newVbeCounters(), limits, false);
  await exchange(conn);
  expect(pool.size()).toBe(1);
  // Its turn does not come.
  reads.enter = () => false;
  origin.sockets[0]?.end();
  while (pool.size() > 0) await new Promise(setImmediate);
  expect([conn.isOpen, pool.take('key')]).toEqual([true, null]);
  conn.turn();
  expect(conn.isOpen).toBe(false);
});

it('keeps the order of idle connections, whoever leaves', () => {
  const ops = fc.array(
    fc.oneof(
      fc.record({ op: fc.constant('put' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ op: fc.constant('take' as const), key: fc.constantFrom('a', 'b') }),
      fc.record({ op: fc.constant('end' as const), at: fc.nat(20) }),
    ),
    { minLength: 20, maxLength: 60 },
  );
  fc.assert(
    fc.property(ops, (steps) => {
      const pool = new ConnectionPool(60);
      const model: { poolKey: string }[] = [];
      for (const step of steps) {
        if (step.op === 'put') {
          const conn = {
            poolKey: step.key,
            idle: null,
            isOpen: true,
            keepFor: Number.POSITIVE_INFINITY,
            destroy: () => undefined,
          };
          pool.put(conn as unknown as OriginConnection);
          model.push(conn);
        } else if (step.op === 'take') {
          const at = model.findLastIndex((conn) => conn.poolKey === step.key);
          expect(pool.take(step.key)).toBe(at < 0 ? null : model.splice(at, 1)[0]);
        } else if (model.length > 0)
          pool.drop(model.splice(step.at % model.length, 1)[0] as OriginConnection);
        expect([pool.size(), pool.size('a')]).toEqual([
          model.length,
          model.filter((c) => c.poolKey === 'a').length,
        ]);
      }
      pool.close();
    }),
    { numRuns: 100 },
  );
});
