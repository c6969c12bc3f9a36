// Clients of HTTP/2 that cost more than they bring: each is closed with the right code, counted, and logged in words.
// The bound is how much of such a flood is taken before the connection ends.
import { describe, expect, it } from 'vitest';
import type { MainCounters } from '../../../daemon/stats/counter-fields.ts';
import { hpackInteger, hpackLiterals } from '../../harness/hpack-text.ts';
import { FLAG, FRAME, frame } from '../../harness/http2-frames.ts';
import { bytesOfFrames } from '../../harness/http2-notation.ts';
import { FakeHttp2 } from './fake-http2.ts';

/** Frames of no use at once, and in a second; chosen in patience.ts. */
const AT_ONCE = 2000;
const A_SECOND = 100;

interface Flood {
  readonly name: string;
  readonly first?: string;
  readonly each: string;
  readonly counter: keyof MainCounters;
  readonly words: string;
  /** Frames that are borne at once; AT_ONCE unless something else is the limit. */
  readonly borne?: number;
}

const idle = 'GET(1 /wait)';
const closed = 'POST(1 /done) ; RST_STREAM(1) #8 ; POST(3) {x=%00}';

// biome-ignore format: a row is a line
const FLOODS: readonly Flood[] = [
  { name: 'SETTINGS', each: 'SETTINGS(0)', counter: 'h2_flood_settings', words: 'too many SETTINGS frames' },
  { name: 'SETTINGS of many settings', each: 'SETTINGS(0) [1=0 1=4096 1=0 1=4096 1=0 1=4096 1=0 1=4096 1=0]', counter: 'h2_flood_settings', words: 'too many SETTINGS frames', borne: 200 },
  { name: 'SETTINGS that resize every window', first: idle, each: 'SETTINGS(0) [4=0 4=65535]', counter: 'h2_flood_settings', words: 'too many SETTINGS frames', borne: 667 },
  { name: 'acknowledged SETTINGS', each: 'SETTINGS(0 ACK)', counter: 'h2_flood_settings', words: 'too many SETTINGS frames' },
  { name: 'PING', each: 'PING(0) "abcdefgh"', counter: 'h2_flood_ping', words: 'too many PING frames' },
  { name: 'answers to PING', each: 'PING(0 ACK) "abcdefgh"', counter: 'h2_flood_ping', words: 'too many PING frames' },
  { name: 'PRIORITY', first: idle, each: 'PRIORITY(1) #0 10', counter: 'h2_flood_priority', words: 'too many PRIORITY frames' },
  { name: 'PRIORITY of streams to come', each: 'PRIORITY(9999) #0 10', counter: 'h2_flood_priority', words: 'too many PRIORITY frames' },
  { name: 'PRIORITY_UPDATE', first: idle, each: 'PRIORITY_UPDATE(0) #1 "u=1"', counter: 'h2_flood_priority', words: 'too many PRIORITY_UPDATE frames' },
  { name: 'WINDOW_UPDATE of the connection', first: idle, each: 'WINDOW_UPDATE(0) #1', counter: 'h2_flood_window', words: 'too many WINDOW_UPDATE frames' },
  { name: 'WINDOW_UPDATE of a stream', first: idle, each: 'WINDOW_UPDATE(1) #1', counter: 'h2_flood_window', words: 'too many WINDOW_UPDATE frames' },
  { name: 'WINDOW_UPDATE of a closed stream', first: 'GET(1 /)', each: 'WINDOW_UPDATE(1) #1', counter: 'h2_flood_window', words: 'too many WINDOW_UPDATE frames' },
  { name: 'empty DATA', first: 'POST(1 /wait)', each: 'DATA(1)', counter: 'h2_flood_data', words: 'too many DATA frames' },
  { name: 'DATA of padding', first: 'POST(1 /up)', each: 'DATA(1 PADDED) 05 5*00', counter: 'h2_flood_data', words: 'too many DATA frames' },
  { name: 'DATA of one byte', first: 'POST(1 /up)', each: 'DATA(1) 61', counter: 'h2_flood_data', words: 'too many DATA frames', borne: 8000 },
  { name: 'the end of a stream that was reset, again and again', first: closed, each: 'DATA(3 END_STREAM)', counter: 'h2_flood_data', words: 'too many DATA frames' },
  { name: 'large DATA of a stream that was reset', first: closed, each: 'DATA(3) 100*00', counter: 'h2_flood_data', words: 'too many DATA frames' },
  { name: 'HEADERS of a stream that was reset', first: closed, each: 'HEADERS(3 END_HEADERS) 82', counter: 'h2_flood_other', words: 'too many HEADERS frames' },
  { name: 'RST_STREAM of a closed stream', first: 'GET(1 /)', each: 'RST_STREAM(1) #8', counter: 'h2_flood_other', words: 'too many RST_STREAM frames' },
  { name: 'GOAWAY', first: idle, each: 'GOAWAY(0) #0 #0', counter: 'h2_flood_other', words: 'too many GOAWAY frames' },
  { name: 'frames of no known type', each: 'FRAME22(0) 00', counter: 'h2_flood_other', words: 'too many frame type 22 frames' },
  { name: 'empty CONTINUATION', first: 'HEADERS(1 END_STREAM) 82', each: 'CONTINUATION(1)', counter: 'h2_flood_continuation', words: 'too long a header block', borne: 63 },
  { name: 'CONTINUATION of one byte', first: 'HEADERS(1 END_STREAM) 82', each: 'CONTINUATION(1) 82', counter: 'h2_flood_continuation', words: 'too long a header block', borne: 63 },
  { name: 'large CONTINUATION', first: 'HEADERS(1 END_STREAM) 82', each: 'CONTINUATION(1) 16384*82', counter: 'h2_flood_continuation', words: 'too long a header block', borne: 3 },
];

/** Sends a frame until the connection ends; how many it took. */
function flood(one: FakeHttp2, each: Buffer, most: number): number {
  for (let sent = 0; sent < most; sent++) {
    if (!one.session.isOpen) return sent;
    one.receive(each);
  }
  return most;
}

describe('a flood', () => {
  it.each(FLOODS)(
    'of $name ends its connection, and is counted and logged',
    ({ first, each, counter, words, borne = AT_ONCE }) => {
      const one = new FakeHttp2();
      if (first !== undefined) one.frames(first);
      const taken = flood(one, bytesOfFrames(each), AT_ONCE * 5);
      one.settle();
      expect(Math.abs(taken - borne)).toBeLessThanOrEqual(8);
      expect(one.reported()).toMatch(/GOAWAY ENHANCE_YOUR_CALM$/);
      expect(one.stats[counter]).toBe(1);
      expect(one.stats.h2_goaway_calm).toBe(1);
      expect(one.stats.sc_overload).toBe(1);
      expect(one.records.join('\n')).toContain(`HTTP/2 ENHANCE_YOUR_CALM: ${words}`);
    },
  );

  it('is none where the same frames come at an ordinary pace', () => {
    for (const { first, each, borne } of FLOODS) {
      if (borne !== undefined) continue;
      const one = new FakeHttp2();
      if (first !== undefined) one.frames(first);
      const bytes = bytesOfFrames(each);
      // The request that some need is idle for longer than such a one may be.
      for (let second = 0; second < 60 && one.session.isOpen; second++) {
        one.now++;
        flood(one, bytes, A_SECOND * 0.9);
      }
      expect(one.session.isOpen, each).toBe(true);
    }
  });

  it('is none where a client gives back the window of each of many small answers', () => {
    const one = new FakeHttp2();
    for (let i = 0; i < 20_000; i++)
      one.receive(
        bytesOfFrames(`GET(${2 * i + 1} /a) ; WINDOW_UPDATE(0) #2 ; WINDOW_UPDATE(${2 * i + 1}) #2`),
      );
    one.settle();
    expect(one.session.isOpen).toBe(true);
    expect(one.ran).toHaveLength(20_000);
  });
});

describe('resets', () => {
  /** Ways to have a stream reset from here (CVE-2025-8671), and by the client (CVE-2023-44487); § is the stream. */
  const WAYS: readonly [name: string, frames: string, counter: keyof MainCounters][] = [
    ['by the client', 'GET(§ /wait) ; RST_STREAM(§) #8', 'h2_flood_reset'],
    ['by the client, of what has been answered', 'GET(§ /x) ; RST_STREAM(§) #8', 'h2_flood_reset'],
    ['an upload, by the client', 'POST(§ /up) ; RST_STREAM(§) #8', 'h2_flood_reset'],
    ['for a window of nothing', 'GET(§ /wait) ; WINDOW_UPDATE(§) #0', 'h2_flood_error'],
    ['for a window that is too large', 'GET(§ /wait) ; WINDOW_UPDATE(§) #0x7fffffff', 'h2_flood_error'],
    ['for PRIORITY of another length', 'GET(§ /wait) ; PRIORITY(§) #0', 'h2_flood_error'],
    ['for DATA after the end', 'GET(§ /wait) ; DATA(§) 61', 'h2_flood_error'],
    ['for HEADERS after the end', 'GET(§ /wait) ; HEADERS(§ END_HEADERS+END_STREAM) {x=1}', 'h2_flood_error'],
    ['for trailers that end nothing', 'POST(§ /up) ; HEADERS(§ END_HEADERS) {x=1}', 'h2_flood_error'],
    [
      'for a pseudo-header in trailers',
      'POST(§ /up) ; HEADERS(§ END_HEADERS+END_STREAM) {:path=/}',
      'h2_flood_error',
    ],
    ['for too much DATA', 'POST(§ /up) {content-length=1} ; DATA(§) 6161', 'h2_flood_error'],
    ['for too little DATA', 'POST(§ /up) {content-length=9} ; DATA(§ END_STREAM) 61', 'h2_flood_error'],
    ['for a malformed head', 'GET(§ /x) {X=1}', 'h2_flood_error'],
    ['for a length without a body', 'GET(§ /x) {content-length=1}', 'h2_flood_error'],
    ['for a window of a stream that is over', 'GET(§ /x) ; WINDOW_UPDATE(§) #0', 'h2_flood_error'],
  ];

  it.each(WAYS)(
    '%s: a hundred in a minute are borne, and no more requests are begun',
    (_name, frames, counter) => {
      const one = new FakeHttp2();
      for (let i = 0; i < 1000 && one.session.isOpen; i++)
        one.frames(frames.replaceAll('§', String(2 * i + 1)));
      expect(one.stats.h2_streams).toBe(101);
      expect(one.stats[counter]).toBe(1);
      expect(one.stats.sc_rapid_reset).toBe(1);
      expect(one.reported()).toMatch(/GOAWAY ENHANCE_YOUR_CALM$/);
      expect(one.records.join('\n')).toContain(
        'HTTP/2 ENHANCE_YOUR_CALM: too many streams were begun and reset',
      );
      // Whatever was running has been given up.
      expect(one.requests.every((req) => req.ended)).toBe(true);
    },
  );

  it.each(WAYS)('%s: a few in each minute are borne for ever', (_name, frames) => {
    const one = new FakeHttp2();
    for (let i = 0; i < 1000 && one.session.isOpen; i++) {
      one.now += 0.7;
      one.frames(frames.replaceAll('§', String(2 * i + 1)));
    }
    expect(one.session.isOpen).toBe(true);
  });

  it('leave a request counted for as long as it runs, whoever has reset it', () => {
    const one = new FakeHttp2({ h2_max_concurrent_streams: 10 });
    // Requests that can no longer be stopped.
    one.answer = () => undefined;
    for (let i = 0; i < 30; i++) one.frames(`GET(${2 * i + 1} /slow) ; RST_STREAM(${2 * i + 1}) #8`);
    expect(one.ran).toHaveLength(10);
    expect(one.stats.h2_streams_refused).toBe(20);
    expect(one.reported()).toContain('RST_STREAM(21) REFUSED_STREAM');
  });
});

describe('a header block', () => {
  /** HEADERS and CONTINUATIONs of a stream. */
  const blocks = (stream: number, block: Buffer): Buffer[] => {
    const pieces: Buffer[] = [];
    for (let at = 0; at < block.length; at += 16384) {
      const isLast = at + 16384 >= block.length;
      const flags = (at === 0 ? FLAG.END_STREAM : 0) | (isLast ? FLAG.END_HEADERS : 0);
      pieces.push(
        frame(at === 0 ? FRAME.HEADERS : FRAME.CONTINUATION, flags, stream, block.subarray(at, at + 16384)),
      );
    }
    return pieces;
  };
  const pseudo = hpackLiterals([
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/bomb'],
    [':authority', 'a'],
  ]);
  const indexing = (name: string, value: string): Buffer =>
    Buffer.concat([Buffer.from([0x40]), hpackLiterals([[name, value]]).subarray(1)]);

  it.each([
    ['of cookies', 'cookie'],
    ['of any field', 'x-any'],
  ])('that unpacks into 200 MiB %s costs what its bytes do, and its stream is reset', (_name, field) => {
    const one = new FakeHttp2();
    // One entry of nearly 4 KiB, and as many references to it as a block may have.
    const block = Buffer.concat([pseudo, indexing(field, 'v'.repeat(4000)), Buffer.alloc(60_000, 0xbe)]);
    const before = process.cpuUsage();
    const heap = process.memoryUsage();
    for (const bytes of blocks(1, block)) one.receive(bytes);
    one.settle();
    const used = process.memoryUsage();
    const { user } = process.cpuUsage(before);
    expect(one.reported()).toBe('RST_STREAM(1) ENHANCE_YOUR_CALM');
    expect(one.stats.h2_flood_hpack).toBe(1);
    expect(one.ran).toEqual([]);
    expect(user).toBeLessThan(500_000);
    expect(used.heapUsed + used.external - heap.heapUsed - heap.external).toBeLessThan(16 << 20);
    // The table has stayed in step, and others are served.
    expect(one.frames('GET(3 /next)').reported()).toMatch(/200\(3\)$/);
  });

  it('that comes again and again as a bomb ends the connection', () => {
    const one = new FakeHttp2();
    const bomb = Buffer.concat([pseudo, indexing('x-any', 'v'.repeat(4000)), Buffer.alloc(100, 0xbe)]);
    for (let i = 0; i < 500 && one.session.isOpen; i++) one.bytes(Buffer.concat(blocks(2 * i + 1, bomb)));
    expect(one.stats.h2_flood_hpack).toBe(101);
    expect(one.stats.h2_flood_error).toBe(1);
    expect(one.reported()).toMatch(/GOAWAY ENHANCE_YOUR_CALM$/);
  });

  it('that throws the whole table out for each field costs what its bytes do', () => {
    const one = new FakeHttp2();
    const thrash = Buffer.concat(Array.from({ length: 4000 }, (_, i) => indexing(`x${i % 7}`, '')));
    const wipe = Buffer.concat([hpackInteger(0, 5, 0x20), hpackInteger(4096, 5, 0x20)]);
    const before = process.cpuUsage();
    for (let i = 0; i < 50; i++) one.bytes(Buffer.concat(blocks(2 * i + 1, Buffer.concat([wipe, thrash]))));
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
    expect(one.ran).toEqual([]);
  });

  it('of which half comes is waited for no longer than for any head, however slowly the rest does', () => {
    const one = new FakeHttp2().frames('GET(1 /wait) ; HEADERS(3 END_STREAM) 82');
    for (let i = 0; i < 4; i++) {
      one.frames('CONTINUATION(3) 84');
      one.pass(1.2);
    }
    expect(one.session.isOpen).toBe(true);
    one.pass(1.2);
    expect(one.session.isOpen).toBe(false);
    expect(one.stats.sc_rx_timeout).toBe(1);
  });
});
