import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OriginAddress } from '../../../daemon/backend/address.ts';
import { Backend } from '../../../daemon/backend/backend.ts';
import type { BackendEnvironment } from '../../../daemon/backend/backend-surroundings.ts';
import { OriginConnection } from '../../../daemon/backend/connection.ts';
import { buildBackends } from '../../../daemon/backend/directory.ts';
import { HoldDown } from '../../../daemon/backend/hold-down.ts';
import { OriginFailure } from '../../../daemon/backend/origin-failure.ts';
import { PiecePacer } from '../../../daemon/backend/piece-pacer.ts';
import { ConnectionPool } from '../../../daemon/backend/pool.ts';
import { ProbeSchedule } from '../../../daemon/backend/probe-schedule.ts';
import { literalAddress } from '../../../daemon/backend/resolve.ts';
import { socketWires } from '../../../daemon/backend/socket-wire.ts';
import { TlsClients } from '../../../daemon/backend/tls-client.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import type { BackendDecl } from '../../../daemon/contract/program.ts';
import { ByteTurns } from '../../../daemon/flow/byte-turns.ts';
import { DISCARD, type Room } from '../../../daemon/flow/flow.ts';
import { type AnyPiece, own } from '../../../daemon/flow/piece.ts';
import {
  type BodyFraming,
  CHUNKED,
  NO_BODY,
  responseBody,
  UNTIL_EOF,
} from '../../../daemon/http1/framing.ts';
import { Leniencies } from '../../../daemon/http1/leniency.ts';
import { keep, type LentBytes } from '../../../daemon/http1/lent-bytes.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import { type MainCounters, newMainCounters, newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { StepChecks } from '../../../daemon/transaction/drive.ts';
import { bytesOf, sinkOf, textOf } from '../flow/flow-ends.ts';
import { ScriptedOrigin } from './scripted-origin.ts';

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
const POST = Buffer.from('POST / HTTP/1.1\r\n\r\n');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

// As in the debug mode: whatever is looked at after its turn is gone.
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024);
const checks = new StepChecks();

let pool: ConnectionPool;
let stats: MainCounters;
let env: BackendEnvironment;
const cleanup: (() => void)[] = [];

beforeEach(() => {
  pool = new ConnectionPool(60);
  stats = newMainCounters();
  const shared = { bytes: readBuffer, turnOver: (length: number) => checks.turnOver(readBuffer, length) };
  env = {
    pool,
    stats,
    tlsClients: new TlsClients(),
    holdDown: new HoldDown(new OwnState()),
    probes: new ProbeSchedule(),
    wires: socketWires(shared),
    readBuffer: shared,
    pacer: new PiecePacer(),
    readTurns: new ByteTurns((run) => setImmediate(run)),
    now: () => 0,
    healthLog: () => undefined,
    healthChanged: () => undefined,
    note: () => undefined,
    limits: { maxLine: 8192, maxFields: 58, maxSize: 32768 },
    params: {
      connect_timeout: 3.5,
      first_byte_timeout: 60,
      between_bytes_timeout: 60,
      backend_wait_limit: 0,
      backend_wait_timeout: 0,
      backend_local_error_holddown: 10,
      backend_remote_error_holddown: 0.25,
      prefer_ipv6: 0,
    },
  };
});

afterEach(() => {
  pool.close();
  for (const undo of cleanup.splice(0)) undo();
});

async function origin(response: string): Promise<ScriptedOrigin> {
  const made = await ScriptedOrigin.answering(response);
  cleanup.push(() => made.stop());
  return made;
}

async function script(run: Parameters<typeof ScriptedOrigin.start>[0]): Promise<ScriptedOrigin> {
  const made = await ScriptedOrigin.start(run);
  cleanup.push(() => made.stop());
  return made;
}

function backendAt(port: number, more: Partial<BackendDecl> = {}): Backend {
  const decl = { name: 'default', host: '127.0.0.1', port: String(port), ...more };
  const at = { kind: 'tcp', address: '127.0.0.1', port } as const;
  return new Backend(decl, 'boot', [at], newVbeCounters(), env, 0);
}

async function connection(backend: Backend, fresh = false): Promise<OriginConnection> {
  const got = await backend.acquire({ connectTimeout: -1, now: 0, fresh, client: null });
  if (got instanceof OriginFailure) throw new Error(got.text);
  return got;
}

async function failure(backend: Backend, now = 0): Promise<OriginFailure> {
  const got = await backend.acquire({ connectTimeout: -1, now, client: null });
  if (got instanceof OriginConnection) throw new Error('a connection was made');
  return got;
}

interface Body {
  text: string;
  end: string;
}

function body(conn: OriginConnection, framing: BodyFraming): Promise<Body> {
  let text = '';
  return new Promise((done) => {
    const take = (piece: AnyPiece): void => {
      text += textOf(piece);
    };
    conn.readBody(
      framing,
      sinkOf(
        take,
        () => done({ text, end: 'end' }),
        (reason) => done({ text, end: reason }),
      ),
    );
  });
}

function head(
  conn: OriginConnection,
  into: HttpMessage,
  firstByte: number,
  betweenBytes = 60,
): Promise<OriginFailure | null> {
  return new Promise((onHead) => {
    conn.readHead(into, firstByte, betweenBytes, onHead);
  });
}

async function get(conn: OriginConnection): Promise<{ msg: HttpMessage; body: Body }> {
  const msg = new HttpMessage(0);
  conn.sendHead(own(GET), NO_BODY);
  const failed = await head(conn, msg, 60);
  if (failed !== null) throw new Error(failed.reason);
  return { msg, body: await body(conn, responseBody(msg, 'GET', new Leniencies())) };
}

/** The reason a GET of this response fails with, while its head or its body is read. */
async function reasonFor(response: string, close = false): Promise<string> {
  const at = await script((socket, received) => {
    if (!received.endsWith('\r\n\r\n')) return;
    socket.write(Buffer.from(response, 'latin1'));
    if (close) socket.end();
  });
  const conn = await connection(backendAt(at.port));
  const msg = new HttpMessage(0);
  conn.sendHead(own(GET), NO_BODY);
  const failed = await head(conn, msg, 60);
  if (failed !== null) return failed.bogus === '' ? failed.reason : `${failed.reason}: ${failed.bogus}`;
  const got = await body(conn, responseBody(msg, 'GET', new Leniencies()));
  const kept = conn.release();
  const how = kept ? 'kept' : got.end === 'end' ? `closed ${conn.closeReason}` : 'closed';
  return `${got.text} ${got.end} ${how}`;
}

describe('an exchange', () => {
  it('reads head and body, counts bytes and uses the connection again', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const first = await connection(backend);
    expect([first.ends.remoteAddress, first.ends.remotePort, first.reused]).toEqual([
      '127.0.0.1',
      at.port,
      false,
    ]);
    expect(first.ends.localPort).toBe(at.sockets[0]?.remotePort);
    expect(first.ends.fd).toBeGreaterThan(2);
    const got = await get(first);
    expect([got.msg.status, got.body.text, got.body.end]).toEqual([200, 'ok', 'end']);
    expect([first.bytes.headOut, first.bytes.headIn, first.bytes.bodyIn]).toEqual([
      GET.length,
      OK.length - 2,
      2,
    ]);
    expect(backend.inUse).toBe(1);
    expect(first.release()).toBe(true);
    expect([backend.inUse, pool.size()]).toEqual([0, 1]);
    const second = await connection(backend);
    expect(second).toBe(first);
    expect([second.reused, second.bytes.headIn]).toEqual([true, 0]);
    expect((await get(second)).body.text).toBe('ok');
    second.release();
    expect(at.sockets.length).toBe(1);
    expect([stats.backend_conn, stats.backend_reuse, stats.backend_recycle]).toEqual([1, 1, 2]);
    expect(backend.counters).toMatchObject({
      req: 2,
      conn: 0,
      bereq_hdrbytes: 2 * GET.length,
      beresp_hdrbytes: 2 * (OK.length - 2),
      beresp_bodybytes: 4,
    });
  });

  it.each([
    ['timeout=1', false],
    ['timeout=0', false],
    ['max=9, timeout=1, x=1', false],
    ['timeout=100', true],
    ['timeout=1x', true],
    ['xtimeout=1', true],
    ['max=1', true],
  ])('takes the word of an origin that keeps connections by %j', async (hint, kept) => {
    const at = await origin(OK.replace('Content', `Keep-Alive: ${hint}\r\nContent`));
    const backend = backendAt(at.port);
    const first = await connection(backend);
    await get(first);
    first.release();
    expect((await connection(backend)) === first).toBe(kept);
  });

  it.each([
    ['chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', 'ok end kept'],
    ['no content', 'HTTP/1.1 204 No\r\n\r\n', ' end kept'],
    ['length 0', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ' end kept'],
    [
      'Connection: close',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
      'ok end closed RESP_CLOSE',
    ],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok end closed REQ_HTTP10'],
    [
      'HTTP/1.0 kept',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok',
      'ok end kept',
    ],
    ['interim responses', `HTTP/1.1 103 Hi\r\nLink: x\r\n\r\nHTTP/1.1 100 Go\r\n\r\n${OK}`, 'ok end kept'],
    ['many of them', `${'HTTP/1.1 100 Go\r\n\r\n'.repeat(20_000)}${OK}`, 'ok end kept'],
    ['surplus behind a length', `${OK}HTTP/1.1 200 OK\r\n\r\n`, 'ok end closed RX_JUNK'],
    ['surplus behind no body', 'HTTP/1.1 204 No\r\n\r\nx', ' end closed RX_JUNK'],
    [
      'surplus behind chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx',
      'ok end closed RX_JUNK',
    ],
  ])('%s', async (_, response, expected) => {
    expect(await reasonFor(response)).toBe(expected);
  });

  it.each([
    ['nothing at all', '', 'closed-before-head'],
    ['half a head', 'HTTP/1.1 200 OK\r\nX: y\r\n', 'closed-before-head'],
    ['only an interim response', 'HTTP/1.1 100 Go\r\n\r\n', 'closed-before-head'],
    ['close as the end of a body', 'HTTP/1.1 200 OK\r\n\r\nok', 'ok end closed RESP_CLOSE'],
    ['a short body', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', 'ok short-body closed'],
    [
      'an unfinished chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok',
      'ok short-body closed',
    ],
    [
      'no last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n',
      'ok short-body closed',
    ],
    [
      'no blank line',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n',
      'ok short-body closed',
    ],
  ])('that ends with %s', async (_, response, expected) => {
    expect(await reasonFor(response, true)).toBe(expected);
  });

  it.each([
    ['a bad status line', 'HTTP/1.1 20 OK\r\n\r\n        ', 'bad-head'],
    ['a bad field', 'HTTP/1.1 200 OK\r\nX : y\r\n\r\n', 'bad-head: Illegal char 0x20 in header name'],
    ['a huge line', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`, 'head-overflow'],
    ['a huge head', `HTTP/1.1 200 OK\r\n${`X: ${'y'.repeat(8000)}\r\n`.repeat(5)}\r\n`, 'head-overflow'],
    ['101', 'HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n', 'switching'],
    ['a flood of interim responses', 'HTTP/1.1 100 Go\r\n\r\n'.repeat(20_001) + OK, 'interim-flood'],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok',
      ' bad-framing closed',
    ],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok', ' bad-framing closed'],
    [
      'a bad chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nx\r\n',
      'ok bad-chunk closed',
    ],
  ])('refuses %s', async (_, response, expected) => {
    expect(await reasonFor(response)).toBe(expected);
  });

  it('counts a connection as given back that its origin has closed by then, and keeps it not', async () => {
    const at = await script((socket, received) => {
      if (received.endsWith('\r\n\r\n')) socket.end(OK);
    });
    const backend = backendAt(at.port);
    const conn = await connection(backend);
    expect((await get(conn)).body.end).toBe('end');
    while (!conn.socket.readableEnded) await turn();
    expect([conn.release(), conn.isOpen, pool.size(), backend.inUse]).toEqual([true, false, 0, 0]);
    expect(stats.backend_recycle).toBe(1);
  });

  it('distinguishes a reset from such an end although it comes with the last bytes', async () => {
    for (let i = 0; i < 30; i++) {
      const at = await script((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\nok');
        socket.resetAndDestroy();
      });
      const conn = await connection(backendAt(at.port));
      conn.sendHead(own(GET), NO_BODY);
      // The head may be lost with the rest, as the kernel likes.
      if ((await head(conn, new HttpMessage(0), 60)) !== null) continue;
      expect((await body(conn, UNTIL_EOF)).end).toBe('reset');
    }
  });

  /** The outcome of a response followed at once by a reset, or by a reset after an orderly end. */
  async function followed(answer: string, by: 'reset' | 'end and reset', pause: () => Promise<void>) {
    const at = await script((socket) => {
      socket.write(answer);
      if (by === 'reset') socket.resetAndDestroy();
      else socket.end(() => socket.resetAndDestroy());
    });
    const backend = backendAt(at.port);
    const conn = await connection(backend);
    const msg = new HttpMessage(0);
    conn.sendHead(own(GET), NO_BODY);
    const failed = await head(conn, msg, 60);
    if (failed !== null) return failed.text;
    await pause();
    const { text, end } = await body(conn, responseBody(msg, 'GET', new Leniencies()));
    await pause();
    const recycled = conn.release();
    expect(backend.inUse).toBe(0);
    while (pool.size() > 0) await turn();
    const { detail = '' } = conn.failure ?? {};
    return [text, end, ...(detail === '' ? [] : [detail]), ...(recycled ? ['recycled'] : [])].join(', ');
  }

  it('comes out the same whenever the reset after it is noticed', async () => {
    const turns = async (): Promise<void> => {
      for (let i = 0; i < 5; i++) await turn();
    };
    const moments = [async () => {}, turns];
    const head = 'HTTP/1.1 200 OK\r\n';
    for (const before of moments) {
      for (const by of ['reset', 'end and reset'] as const) {
        expect(await followed(OK, by, before)).toBe('ok, end, recycled');
        expect(
          await followed(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`, by, before),
        ).toBe('ok, end, recycled');
        expect(await followed(`${head}Content-Le`, by, before)).toBe('HTC eof (-1)');
        const broken = by === 'reset' ? 'reset, Connection reset by peer' : 'short-body';
        expect(await followed(`${head}Content-Length: 3\r\n\r\nok`, by, before)).toBe(`ok, ${broken}`);
        expect(await followed(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n`, by, before)).toBe(
          `ok, ${broken}`,
        );
      }
      expect(await followed(`${head}\r\nok`, 'reset', before)).toBe('ok, reset, Connection reset by peer');
      expect(await followed(`${head}\r\nok`, 'end and reset', before)).toBe('ok, end');
    }
  });

  it('that came early, whole, is not lost by the reset after it', async () => {
    const at = await script((socket) => {
      socket.write(OK);
      socket.resetAndDestroy();
    });
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), CHUNKED);
    conn.write(bytesOf('hello'));
    while (!conn.socket.destroyed && !conn.socket.readableEnded) await turn();
    await turn();
    const msg = new HttpMessage(0);
    expect(await head(conn, msg, 60)).toBeNull();
    expect((await body(conn, responseBody(msg, 'POST', new Leniencies()))).text).toBe('ok');
    expect(conn.release()).toBe(false);
  });

  it('distinguishes a reset from the end of a body that the end closes', async () => {
    const at = await script((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nok'));
    const conn = await connection(backendAt(at.port));
    const msg = new HttpMessage(0);
    conn.sendHead(own(GET), NO_BODY);
    expect(await head(conn, msg, 60)).toBeNull();
    const reading = body(conn, UNTIL_EOF);
    at.sockets[0]?.resetAndDestroy();
    expect(await reading).toEqual({ text: 'ok', end: 'reset' });
    expect(conn.failure).toMatchObject({
      detail: 'Connection reset by peer',
      text: 'eof socket fail',
      close: 'RX_BODY',
    });
    expect(conn.release()).toBe(false);
  });

  it('parses a head that comes byte by byte', async () => {
    const response = `HTTP/1.1 100 Go\r\n\r\n${OK}`;
    const at = await script((socket) => {
      let i = 0;
      const next = (): void => {
        if (i < response.length) socket.write(response.charAt(i++), () => setImmediate(next));
      };
      next();
    });
    const got = await get(await connection(backendAt(at.port)));
    expect([got.msg.status, got.msg.n, got.body.text]).toEqual([200, 1, 'ok']);
  });

  it('reads no more of large bodies in a turn than all connections together may', async () => {
    const length = 4 << 20;
    const deferred: (() => void)[] = [];
    env = { ...env, readTurns: new ByteTurns((run) => deferred.push(run)) };
    const from = await origin(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`);
    const backend = backendAt(from.port);
    const got = [0, 0, 0, 0];
    const bodies = got.map(async (_, i) => {
      const conn = await connection(backend, true);
      const msg = new HttpMessage(0);
      conn.sendHead(own(GET), NO_BODY);
      expect(await head(conn, msg, 60)).toBeNull();
      return new Promise<string>((done) => {
        const take = (piece: AnyPiece): void => {
          got[i] = (got[i] as number) + piece.length;
        };
        const sink = sinkOf(take, () => done('end'), done);
        conn.readBody(responseBody(msg, 'GET', new Leniencies()), sink);
      });
    });
    const sum = (): number => got.reduce((all, each) => all + each, 0);
    // Until none reads on.
    for (let before = -1; before < sum() || sum() < 1 << 20; ) {
      before = sum();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // Small reads are not counted.
    expect(sum()).toBeLessThan(2 << 20);
    let isOver = false;
    const all = Promise.all(bodies).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const run of deferred.splice(0)) run();
      await new Promise(setImmediate);
    }
    expect(await all).toEqual(['end', 'end', 'end', 'end']);
    expect(got).toEqual([length, length, length, length]);
  });

  it('stops reading when it is paused and continues when it is resumed', async () => {
    const big = 'x'.repeat(4_000_000);
    const at = await origin(`HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n${big}`);
    const conn = await connection(backendAt(at.port));
    const msg = new HttpMessage(0);
    conn.sendHead(own(GET), NO_BODY);
    expect(await head(conn, msg, 60)).toBeNull();
    let got = 0;
    let pauses = 0;
    let pausedAt = -1;
    await new Promise<void>((done, broke) => {
      const take = ({ length }: AnyPiece): Room => {
        if (pausedAt >= 0) broke(new Error('bytes came while paused'));
        got += length;
        if (pauses >= 5) return 'more';
        pauses++;
        pausedAt = got;
        setTimeout(() => {
          pausedAt = -1;
          conn.room();
        }, 5);
        return 'wait';
      };
      const sink = sinkOf(take, done, (reason) => broke(new Error(reason)));
      conn.readBody(responseBody(msg, 'GET', new Leniencies()), sink);
    });
    expect([got, pauses]).toEqual([big.length, 5]);
  });
});

describe('timeouts', () => {
  it('ends an exchange without a head', async () => {
    const at = await script(() => {});
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(GET), NO_BODY);
    expect((await head(conn, new HttpMessage(0), 0.02))?.reason).toBe('first-byte-timeout');
    await at.until(() => at.sockets[0]?.readableEnded === true || at.sockets[0]?.destroyed === true);
  });

  it('does not give interim responses more time', async () => {
    const at = await script((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 100 Go\r\n\r\n'), 5);
      cleanup.push(() => clearInterval(timer));
    });
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(GET), NO_BODY);
    expect((await head(conn, new HttpMessage(0), 0.05))?.reason).toBe('first-byte-timeout');
  });

  /** The outcome of a head whose rest arrives after a limit of 0.02 s. */
  async function begun(first: string, rest: string | null, firstByte: number, betweenBytes: number) {
    const at = await script((socket) => socket.write(first));
    const conn = await connection(backendAt(at.port));
    const early = new Promise<void>((done) => {
      conn.onDrain = done;
    });
    conn.sendHead(own(GET), NO_BODY);
    await early;
    const result = head(conn, new HttpMessage(0), firstByte, betweenBytes);
    if (rest !== null) setTimeout(() => at.sockets[0]?.write(rest), 80);
    const failed = await result;
    return failed === null ? 'a head' : [failed.reason, failed.text, failed.close].join();
  }

  it('of the first byte ends with it', async () => {
    expect(await begun('H', OK.slice(1), 0.02, 60)).toBe('a head');
    expect(await begun('HTTP/1.1 100 Go\r\n\r\nHT', OK.slice(2), 0.02, 60)).toBe('a head');
    const late = 'first-byte-timeout,first byte timeout,RX_TIMEOUT';
    expect(await begun('HTTP/1.1 100 Go\r\n\r\n', null, 0.02, 60)).toBe(late);
  });

  it('between bytes holds for a head that has begun, and for nothing before it', async () => {
    const paused = 'between-bytes-timeout,timeout,RX_TIMEOUT';
    expect(await begun('HTTP/1.1 200 OK\r\nX: ', null, 60, 0.02)).toBe(paused);
    expect(await begun('HTTP/1.1 100 Go\r\n\r\nHT', null, 60, 0.02)).toBe(paused);
    expect(await begun('HTTP/1.1 100 Go\r\n\r\n', OK, 60, 0.02)).toBe('a head');
  });

  it('an endless head is only ended by its size', async () => {
    const at = await script((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const next = (): void => {
        if (!socket.destroyed) socket.write(`X: ${'x'.repeat(2000)}\r\n`, () => setTimeout(next, 2));
      };
      next();
    });
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(GET), NO_BODY);
    expect((await head(conn, new HttpMessage(0), 60, 60))?.reason).toBe('head-overflow');
  });

  it('ends a body that stalls', async () => {
    const at = await script((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok');
    });
    const conn = await connection(backendAt(at.port));
    const msg = new HttpMessage(0);
    conn.sendHead(own(GET), NO_BODY);
    await head(conn, msg, 60, 0.02);
    expect(await body(conn, responseBody(msg, 'GET', new Leniencies()))).toEqual({
      text: 'ok',
      end: 'between-bytes-timeout',
    });
    expect(conn.failure).toMatchObject({
      detail: 'Resource temporarily unavailable',
      text: 'straight insufficient bytes',
    });
  });
});

describe('a request body', () => {
  it('is framed in chunks', async () => {
    const at = await script((socket, received) => {
      if (received.endsWith('0\r\n\r\n')) socket.write(OK);
    });
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), CHUNKED);
    conn.write(bytesOf('hello'));
    conn.write(bytesOf('!'));
    conn.endBody();
    expect(await head(conn, new HttpMessage(0), 60)).toBeNull();
    expect(at.received[0]).toBe('POST / HTTP/1.1\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n');
    expect(conn.bytes.bodyOut).toBe(21);
  });

  it('that is given up never looks complete', async () => {
    const at = await script(() => {});
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), CHUNKED);
    conn.write(bytesOf('hello'));
    await at.until(() => (at.received[0] ?? '').includes('hello'));
    conn.destroy();
    await at.until(() => at.sockets[0]?.readableEnded === true || at.sockets[0]?.destroyed === true);
    expect(at.received[0]).not.toContain('0\r\n\r\n');
  });

  it('shorter than announced cuts the connection', async () => {
    const at = await script(() => {});
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), { kind: 'length', length: 6 });
    conn.write(bytesOf('hello'));
    conn.endBody();
    expect(conn.isOpen).toBe(false);
    expect((await head(conn, new HttpMessage(0), 60))?.reason).toBe('request-body');
  });

  it('longer than announced is a fault of ours', async () => {
    const at = await script(() => {});
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), { kind: 'length', length: 4 });
    expect(() => conn.write(bytesOf('hello'))).toThrow('more body bytes');
    conn.destroy();
  });

  it('answered before its end leaves the connection unusable', async () => {
    const at = await script((socket, received) => {
      if (received.includes('hello')) socket.write(OK);
    });
    const conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), CHUNKED);
    const early = new Promise<void>((done) => {
      conn.onDrain = () => {
        if (conn.answered) done();
      };
    });
    conn.write(bytesOf('hello'));
    await early;
    const msg = new HttpMessage(0);
    expect(await head(conn, msg, 60)).toBeNull();
    expect(await body(conn, responseBody(msg, 'POST', new Leniencies()))).toEqual({ text: 'ok', end: 'end' });
    expect(conn.release()).toBe(false);
    expect(pool.size()).toBe(0);
  });

  it('waits for a slow origin and continues when it reads', async () => {
    const at = await script((socket, received) => {
      if (received.length < 100) socket.pause();
    });
    const conn = await connection(backendAt(at.port));
    const size = 20_000_000;
    conn.sendHead(own(POST), { kind: 'length', length: size });
    await at.until(() => at.sockets[0]?.isPaused() === true);
    const block = Buffer.alloc(1_000_000, 'x');
    let drains = 0;
    for (let sent = 0; sent < size; sent += block.length) {
      if (conn.write(own(block)) === 'more') continue;
      const drained = new Promise<void>((done) => {
        conn.onDrain = done;
      });
      at.sockets[0]?.resume();
      await drained;
      drains++;
    }
    conn.endBody();
    await at.until(() => (at.received[0] ?? '').length === POST.length + size);
    expect(drains).toBeGreaterThan(0);
    conn.destroy();
  });

  it('wakes its sender when the origin goes away', async () => {
    const at = await script((socket) => socket.resetAndDestroy());
    const conn = await connection(backendAt(at.port));
    const woken = new Promise<boolean>((done) => {
      conn.onDrain = () => done(conn.isOpen);
    });
    conn.sendHead(own(POST), CHUNKED);
    expect(await woken).toBe(false);
    expect(await head(conn, new HttpMessage(0), 60)).toMatchObject({
      reason: 'send-failed',
      detail: 'req.body read error: 104 (Connection reset by peer)',
      text: 'backend write error: 104 (Connection reset by peer) (Error transaction',
      close: 'TX_ERROR',
    });
  });

  it.each([
    ['its answer is read', true],
    ['only the reset is left', false],
  ])('meets a reset before the answer ahead of it is read: %s', async (_, answers) => {
    let conn: OriginConnection | null = null;
    const at = await script((socket, received) => {
      if (!received.endsWith('hello\r\n')) return;
      if (answers) socket.write(OK);
      socket.resetAndDestroy();
      // In the same turn: nothing has been read yet.
      conn?.write(bytesOf('again'));
    });
    conn = await connection(backendAt(at.port));
    conn.sendHead(own(POST), CHUNKED);
    const woken = new Promise<void>((done) => {
      (conn as OriginConnection).onDrain = done;
    });
    conn.write(bytesOf('hello'));
    await woken;
    const msg = new HttpMessage(0);
    const failed = await head(conn, msg, 60);
    expect(failed?.reason).toBe(answers ? undefined : 'send-failed');
    if (!answers) return;
    expect((await body(conn, responseBody(msg, 'POST', new Leniencies()))).text).toBe('ok');
    expect(conn.release()).toBe(false);
  });
});

describe('kept connections', () => {
  async function keepOne(at: ScriptedOrigin, backend: Backend): Promise<OriginConnection> {
    const conn = await connection(backend);
    await get(conn);
    expect(conn.release()).toBe(true);
    expect(at.sockets.length).toBeGreaterThan(0);
    return conn;
  }

  async function gone(conn: OriginConnection): Promise<void> {
    while (conn.isOpen) await turn();
  }

  it('are taken last in, first out', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const a = await connection(backend);
    const b = await connection(backend);
    await get(a);
    await get(b);
    a.release();
    b.release();
    expect(await connection(backend)).toBe(b);
    expect(await connection(backend)).toBe(a);
    b.destroy();
    a.destroy();
  });

  it('are closed when the origin closes them', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const conn = await keepOne(at, backend);
    at.sockets[0]?.end();
    await gone(conn);
    expect([pool.size(), backend.inUse]).toEqual([0, 0]);
  });

  it('are closed when the origin says something unasked', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const conn = await keepOne(at, backend);
    at.sockets[0]?.write('HTTP/1.1 408 Timeout\r\n\r\n');
    await gone(conn);
    expect([pool.size(), backend.inUse]).toEqual([0, 0]);
    expect(await connection(backend)).not.toBe(conn);
  });

  it('are closed after backend_idle_timeout', async () => {
    pool.setIdleTimeout(0.02);
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const conn = await keepOne(at, backend);
    await gone(conn);
    expect([pool.size(), backend.inUse]).toEqual([0, 0]);
  });

  it('are shared by backends with the same address', async () => {
    const at = await origin(OK);
    const conn = await keepOne(at, backendAt(at.port));
    const other = backendAt(at.port);
    expect(await connection(other)).toBe(conn);
    expect(other.inUse).toBe(1);
    conn.destroy();
    expect(other.inUse).toBe(0);
  });

  it('are left alone when a fresh one is asked for', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const conn = await keepOne(at, backend);
    const fresh = await connection(backend, true);
    expect(fresh).not.toBe(conn);
    expect(fresh.reused).toBe(false);
    fresh.destroy();
  });

  it('that the origin closed meanwhile are distinguished from those that broke midway', async () => {
    const at = await script((socket, received) => {
      const requests = received.split('\r\n\r\n').length - 1;
      if (requests === 1) socket.write(OK);
      else socket.destroy();
    });
    const backend = backendAt(at.port);
    await keepOne(at, backend);
    const conn = await connection(backend);
    conn.sendHead(own(GET), NO_BODY);
    expect((await head(conn, new HttpMessage(0), 60))?.reason).toBe('closed-before-head');
    expect(conn.wasStale).toBe(true);
  });

  it('are not called stale when the origin is only slow', async () => {
    const at = await script((socket, received) => {
      if (received.split('\r\n\r\n').length === 2) socket.write(OK);
    });
    const backend = backendAt(at.port);
    await keepOne(at, backend);
    const conn = await connection(backend);
    conn.sendHead(own(GET), NO_BODY);
    expect((await head(conn, new HttpMessage(0), 0.02))?.reason).toBe('first-byte-timeout');
    expect([conn.reused, conn.wasStale]).toEqual([true, false]);
  });

  it('are all closed with the pool, and none is kept afterwards', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    const busy = await connection(backend);
    const conn = await keepOne(at, backend);
    pool.close();
    expect(conn.isOpen).toBe(false);
    await get(busy);
    busy.release();
    expect(busy.isOpen).toBe(false);
    expect([pool.size(), backend.inUse]).toEqual([0, 0]);
  });
});

describe('acquire', () => {
  it('reports a refused connection and holds the address down for a moment', async () => {
    const at = await origin(OK);
    const { port } = at;
    at.stop();
    const backend = backendAt(port);
    const failed = await failure(backend, 100);
    expect([failed.reason, failed.text]).toEqual([
      'refused',
      'backend default: fail errno 111 (Connection refused)',
    ]);
    expect(backend.counters).toMatchObject({ fail: 0, fail_econnrefused: 1, helddown: 0, conn: 0 });
    expect((await failure(backend, 100.2)).text).toBe('backend default: fail errno 0 (Success)');
    expect(backend.counters).toMatchObject({ fail_econnrefused: 1, helddown: 1 });
    const other = backendAt(port);
    await failure(other, 100.2);
    expect(other.counters).toMatchObject({ fail_econnrefused: 0, helddown: 1 });
    await failure(backend, 100.3);
    expect(backend.counters).toMatchObject({ fail: 0, fail_econnrefused: 2, helddown: 1 });
    expect([stats.backend_fail, backend.inUse]).toEqual([4, 0]);
  });

  it('gives up after connect_timeout', async () => {
    // A listener that sleeps and whose backlog is full neither accepts nor refuses.
    const code = `
      const server = require('node:net').createServer();
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        require('node:fs').writeSync(1, String(server.address().port));
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`;
    const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
    cleanup.push(() => child.kill('SIGKILL'));
    const port = Number(await new Promise((done) => child.stdout.once('data', done)));
    for (let i = 0; i < 4; i++) {
      const filler = connect(port, '127.0.0.1').on('error', () => {});
      cleanup.push(() => filler.destroy());
      await turn();
    }
    const backend = backendAt(port, { connectTimeout: 0.1 });
    const failed = await failure(backend);
    expect([failed.reason, failed.text]).toEqual([
      'connect-timeout',
      'backend default: fail errno 110 (Connection timed out)',
    ]);
    expect(backend.counters).toMatchObject({ fail: 0, fail_etimedout: 1, conn: 0 });
  });

  it('keeps to max_connections', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port, { maxConnections: 1 });
    const conn = await connection(backend);
    expect((await failure(backend)).text).toBe('backend default: busy');
    expect([stats.backend_busy, backend.counters.busy]).toEqual([1, 1]);
    await get(conn);
    conn.release();
    expect(await connection(backend)).toBe(conn);
    conn.destroy();
    expect(backend.inUse).toBe(0);
  });

  it('lets fetches wait for a connection, in turn, and counts them', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port, { maxConnections: 1, waitLimit: 2, waitTimeout: 60 });
    const first = await connection(backend);
    const order: string[] = [];
    const waits = ['a', 'b'].map(async (name) => {
      const got = await connection(backend);
      order.push(name);
      return got;
    });
    expect((await failure(backend)).text).toBe('backend default: busy');
    await get(first);
    first.release();
    const second = await (waits[0] as Promise<OriginConnection>);
    expect([second === first, order, backend.inUse]).toEqual([true, ['a'], 1]);
    second.destroy();
    // It was closed: the next one opens another.
    const third = await (waits[1] as Promise<OriginConnection>);
    expect(third).not.toBe(first);
    third.destroy();
    expect([stats.backend_wait, stats.backend_wait_fail, stats.backend_busy]).toEqual([2, 0, 1]);
    expect(backend.inUse).toBe(0);
  });

  it('lets them wait as the parameters say, and no longer, or until the backend is sick', async () => {
    const at = await origin(OK);
    Object.assign(env.params, { backend_wait_limit: 5, backend_wait_timeout: 3 });
    let now = 0;
    env = { ...env, now: () => now };
    const backend = backendAt(at.port, { maxConnections: 1 });
    const held = await connection(backend);
    const late = failure(backend);
    now = 2.9;
    const sick = failure(backend);
    now = 3;
    expect((await late).text).toBe('backend default: busy');
    backend.health.admin = 'sick';
    expect((await sick).text).toBe('backend default: unhealthy');
    expect([stats.backend_wait, stats.backend_wait_fail, stats.backend_busy]).toEqual([2, 2, 1]);
    backend.health.admin = 'auto';
    const own = backendAt(at.port, { maxConnections: 1, waitTimeout: 0 });
    const other = await connection(own);
    expect((await failure(own)).text).toBe('backend default: busy');
    expect(stats.backend_wait).toBe(2);
    for (const conn of [held, other]) conn.destroy();
  });

  it('reaches an abstract socket', async () => {
    const name = `proxyd-test-${process.pid}`;
    const server = createServer((socket) => socket.once('data', () => socket.end(OK)));
    await new Promise<void>((listening) => server.listen(`\0${name}`, listening));
    cleanup.push(() => server.close());
    const decl = { name: 'default', path: `@${name}` };
    const address = literalAddress(decl);
    expect(address).toEqual({ kind: 'unix', path: `\0${name}` });
    const backend = new Backend(decl, 'p', [address as OriginAddress], newVbeCounters(), env, 0);
    const conn = await connection(backend);
    expect((await get(conn)).body.text).toBe('ok');
    conn.destroy();
  });

  it('refuses for a sick backend until it is healthy again', async () => {
    const at = await origin(OK);
    const backend = backendAt(at.port);
    backend.health.admin = 'sick';
    expect([backend.healthy(7), backend.health.measured()]).toEqual([false, true]);
    expect((await failure(backend)).text).toBe('backend default: unhealthy');
    expect([stats.backend_unhealthy, backend.counters.unhealthy]).toEqual([1, 1]);
    backend.health.probed(false, 0n);
    backend.health.admin = 'auto';
    expect(backend.healthy(8)).toBe(false);
    backend.health.admin = 'healthy';
    expect([backend.healthy(9), backend.health.measured()]).toEqual([true, false]);
    (await connection(backend)).destroy();
  });

  it('tries the next address when the first refuses', async () => {
    const at = await origin(OK);
    const addresses = [
      { kind: 'tcp', address: '127.0.0.1', port: 1 },
      { kind: 'tcp', address: '127.0.0.1', port: at.port },
    ] as const;
    const backend = new Backend({ name: 'two' }, 'boot', addresses, newVbeCounters(), env, 0);
    const conn = await connection(backend);
    expect(conn.ends.remotePort).toBe(at.port);
    conn.destroy();
  });

  it('takes the bytes of a read back after its turn in the debug mode', async () => {
    const at = await origin('HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 4\r\n\r\nbody');
    const conn = await connection(backendAt(at.port));
    const msg = new HttpMessage(0);
    conn.sendHead(own(GET), NO_BODY);
    expect(await head(conn, msg, 60)).toBeNull();
    const raw = msg.raw as LentBytes;
    const afterwards = (bytes: LentBytes): string => keep(bytes, 0, bytes.length).toString('latin1');
    expect(afterwards(raw.subarray(msg.rawFrom, msg.rawFrom + 4))).toBe('\xbf\xbf\xbf\xbf');
    const lent: LentBytes[] = [];
    const kept: string[] = [];
    // A second read brings it: the first is over, and what came with the head was copied.
    const late = await script((socket, received) => {
      if (!received.endsWith('\r\n\r\n')) return;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n');
      setTimeout(() => socket.write('late'), 20);
    });
    conn.destroy();
    const other = await connection(backendAt(late.port));
    other.sendHead(own(GET), NO_BODY);
    expect(await head(other, msg, 60)).toBeNull();
    await new Promise<void>((done, broke) => {
      const take = (piece: AnyPiece): void => {
        lent.push(...piece.parts);
        kept.push(textOf(piece));
      };
      const sink = sinkOf(
        take,
        () => setImmediate(done),
        (reason) => broke(new Error(reason)),
      );
      other.readBody(responseBody(msg, 'GET', new Leniencies()), sink);
    });
    expect([kept, lent.map(afterwards)]).toEqual([['late'], ['\xbf\xbf\xbf\xbf']]);
    other.destroy();
  });

  it('hands a connection over to a pipe, with what has come already, and counts it until it is destroyed', async () => {
    const at = await script((socket) => socket.write('early'));
    const backend = backendAt(at.port);
    const conn = await connection(backend);
    const answered = new Promise<void>((done) => {
      conn.onDrain = done;
    });
    conn.sendHead(own(GET), NO_BODY);
    await answered;
    const got: string[] = [];
    const later = new Promise<void>((done) => {
      const sink = sinkOf((piece) => {
        if (got.push(textOf(piece)) === 2) done();
      });
      expect(conn.handOver(sink)).toBe('more');
    });
    expect(got).toEqual(['early']);
    conn.socket.resume();
    at.sockets[0]?.write('later');
    await later;
    expect([got, backend.inUse]).toEqual([['early', 'later'], 1]);
    conn.destroy();
    expect([backend.inUse, conn.handOver(DISCARD)]).toEqual([0, null]);
  });
});

describe('buildBackends', () => {
  const build = (decls: BackendDecl[]) => buildBackends('boot', decls, env, () => newVbeCounters(), 0);

  it('resolves names and addresses, keeps order and reports what has no address', async () => {
    const built = await build([
      { name: 'b', host: '127.0.0.1' },
      { name: 'a', host: '[::1]', port: '8080' },
      { name: 'u', path: '/run/x.sock' },
      { name: 'l', host: 'localhost', port: 'http' },
      { name: 'n', none: true },
      { name: 'x', host: 'no-such-host.invalid' },
      { name: 'p', host: '127.0.0.1', port: '0' },
    ]);
    expect([...built.backends.keys()]).toEqual(['b', 'a', 'u', 'l', 'n', 'x', 'p']);
    const at = (name: string) => built.backends.get(name)?.addresses;
    expect(at('b')).toEqual([{ kind: 'tcp', address: '127.0.0.1', port: 80 }]);
    expect(at('a')).toEqual([{ kind: 'tcp', address: '::1', port: 8080 }]);
    expect(at('u')).toEqual([{ kind: 'unix', path: '/run/x.sock' }]);
    expect(at('l')?.length).toBeGreaterThan(0);
    expect(at('x')).toEqual([]);
    expect(built.problems.length).toBe(2);
    expect((await failure(built.backends.get('x') as Backend)).reason).toBe('unresolved');
    expect(built.backends.get('b')?.displayName).toBe('boot.b');
  });

  it('makes of none a backend that is nobody', async () => {
    const none = (await build([{ name: 'n', none: true }])).backends.get('n') as Backend;
    expect([none.healthy(0), none.resolve()]).toEqual([false, null]);
    expect((await failure(none)).text).toBe('No backend');
  });

  it('reaches a Unix socket', async () => {
    const path = join(tmpdir(), `backend-test-${process.pid}.sock`);
    const server = createServer((socket) => socket.on('data', () => socket.write(OK)));
    await new Promise<void>((done) => server.listen(path, done));
    const backend = (await build([{ name: 'u', path }])).backends.get('u') as Backend;
    const conn = await connection(backend);
    expect((await get(conn)).body.text).toBe('ok');
    conn.destroy();
    await new Promise((done) => server.close(done));
  });
});

describe('what goes ahead of requests', () => {
  const client = { clientIp: '192.0.2.7', clientPort: 1, serverIp: '192.0.2.1', serverPort: 80 };

  it('is nothing unless the program declares it', async () => {
    const at = await origin(OK);
    expect(backendAt(at.port).requestLead(client)).toBeNull();
    expect(backendAt(at.port, { proxyHeader: 1 }).requestLead(client)?.toString()).toMatch(/^PROXY TCP4 /);
  });

  it('a PROXY preamble makes a connection for one request', async () => {
    const at = await origin(OK);
    const kept = await connection(backendAt(at.port));
    await get(kept);
    expect(kept.release()).toBe(true);
    const backend = backendAt(at.port, { proxyHeader: 2 });
    const conn = await connection(backend);
    expect(conn.reused).toBe(false);
    await get(conn);
    expect([conn.release(), conn.closeReason]).toEqual([false, null]);
    expect((await connection(backend)).reused).toBe(false);
  });

  it('a .preamble comes first on a new connection, which is kept apart from others', async () => {
    const at = await script((socket, received) => {
      if (received.endsWith('\r\n\r\n')) socket.write(OK);
    });
    const plain = backendAt(at.port);
    const first = await connection(plain);
    await get(first);
    expect(first.release()).toBe(true);
    const backend = backendAt(at.port, { preamble: Buffer.from('Hello').toString('base64') });
    for (const reused of [false, true]) {
      const conn = await connection(backend);
      expect(conn.reused).toBe(reused);
      await get(conn);
      expect(conn.release()).toBe(true);
    }
    expect(at.received).toEqual([GET.toString(), `Hello${GET}${GET}`]);
    expect((await connection(plain)).reused).toBe(true);
  });
});

it('is counted by whether its address had a pool already', () => {
  const [first, second] = [backendAt(1), backendAt(1)];
  backendAt(2);
  expect(pool.counters).toEqual({ ref_miss: 2, ref_hit: 1 });
  first.end();
  // Its name has no address any more.
  second.addresses = [];
  backendAt(1);
  expect(pool.counters.ref_miss).toBe(3);
});

it('that nobody probes counts as happy at all times', () => {
  expect(backendAt(1).counters.happy).toBe(0xffff_ffff_ffff_ffffn);
  expect(backendAt(1, { probe: { initial: 0 } }).counters.happy).toBe(0n);
});

describe('a probed backend', () => {
  it('is sick until its probe says otherwise, and shows it', async () => {
    const at = await script((socket, received) => {
      if (received.endsWith('\r\n\r\n')) socket.end(OK);
    });
    const log: string[] = [];
    env = { ...env, healthLog: (text) => log.push(text), now: () => 77 };
    const backend = backendAt(at.port, { probe: { interval: 60, threshold: 2, window: 3 } });
    expect([backend.healthy(0), backend.health.counts(), backend.counters.happy]).toEqual([
      ...[false, { good: 1, total: 3 }, 1n],
    ]);
    backend.setWarm(true);
    while (!backend.healthy(0)) await turn();
    expect([backend.health.counts(), backend.counters.happy, backend.health.changedAt]).toEqual([
      ...[{ good: 2, total: 3 }, 3n, 77],
    ]);
    expect(backend.inUse).toBe(0);
    backend.setWarm(false);
    expect(backend.healthy(0)).toBe(false);
    expect(log.length).toBe(4);
    expect(at.received[0]).toContain('Host: 127.0.0.1\r\n');
  });

  it('counts what its probes meet, under hold-down too', async () => {
    const at = await origin(OK);
    const { port } = at;
    at.stop();
    const log: string[] = [];
    env = { ...env, healthLog: (text) => log.push(text), now: () => 5 };
    const backend = backendAt(port, { probe: { interval: 0.001 } });
    backend.setWarm(true);
    while (backend.counters.helddown < 2) await turn();
    backend.setWarm(false);
    expect(backend.counters.fail_econnrefused).toBe(1);
    expect(log[2]).toContain('"Open error 111 (Connection refused)"');
    expect(log[3]).toContain('"Open error 0 (Success)"');
    expect(stats.backend_fail).toBe(0);
  });
});
