// Probes: their defaults, their window and its renderings, single polls of odd origins, and health that changes
// exactly at the threshold.

import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OriginAddress } from '../../../daemon/backend/address.ts';
import { Dialer } from '../../../daemon/backend/dialer.ts';
import { handleWires } from '../../../daemon/backend/handle-wire.ts';
import { HoldDown } from '../../../daemon/backend/hold-down.ts';
import { Probe, type ProbeOwner } from '../../../daemon/backend/probe.ts';
import { type PollResult, type PollWay, ProbePoll } from '../../../daemon/backend/probe-poll.ts';
import { ProbeSchedule, type Scheduled } from '../../../daemon/backend/probe-schedule.ts';
import { type ProbeSettings, probeSettings } from '../../../daemon/backend/probe-settings.ts';
import { ProbeWindow } from '../../../daemon/backend/probe-window.ts';
import type { OpenWire, ProbeWire, WireUser } from '../../../daemon/backend/probe-wire.ts';
import { socketWires } from '../../../daemon/backend/socket-wire.ts';
import { OwnState } from '../../../daemon/contract/own-state.ts';
import type { ProbeDecl } from '../../../daemon/contract/program.ts';
import { newVbeCounters } from '../../../daemon/stats/counter-fields.ts';
import { runs } from '../../harness/runs.ts';
import { ScriptedOrigin } from './scripted-origin.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const BACKEND = { name: 'b', host: 'origin.test' };
const cleanup: (() => void)[] = [];

afterEach(() => {
  for (const undo of cleanup.splice(0)) undo();
});

const settings = (probe: ProbeDecl = {}): ProbeSettings => probeSettings(probe, BACKEND);

async function origin(script: Parameters<typeof ScriptedOrigin.start>[0]): Promise<ScriptedOrigin> {
  const made = await ScriptedOrigin.start(script);
  cleanup.push(() => made.stop());
  return made;
}

/** An origin that answers and closes, with what `answer` says at that time. */
function closing(answer: () => string): Promise<ScriptedOrigin> {
  return origin((socket, received) => {
    if (received.endsWith('\r\n\r\n')) socket.end(Buffer.from(answer(), 'latin1'));
  });
}

const bytes = Buffer.alloc(64 * 1024);
const buffer = { bytes, turnOver: (length: number) => bytes.fill(0, 0, length) };

const handles = handleWires(buffer) as OpenWire;
const sockets = socketWires(buffer);

function way(at: number | OriginAddress, open: OpenWire = handles): PollWay {
  const address: OriginAddress =
    typeof at === 'number' ? { kind: 'tcp', address: '127.0.0.1', port: at } : at;
  const params = { backend_local_error_holddown: 0, backend_remote_error_holddown: 0 };
  const dialer = new Dialer([address], new HoldDown(new OwnState()), params, newVbeCounters());
  return { dial: () => dialer.begin(0), open, lead: () => null };
}

function pollOver(open: OpenWire, at: number | OriginAddress, probe: ProbeDecl = {}): Promise<PollResult> {
  return new Promise((polled) => new ProbePoll(settings(probe), way(at, open), { polled }).start());
}

const poll = (port: number, probe: ProbeDecl = {}): Promise<PollResult> => pollOver(handles, port, probe);

describe('probe settings', () => {
  it('are those of the manual where the program says nothing', () => {
    expect(settings()).toMatchObject({
      expected: 200,
      timeout: 2,
      interval: 5,
      window: 8,
      threshold: 3,
      initial: 2,
      expectClose: true,
    });
    expect(settings().request.toString()).toBe(
      'GET / HTTP/1.1\r\nHost: origin.test\r\nConnection: close\r\n\r\n',
    );
  });

  it.each([
    [{ threshold: 4 }, { window: 5, initial: 3 }],
    [{ threshold: 64 }, { window: 65, initial: 63 }],
    [
      { threshold: 1, window: 1 },
      { window: 1, initial: 0 },
    ],
    [
      { threshold: 2, window: 64, initial: 70 },
      { window: 64, initial: 2 },
    ],
    [{ threshold: 0 }, { threshold: 3, window: 1, initial: 2 }],
    [{ initial: 0 }, { initial: 0, window: 8 }],
  ])('%j have the shape %j', (probe, shape) => {
    expect(settings(probe)).toMatchObject(shape);
  });

  it('take a request line by line, or a path, and the host name for the backend', () => {
    expect(settings({ request: ['GET /x HTTP/1.1', 'Host: y'] }).request.toString()).toBe(
      'GET /x HTTP/1.1\r\nHost: y\r\n\r\n',
    );
    const named = probeSettings({ url: '/health' }, { ...BACKEND, hostHeader: 'site.test' });
    expect(named.request.toString()).toContain('GET /health HTTP/1.1\r\nHost: site.test\r\n');
    expect(probeSettings({}, { name: 'u', path: '/run/x' }).request.toString()).toContain(
      'Host: 0.0.0.0\r\n',
    );
  });
});

describe('the window', () => {
  it('counts only its own width, however long the register', () => {
    const window = new ProbeWindow(settings({ window: 4, threshold: 3 }));
    expect([window.good, window.happy]).toEqual([2, 3n]);
    for (let i = 0; i < 70; i++) window.add(['4', 'X', 'R', 'H'], 0.1);
    expect([window.good, window.happy]).toEqual([4, (1n << 64n) - 1n]);
    window.add(['4', 'X', 'R'], 0.1);
    expect([window.good, window.happy & 15n]).toEqual([3, 14n]);
  });

  it('averages over about four good polls, the initial ones at no time', () => {
    const window = new ProbeWindow(settings());
    window.add(['4', 'X', 'R', 'H'], 0.003802);
    expect(window.average).toBeCloseTo(0.003802 / 3, 9);
    window.add(['4', 'X', 'R', 'H'], 0.000687);
    expect(window.average).toBeCloseTo(0.0011222, 6);
    const before = window.average;
    window.add(['4', 'X', 'R'], 9);
    expect([window.average, window.last]).toEqual([before, 9]);
  });

  it('shows itself as backend.list does', () => {
    const window = new ProbeWindow(settings({ window: 10, threshold: 2, initial: 1 }));
    window.add(['6', 'X', 'r'], 0);
    window.add(['U', 'X', 'R', 'H'], 0.5);
    expect(window.lastBits()).toBe('--U-X-RH');
    expect(window.text().split('\n')).toEqual([
      ' Current states  good:  2 threshold:  2 window: 10',
      '  Average response time of good probes: 0.250000',
      '  Oldest ================================================== Newest',
      `  ${'-'.repeat(62)}6- Good IPv6`,
      `  ${'-'.repeat(63)}U Good UNIX`,
      `  ${'-'.repeat(62)}XX Good Xmit`,
      `  ${'-'.repeat(62)}r- Error Recv`,
      `  ${'-'.repeat(63)}R Good Recv`,
      `  ${'-'.repeat(61)}H-H Happy`,
      '',
    ]);
    expect(JSON.parse(window.json())).toEqual({
      ...{ bits_4: 0, bits_6: 2, bits_U: 1, bits_x: 0, bits_X: 3, bits_r: 2, bits_R: 1, bits_H: 5 },
      ...{ good: 2, threshold: 2, window: 10 },
    });
  });
});

describe.each([
  ['a handle', handles],
  ['a socket', sockets],
])('a poll over %s', (_name, open) => {
  const found = async (at: number | OriginAddress, probe: ProbeDecl = {}): Promise<string[]> => {
    const { bits, text } = await pollOver(open, at, probe);
    return [bits.join(''), text];
  };

  async function server(listen: ListenOptions): Promise<Server> {
    const made = createServer((socket) => socket.on('error', () => undefined).end(OK));
    cleanup.push(() => made.close());
    await new Promise<void>((done) => made.listen(listen, done));
    return made;
  }

  it('reaches addresses of both families, and paths', async () => {
    const at = await closing(() => OK);
    expect(await found(at.port)).toEqual(['4XRH', 'HTTP/1.1 200 OK']);
    const { port } = (await server({ host: '::1', port: 0 })).address() as AddressInfo;
    expect(await found({ kind: 'tcp', address: '::1', port })).toEqual(['6XRH', 'HTTP/1.1 200 OK']);
    const path = join(mkdtempSync(join(tmpdir(), 'probe-')), 'socket');
    cleanup.push(() => rmSync(dirname(path), { recursive: true }));
    await server({ path });
    expect(await found({ kind: 'unix', path })).toEqual(['UXRH', 'HTTP/1.1 200 OK']);
  });

  it('reports why it could not connect, was cut off or had to wait', async () => {
    const at = await origin((socket, received) => {
      if (received.startsWith('GET /reset')) socket.resetAndDestroy();
    });
    expect(await found(at.port, { url: '/reset' })).toEqual([
      '4Xr',
      'Read error 104 (Connection reset by peer)',
    ]);
    expect(await found(at.port, { timeout: 0.03 })).toEqual(['4Xr', 'Poll error 110 (Connection timed out)']);
    const { port } = at;
    at.stop();
    expect(await found(port)).toEqual(['', 'Open error 111 (Connection refused)']);
    expect(await found({ kind: 'unix', path: '/nowhere/socket' })).toEqual([
      '',
      'Open error 2 (No such file or directory)',
    ]);
  });

  it('is not fooled by an answer that a reset follows, however close, but by none that has ended', async () => {
    const at = await origin((socket, received) => {
      if (!received.endsWith('\r\n\r\n')) return;
      socket.write(OK);
      const reset = (): unknown => socket.resetAndDestroy();
      if (received.startsWith('GET /later')) setTimeout(reset, 10);
      else if (received.startsWith('GET /end')) socket.end(() => setImmediate(reset));
      else reset();
    });
    const reset = ['4Xr', 'Read error 104 (Connection reset by peer)'];
    for (let i = 0; i < 10; i++) {
      expect(await found(at.port, { url: '/at-once' })).toEqual(reset);
      expect(await found(at.port, { url: '/later' })).toEqual(reset);
      expect(await found(at.port, { url: '/end' })).toEqual(['4XRH', 'HTTP/1.1 200 OK']);
    }
  });

  it('puts together an answer that comes in pieces, and closes', async () => {
    const at = await origin((socket, received) => {
      if (!received.endsWith('\r\n\r\n')) return;
      socket.write('HTTP/1.1 ');
      setTimeout(() => socket.end('200 OK\r\n\r\n'), 10);
    });
    expect(await found(at.port)).toEqual(['4XRH', 'HTTP/1.1 200 OK']);
    await at.until(() => at.sockets[0]?.destroyed === true);
  });

  it('knows its own end', async () => {
    const at = await origin(() => undefined);
    const local = await new Promise<ProbeWire['local']>((resolve) => {
      const nothing = (): void => undefined;
      const user = {
        connected: () => resolve(wire.local),
        received: nothing,
        ended: nothing,
        failed: nothing,
      };
      const wire = open({ kind: 'tcp', address: '127.0.0.1', port: at.port }, user);
    });
    await at.until(() => at.sockets.length > 0);
    expect(local).toEqual({ address: '127.0.0.1', port: at.sockets[0]?.remotePort });
  });

  it('reports nothing once it is closed', async () => {
    const events: string[] = [];
    const user = Object.fromEntries(
      ['connected', 'received', 'ended', 'failed'].map((name) => [name, () => events.push(name)]),
    ) as unknown as WireUser;
    const at = await closing(() => OK);
    open({ kind: 'tcp', address: '127.0.0.1', port: at.port }, user).close();
    await sleep(20);
    expect(events).toEqual([]);
  });
});

describe('a poll', () => {
  it.each([
    [OK, '4XRH', 'HTTP/1.1 200 OK'],
    ['HTTP/1.1 200\r\n\r\n', '4XRH', 'HTTP/1.1 200'],
    ['HTTP/1.1 200 O', '4XRH', 'HTTP/1.1 200 O'],
    ['HTTP/1.1 200 OK\n\n', '4XRH', 'HTTP/1.1 200 OK'],
    ['HTTP/2.0 200 OK\r\n\r\n', '4XRH', 'HTTP/2.0 200 OK'],
    ['HTTP/1.1 503 Busy\r\n\r\n', '4XR', 'HTTP/1.1 503 Busy'],
    ['HTTP/1.1 2000 OK\r\n\r\n', '4XR', 'HTTP/1.1 2000 OK'],
    ['garbage\r\n', '4XR', 'garbage'],
    ['\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', '4XR', ''],
    ['', '4X', 'Empty response'],
    [`HTTP/1.1 200 ${'y'.repeat(300)}\r\n\r\n`, '4XRH', `HTTP/1.1 200 ${'y'.repeat(114)}`],
  ])('of an origin that answers %j finds %s', async (answer, bits, text) => {
    const at = await closing(() => answer);
    const found = await poll(at.port);
    expect([found.bits.join(''), found.text]).toEqual([bits, text]);
    expect(found.seconds > 0).toBe(bits.includes('R'));
  });

  it('takes another status when that is expected', async () => {
    const at = await closing(() => 'HTTP/1.1 503 Busy\r\n\r\n');
    expect((await poll(at.port, { expectedResponse: 503 })).bits).toContain('H');
  });

  it('of an origin that is not there says why', async () => {
    const at = await closing(() => OK);
    const { port } = at;
    at.stop();
    expect(await poll(port)).toEqual({
      bits: [],
      seconds: 0,
      text: 'Open error 111 (Connection refused)',
    });
  });

  it('of an origin that resets has that reason', async () => {
    const at = await origin((socket) => socket.resetAndDestroy());
    const found = await poll(at.port);
    expect([found.bits.join(''), found.text]).toEqual(['4Xr', 'Read error 104 (Connection reset by peer)']);
  });

  it('of an origin that hangs, or never closes, ends at its timeout and closes the connection', async () => {
    const at = await origin((socket, received) => {
      if (received.startsWith('GET /keep')) socket.write(OK);
    });
    for (const url of ['/', '/keep']) {
      const found = await poll(at.port, { url, timeout: 0.05 });
      expect([found.bits.join(''), found.text]).toEqual(['4Xr', 'Poll error 110 (Connection timed out)']);
    }
    await at.until(() => at.sockets.every((s) => s.readableEnded || s.destroyed));
  });

  it('without expect_close judges at the timeout, or when the origin closes, what has come', async () => {
    const found = async (port: number) => {
      const { bits, text } = await poll(port, { expectClose: false, timeout: 0.05 });
      return [bits.join(''), text];
    };
    const keeping = await origin((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Le'));
    expect(await found(keeping.port)).toEqual(['4XRH', 'HTTP/1.1 200 OK']);
    const part = await origin((socket) => socket.write('HT'));
    expect(await found(part.port)).toEqual(['4XR', 'HT']);
    const silent = await origin(() => undefined);
    expect(await found(silent.port)).toEqual(['4X', 'Empty response']);
    const at = await closing(() => 'HTTP/1.1 200 OK\r\n');
    expect(await found(at.port)).toEqual(['4XRH', 'HTTP/1.1 200 OK']);
  });

  it('that is given up says nothing and closes', async () => {
    const at = await origin(() => undefined);
    let polled = false;
    const given = new ProbePoll(settings(), way(at.port), {
      polled: () => {
        polled = true;
      },
    });
    given.start();
    await at.until(() => (at.received[0] ?? '') !== '');
    given.cancel();
    await at.until(() => at.sockets[0]?.readableEnded === true || at.sockets[0]?.destroyed === true);
    expect(polled).toBe(false);
  });
});

describe('a probe', () => {
  const never: OpenWire = () => ({ local: null, write: () => undefined, close: () => undefined });

  /** A probe whose polls find what `answers` says one after the other; waits for `n` of them. */
  async function run(
    answers: string,
    probe: ProbeDecl,
  ): Promise<{ log: string[]; health: boolean[]; changes: string[] }> {
    const log: string[] = [];
    const changes: string[] = [];
    const health: boolean[] = [];
    const owner: ProbeOwner = { vclName: 'b', probed: (healthy) => health.push(healthy) };
    let n = 0;
    const at = await closing(() => (answers[n++] === 'g' ? OK : 'HTTP/1.1 500 x\r\n\r\n'));
    const given = settings({ interval: 0.001, ...probe });
    const made = new Probe(owner, given, way(at.port), new ProbeSchedule(), {
      log: (text) => log.push(text),
      changed: (healthy, text) => changes.push(`${healthy ? 'healthy' : 'sick'} ${text}`),
    });
    made.start();
    while (log.length < 2 + answers.length) await sleep(1);
    made.stop();
    return { log: log.slice(0, 2 + answers.length), health: health.slice(0, 2 + answers.length), changes };
  }

  it('changes health exactly at the threshold, and back', async () => {
    const { log, health } = await run('ggbbbgg', { window: 3, threshold: 2, initial: 1 });
    const good = 'HTTP/1.1 200 OK';
    const bad = 'HTTP/1.1 500 x';
    expect(log.map((text) => text.replace(/ \d\.\d{6}/g, ''))).toEqual([
      'b Went sick -------H 1 2 3 ""',
      'b Still sick -------H 1 2 3 ""',
      `b Went healthy 4---X-RH 2 2 3 "${good}"`,
      `b Still healthy 4---X-RH 3 2 3 "${good}"`,
      `b Still healthy 4---X-R- 2 2 3 "${bad}"`,
      `b Went sick 4---X-R- 1 2 3 "${bad}"`,
      `b Still sick 4---X-R- 0 2 3 "${bad}"`,
      `b Still sick 4---X-RH 1 2 3 "${good}"`,
      `b Went healthy 4---X-RH 2 2 3 "${good}"`,
    ]);
    expect(health).toEqual([false, false, true, true, true, false, false, false, true]);
  });

  it.each([
    ['ggbbbgg', { window: 3, threshold: 2, initial: 1 }, ['sick HTTP/1.1 500 x', 'healthy HTTP/1.1 200 OK']],
    ['b', { window: 3, threshold: 2, initial: 1 }, ['sick HTTP/1.1 500 x']],
    ['ggg', { window: 3, threshold: 3, initial: 0 }, []],
  ] as const)(
    'reports what polls change, and nothing while the first of them come: %s',
    async (answers, probe, reports) => {
      expect((await run(answers, probe)).changes).toEqual(reports);
    },
  );

  it('begins healthy when its settings say so', async () => {
    const { log } = await run('g', { window: 8, threshold: 3, initial: 3 });
    expect(log[0]).toMatch(/^b Still healthy -------H 3 3 8 /);
  });

  it('keeps its last verdict while its program cools where no poll counts as made', async () => {
    const log: string[] = [];
    const at = await closing(() => OK);
    const owner: ProbeOwner = { vclName: 'b', probed: () => undefined };
    const given = settings({ interval: 60, initial: 0, threshold: 1, window: 2 });
    const made = new Probe(owner, given, way(at.port), new ProbeSchedule(), {
      log: (text) => log.push(text),
      changed: () => undefined,
    });
    made.start();
    while (log.length < 3) await sleep(1);
    made.stop();
    expect(log.slice(1).map((text) => text.replace(/ \d\.\d{6}/g, ''))).toEqual([
      'b Still sick -------- 0 1 2 ""',
      'b Went healthy 4---X-RH 1 1 2 "HTTP/1.1 200 OK"',
      'b Still healthy -------- 1 1 2 "HTTP/1.1 200 OK"',
    ]);
  });

  it('stops with its program, with a fresh window, and polls no more', async () => {
    const log: string[] = [];
    const owner: ProbeOwner = { vclName: 'b', probed: () => undefined };
    let polls = 0;
    const at = await closing(() => {
      polls++;
      return OK;
    });
    const fast = settings({ interval: 0.001 });
    const made = new Probe(owner, fast, way(at.port), new ProbeSchedule(), {
      log: (text) => log.push(text),
      changed: () => undefined,
    });
    made.start();
    while (polls < 5) await sleep(1);
    made.stop();
    expect(log.at(-1)).toMatch(/^b Went sick -------H 2 3 8 0.000000 0.000000 ""$/);
    await sleep(5);
    const lines = log.length;
    const sofar = polls;
    await sleep(20);
    expect([log.length, polls]).toEqual([lines, sofar]);
    made.start();
    while (polls === sofar) await sleep(1);
    made.stop();
  });

  it('never polls twice at the same time', async () => {
    let open = 0;
    const hanging = way(1, (at, user) => {
      open++;
      return never(at, user);
    });
    const owner: ProbeOwner = { vclName: 'b', probed: () => undefined };
    const made = new Probe(owner, settings({ interval: 0.001 }), hanging, new ProbeSchedule(), {
      log: () => undefined,
      changed: () => undefined,
    });
    made.start();
    await sleep(30);
    expect(open).toBe(1);
    made.stop();
  });
});

describe('the schedule', () => {
  const beats = (n: number, beat: (i: number) => void): Scheduled[] =>
    Array.from({ length: n }, (_, i) => ({ beat: () => beat(i) }));

  it('calls each when its time has come, and none that was given up', async () => {
    const schedule = new ProbeSchedule();
    const called: number[] = [];
    const begun = performance.now();
    const probes = beats(4, (i) => called.push(i));
    const moments = probes.map((probe, i) => schedule.at(probe, [0.03, 0, 0.015, 0.02][i] as number));
    schedule.cancel(probes[3] as Scheduled, moments[3] as number);
    while (called.length < 3) await sleep(1);
    expect(called).toEqual([1, 2, 0]);
    expect(performance.now() - begun).toBeGreaterThan(27);
  });

  it('brings together what lies close, as its interval allows, and keeps the rhythm', () => {
    const schedule = new ProbeSchedule();
    const [probe] = beats(1, () => undefined) as [Scheduled];
    /** A moment, and how far it is from where the interval would have put it, whatever time the calls took. */
    const asked = (seconds: number): { moment: number; off: number } => {
      const before = performance.now();
      const moment = schedule.inRhythm(probe, seconds);
      const passed = performance.now() - before;
      const off = moment - before - seconds * 1000;
      return { moment, off: off > passed ? off - passed : Math.min(off, 0) };
    };
    const { moment: long, off } = asked(5);
    expect(long % 100).toBe(0);
    expect(Math.abs(off)).toBeLessThanOrEqual(51);
    const { moment: short, off: offShort } = asked(0.5);
    expect(short % 10).toBe(0);
    expect(Math.abs(offShort)).toBeLessThanOrEqual(6);
    expect(Math.abs(asked(0.01).off)).toBeLessThanOrEqual(2);
    for (const moment of [long, short]) schedule.cancel(probe, moment);
  });

  it('begins few in one turn', async () => {
    const schedule = new ProbeSchedule();
    let turn = 0;
    let over = false;
    const turns: number[] = [];
    for (const probe of beats(100, () => turns.push(turn))) schedule.at(probe, 0.005);
    const count = (): void => {
      turn++;
      if (!over) setImmediate(count);
    };
    count();
    while (turns.length < 100) await sleep(1);
    over = true;
    const most = Math.max(...turns.map((t) => turns.filter((other) => other === t).length));
    expect(most).toBeLessThanOrEqual(32);
  });

  it('finds the next moment in a few steps, however many there are', async () => {
    const schedule = new ProbeSchedule();
    const { due } = schedule as unknown as { due: Map<number, unknown> };
    let iterated = 0;
    for (const name of ['entries', 'keys', 'values', 'forEach', Symbol.iterator] as const)
      vi.spyOn(due, name as 'entries').mockImplementation((...given: unknown[]) => {
        iterated++;
        return (Map.prototype[name as 'entries'] as (...args: unknown[]) => MapIterator<never>).apply(
          due,
          given,
        );
      });
    let called = 0;
    const probes = beats(1000, () => called++);
    const moments = probes.map((probe, i) => schedule.at(probe, i < 50 ? i / 1000 : 1000 + i));
    while (called < 50) await sleep(1);
    expect(iterated).toBe(0);
    for (const [i, probe] of probes.entries()) schedule.cancel(probe, moments[i] as number);
  });

  it('calls those of moments that come and go in their order', async () => {
    const step = fc.record({ wait: fc.integer({ min: 0, max: 12 }), isGivenUp: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const schedule = new ProbeSchedule();
        const called: number[] = [];
        const moments: number[] = [];
        const probes = beats(steps.length, (i) => called.push(i));
        for (const [i, { wait, isGivenUp }] of steps.entries()) {
          moments.push(schedule.at(probes[i] as Scheduled, wait / 1000));
          if (isGivenUp) schedule.cancel(probes[i] as Scheduled, moments[i] as number);
        }
        const wanted = steps.flatMap(({ isGivenUp }, i) => (isGivenUp ? [] : [i]));
        while (called.length < wanted.length) await sleep(1);
        expect(called.toSorted((a, b) => a - b)).toEqual(wanted);
        expect(called.map((i) => moments[i])).toEqual(
          wanted.map((i) => moments[i]).toSorted((a, b) => Number(a) - Number(b)),
        );
      }),
      { numRuns: runs(20) },
    );
  });

  it('lets a few begin at once and spreads a thousand', () => {
    const schedule = new ProbeSchedule();
    const first = Array.from({ length: 1000 }, () => schedule.first(50));
    expect(first.slice(0, 16)).toEqual(new Array(16).fill(0));
    const moments = new Set(first.map((s) => Math.round(s * 1000)));
    expect(moments.size).toBeGreaterThan(900);
    expect(Math.max(...first)).toBeLessThan(2.1);
    // A later program begins at once again.
    expect(schedule.first(60)).toBe(0);
    // From the second poll on they lie spread over the interval: no tenth of it has many more than another.
    expect(schedule.second(5, 0)).toBe(5);
    const tenths = new Array(10).fill(0);
    for (const wait of first) tenths[Math.floor(((wait + schedule.second(5, wait)) % 5) * 2)]++;
    expect([Math.min(...tenths) > 60, Math.max(...tenths) < 170]).toEqual([true, true]);
  });
});
