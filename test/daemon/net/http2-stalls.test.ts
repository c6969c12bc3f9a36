// Clients of HTTP/2 that take nothing, hardly anything, or send what nobody wants yet: what they hold is bounded, it has an
// end, and other streams of the same connection go on.
import { describe, expect, it } from 'vitest';
import { own, type Piece } from '../../../daemon/flow/piece.ts';
import { HttpMessage } from '../../../daemon/http1/message.ts';
import type { Request } from '../../../daemon/transaction/request.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { FLAG, FRAME, frame, PREFACE, settingsFrame } from '../../harness/http2-frames.ts';
import { FakeHttp2 } from './fake-http2.ts';
import { get } from './fake-session.ts';

const LIMITS = { idle_send_timeout: 60, send_timeout: 600, h2_window_timeout: 5 };
/** Larger than both windows. */
const LARGE = '/40000*abcd';
const NO_WINDOW = 'SETTINGS(0) [4=0]';

function afterSeconds(one: FakeHttp2, seconds: number, each = ''): void {
  for (let i = 0; i < seconds && one.session.isOpen; i++) {
    one.pass(1);
    if (each !== '') one.frames(each);
    one.settle();
  }
}

describe('answers without a window', () => {
  it('end their connection after h2_window_timeout, when there are no others', () => {
    const one = new FakeHttp2().frames(`${NO_WINDOW} ; GET(1 /a) ; GET(3 /b)`);
    afterSeconds(one, 5);
    expect(one.session.isOpen).toBe(true);
    afterSeconds(one, 2);
    expect(one.reported()).toBe('200(1) ; 200(3) ; GOAWAY ENHANCE_YOUR_CALM');
    expect(one.stats.sc_bankrupt).toBe(1);
    expect(one.stats.h2_goaway_calm).toBe(1);
    expect(one.records).toContain('Error HTTP/2 ENHANCE_YOUR_CALM: no answer has a window');
    expect(one.requests.every((req) => req.ended)).toBe(true);
  });

  it('are the same where it is the window of the connection that is empty', () => {
    const one = new FakeHttp2().frames(`SETTINGS(0) [4=1000000] ; GET(1 ${LARGE}) ; GET(3 /b)`);
    afterSeconds(one, 7);
    expect(one.stats.sc_bankrupt).toBe(1);
  });

  it('leave a connection alone on which another request still waits for its answer', () => {
    const one = new FakeHttp2().frames(`${NO_WINDOW} ; GET(1 /a) ; GET(3 /wait)`);
    afterSeconds(one, 50);
    expect(one.session.isOpen).toBe(true);
    // They end by themselves when nothing was taken of them for idle_send_timeout.
    afterSeconds(one, 20);
    expect(one.reported()).toBe('200(1) ; RST_STREAM(1) CANCEL');
    expect(one.session.isOpen).toBe(true);
  });

  it('leave others alone that have one', () => {
    const one = new FakeHttp2().frames(
      `GET(1 /a) ; ${NO_WINDOW} ; GET(3 /stuck) ; SETTINGS(0) [4=65535] ; WINDOW_UPDATE(0) #1000000`,
    );
    one.frames(`${NO_WINDOW} ; GET(5 /stuck) ; SETTINGS(0) [4=10] ; GET(7 /seen)`);
    expect(one.body(7)).toBe('/seen');
  });

  it('are no reason while the client takes some now and then', () => {
    const one = new FakeHttp2().frames(`GET(1 ${LARGE}) ; WINDOW_UPDATE(0) #1000000`);
    afterSeconds(one, 200, 'WINDOW_UPDATE(1) #600');
    expect(one.session.isOpen).toBe(true);
    expect(one.reported()).toBe('200(1)');
  });

  it('are given up after send_timeout where the client takes a byte now and then', () => {
    for (const [first, each] of [
      [`GET(1 ${LARGE}) ; WINDOW_UPDATE(0) #1000000`, 'WINDOW_UPDATE(1) #1'],
      [`SETTINGS(0) [4=1000000] ; GET(1 ${LARGE})`, 'WINDOW_UPDATE(0) #1'],
    ] as const) {
      const one = new FakeHttp2(LIMITS).frames(first);
      afterSeconds(one, 800, each);
      expect(one.reported(), each).toContain('RST_STREAM(1) CANCEL');
    }
  });

  it('wait for others that are more urgent for as long as those take', () => {
    const urgent = 'GET(1 /400000*abcd) {priority=u=0}';
    const one = new FakeHttp2(LIMITS).frames(`SETTINGS(0) [4=2000000] ; ${urgent} ; GET(3 /40000*efgh)`);
    afterSeconds(one, 80, 'WINDOW_UPDATE(0) #20000');
    expect(one.reported()).toBe('200(1) ; 200(3)');
    expect(one.body(3)).toBe('');
    one.frames('WINDOW_UPDATE(0) #2000000');
    expect(one.body(3)).toHaveLength(40_000 * 11);
  });
});

describe('a client that reads nothing', () => {
  /** Answers with a head alone. */
  const headAlone = (req: Request): void => {
    const head = new HttpMessage(Tag.RespMethod);
    head.status = 304;
    head.push('x-long', `X-Long: ${'x'.repeat(1000)}${req.http.url}`);
    req.session.stream?.head(head, true);
    req.ended = true;
    req.session.requestDone();
  };

  it('is not read from, once heads of answers pile up; and it is served again when it reads', () => {
    const one = new FakeHttp2();
    one.answer = headAlone;
    one.wire.takes = false;
    for (let i = 0; i < 5000; i++) one.frames(`GET(${2 * i + 1} /${i})`);
    expect(one.wire.paused).toBe(true);
    expect(one.ran.length).toBeLessThan(400);
    // All that waits leaves at once, and nothing else wakes the connection.
    one.wire.drain();
    one.settle();
    expect(one.wire.paused).toBe(false);
    expect(one.ran).toHaveLength(5000);
  });

  it('is given up after idle_send_timeout', () => {
    const one = new FakeHttp2(LIMITS);
    one.answer = headAlone;
    one.wire.takes = false;
    one.frames('GET(1 /a)');
    afterSeconds(one, 59);
    expect(one.wire.isGone).toBe(false);
    afterSeconds(one, 3);
    expect(one.wire.isGone).toBe(true);
  });

  it.each([
    ['is idle', (one: FakeHttp2) => afterSeconds(one, 20)],
    ['says that it goes', (one: FakeHttp2) => one.frames('GOAWAY(0) #0 #0')],
    ['ends its side', (one: FakeHttp2) => one.session.receivedEnd()],
  ])('gets all of its answers when it %s meanwhile', (_name, then) => {
    const one = new FakeHttp2(LIMITS);
    one.answer = headAlone;
    one.wire.takes = false;
    one.frames('GET(1 /a)').frames('GET(3 /b) ; GET(5 /c)');
    then(one);
    expect(one.reported()).toBe('304(1)');
    one.wire.drain();
    one.settle();
    expect(one.reported()).toContain('304(1) ; 304(3) ; 304(5)');
    afterSeconds(one, 10);
    expect(one.session.isOpen).toBe(false);
  });

  it('holds bodies where they are stored: no frame of them is made', () => {
    const one = new FakeHttp2();
    const held = new Set<Piece>();
    one.answer = (req) => {
      const head = new HttpMessage(Tag.RespMethod);
      head.status = 200;
      req.session.stream?.head(head, false);
      const piece = own(Buffer.alloc(100_000));
      piece.hold = () => void held.add(piece);
      req.session.stream?.end(piece);
    };
    one.wire.takes = false;
    for (let i = 0; i < 100; i++) one.frames(`GET(${2 * i + 1} /${i})`);
    expect(held.size).toBe(100);
    expect(one.wire.queued).toBeLessThan(70_000);
  });
});

describe('uploads that nobody reads', () => {
  it('are kept as far as their windows go, and no further', () => {
    const one = new FakeHttp2();
    const full = [frame(FRAME.DATA, 0, 1, Buffer.alloc(16384)), frame(FRAME.DATA, 0, 1, Buffer.alloc(16383))];
    for (let stream = 1; stream < 200; stream += 2) {
      one.frames(`POST(${stream} /wait)`);
      for (const piece of [0, 0, 0, 1]) {
        const bytes = Buffer.from(full[piece] as Buffer);
        bytes.writeUInt32BE(stream, 5);
        one.bytes(bytes);
      }
    }
    const kept = one.requests.reduce((sum, req) => sum + req.session.inputLength, 0);
    expect(kept).toBe(100 * 65535);
    one.frames(`DATA(1) ${'61'.repeat(100)}`);
    expect(one.reported()).toBe('RST_STREAM(1) FLOW_CONTROL_ERROR');
    // It is not kept any longer.
    expect(one.requests[0]?.session.inputLength).toBe(0);
  });

  it('cost what their bytes do, also in small pieces', () => {
    const one = new FakeHttp2({ h2_initial_window_size: 8 << 20 }).frames('POST(1 /wait)');
    const piece = frame(FRAME.DATA, 0, 1, Buffer.alloc(100));
    const before = process.cpuUsage();
    for (let i = 0; i < 60_000; i++) one.receive(piece.subarray());
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
    expect(one.requests[0]?.session.inputLength).toBe(6_000_000);
  });

  it('come to their request whole, whenever it wants them', () => {
    const one = new FakeHttp2().frames('POST(1 /wait)');
    const sent = Array.from({ length: 300 }, (_, i) =>
      String.fromCharCode(97 + (i % 26)).repeat(1 + (i % 90)),
    );
    for (const text of sent) one.frames(`DATA(1) "${text}"`);
    const got: string[] = [];
    const req = one.requests[0] as Request;
    req.attachBody(-1);
    req.body?.start({
      gathers: 0,
      connect: () => undefined,
      write: (piece) => {
        got.push(Buffer.concat(piece.parts as Buffer[]).toString('latin1'));
        return 'more';
      },
      end: () => 'more',
      flush: () => undefined,
      abort: () => undefined,
    });
    expect(got.join('')).toBe(sent.join(''));
  });
});

describe('GOAWAY of a client', () => {
  it('lets what was begun end, and the connection with it', () => {
    const one = new FakeHttp2().frames('GET(1 /wait) ; GOAWAY(0) #0 #0');
    expect(one.session.isOpen).toBe(true);
    const req = one.requests[0] as Request;
    req.session.stream?.head(Object.assign(new HttpMessage(Tag.RespMethod), { status: 204 }), true);
    req.ended = true;
    req.session.requestDone();
    one.settle();
    expect([one.reported(), one.session.isOpen]).toEqual(['204(1)', false]);
    expect(one.stats.sc_rem_close).toBe(1);
  });

  it('with an error ends nothing that was begun, and ends a connection on which nothing was', () => {
    expect(new FakeHttp2().frames('GET(1 /wait) ; GOAWAY(0) #99999 #2 "debug"').session.isOpen).toBe(true);
    expect(new FakeHttp2().frames('GOAWAY(0) #0 #1').session.isOpen).toBe(false);
  });
});

describe('a worker that ends', () => {
  const echo = frame(FRAME.PING, FLAG.ACK, 0, Buffer.from('shutdown'));
  const answer = (one: FakeHttp2): void => {
    const req = one.requests[0] as Request;
    req.session.stream?.head(Object.assign(new HttpMessage(Tag.RespMethod), { status: 204 }), true);
    req.ended = true;
    req.session.requestDone();
    one.settle();
  };

  it('says GOAWAY for all streams, and for the last one once the client has read that', () => {
    const one = new FakeHttp2().frames('GET(1 /wait)');
    one.session.shutdown();
    one.frames('GET(3 /three)');
    expect(one.body(3)).toBe('/three');
    one.bytes(echo).frames('GET(5 /five)');
    answer(one);
    const output = one.got.filter(({ type }) => type === FRAME.GOAWAY);
    expect(output.map(({ payload }) => payload.readUInt32BE(0))).toEqual([0x7fffffff, 3]);
    expect(one.reported()).toContain('RST_STREAM(5) REFUSED_STREAM');
    expect(one.session.isOpen).toBe(false);
    expect(one.stats.h2_goaway_graceful).toBe(1);
    expect(one.stats.sc_resp_close).toBe(1);
  });

  it('does not wait for an echo of PING longer than a second', () => {
    const one = new FakeHttp2();
    one.session.shutdown();
    one.pass(0.5);
    expect(one.session.isOpen).toBe(true);
    one.pass(0.5);
    expect(one.session.isOpen).toBe(false);
  });

  it('sends GOAWAY to a client that has just sent its preface', () => {
    const one = new FakeHttp2({}, false);
    one.session.shutdown();
    one.bytes(Buffer.concat([PREFACE, settingsFrame()]));
    expect(one.got.filter(({ type }) => type === FRAME.GOAWAY)).toHaveLength(1);
  });
});

describe('the preface', () => {
  it.each([
    ['after a request of HTTP/1', get('/one')],
    ['after a blank line', '\r\n'],
  ])('is none %s', (_name, first) => {
    const one = new FakeHttp2({}, false);
    one.receive(first);
    one.bytes(PREFACE);
    expect(one.ran.at(-1)).toBe('*');
    expect(one.got).toHaveLength(0);
  });
});

describe('a request with length 0 whose stream stays open', () => {
  const OPEN = 'POST(1) {content-length=0}';

  it('begins when its stream ends, and not before', () => {
    const one = new FakeHttp2().frames(OPEN);
    expect(one.requests).toHaveLength(0);
    one.frames('DATA(1)');
    expect(one.requests).toHaveLength(0);
    one.frames('DATA(1 END_STREAM)');
    expect(one.requests).toHaveLength(1);
    expect(one.reported()).toContain('200(1)');
  });

  it.each([
    ['sends a byte', (one: FakeHttp2) => one.frames('DATA(1) 61'), 'RST_STREAM(1) PROTOCOL_ERROR'],
    ['says no more', (one: FakeHttp2) => afterSeconds(one, 5), 'RST_STREAM(1) CANCEL'],
    ['takes it back', (one: FakeHttp2) => one.frames('RST_STREAM(1) #8'), 'nothing'],
    ['goes', (one: FakeHttp2) => one.session.lost(), 'nothing'],
  ])('never begins where its client %s', (_name, act, output) => {
    const one = new FakeHttp2().frames(OPEN);
    act(one);
    one.settle();
    expect(one.requests).toHaveLength(0);
    expect(one.reported()).toBe(output);
    expect(one.stats.refused_length_zero).toBe(1);
    expect(one.session.running).toBe(0);
  });
});
