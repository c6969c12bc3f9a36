import { expect, it } from 'vitest';
import { keep, type LentBytes } from '../../../../daemon/http1/lent-bytes.ts';
import { FRAME, FRAME_HEADER, putFrame } from '../../../../daemon/http2/frames.ts';
import { FrameReader, type FrameUser } from '../../../../daemon/net/http2/frame-reader.ts';

function frameOf(type: number, flags: number, stream: number, payload: string): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER + payload.length);
  bytes.write(payload, putFrame(bytes, 0, payload.length, type, flags, stream), 'latin1');
  return bytes;
}

class Seen implements FrameUser {
  readonly frames: string[] = [];
  takesFrames = true;
  /** Frames after which no more are taken. */
  most = Number.POSITIVE_INFINITY;

  frame(type: number, flags: number, stream: number, buf: LentBytes, start: number, end: number): void {
    this.frames.push(`${type} ${flags} ${stream} ${keep(buf, start, end).toString('latin1')}`);
    if (this.frames.length >= this.most) this.takesFrames = false;
  }

  frameTooLong(length: number, type: number): void {
    this.frames.push(`too long: ${type} ${length}`);
    this.takesFrames = false;
  }
}

const THREE = Buffer.concat([
  frameOf(FRAME.SETTINGS, 0, 0, ''),
  frameOf(FRAME.DATA, 1, 0x7fffffff, 'hello'),
  frameOf(FRAME.PING, 1, 0, '12345678'),
]);
const READ = ['4 0 0 ', '0 1 2147483647 hello', '6 1 0 12345678'];

it('reads frames wherever the pieces are cut', () => {
  for (let cut = 0; cut <= THREE.length; cut++) {
    const user = new Seen();
    const reader = new FrameReader(user, 16384);
    expect(reader.read(THREE, 0, cut)).toBe(cut);
    expect(reader.read(THREE, cut, THREE.length)).toBe(THREE.length);
    expect(user.frames).toEqual(READ);
  }
});

it('reads frames byte by byte', () => {
  const user = new Seen();
  const reader = new FrameReader(user, 16384);
  for (let i = 0; i < THREE.length; i++) reader.read(THREE, i, i + 1);
  expect(user.frames).toEqual(READ);
});

it('leaves the reserved bit of a stream out', () => {
  const user = new Seen();
  const bytes = frameOf(FRAME.DATA, 0, 3, 'x');
  bytes[5] = (bytes[5] as number) | 0x80;
  new FrameReader(user, 16384).read(bytes, 0, bytes.length);
  expect(user.frames).toEqual(['0 0 3 x']);
});

it('stops when its user pauses it, and resumes at the same place', () => {
  const user = new Seen();
  user.most = 1;
  const reader = new FrameReader(user, 16384);
  const at = reader.read(THREE, 0, THREE.length);
  expect([at, user.frames.length]).toEqual([FRAME_HEADER, 1]);
  user.takesFrames = true;
  user.most = Number.POSITIVE_INFINITY;
  reader.read(THREE, at, THREE.length);
  expect(user.frames).toEqual(READ);
});

it.each([1, 5, 9, 20])('refuses a frame that is too long by its first bytes, read %i at a time', (step) => {
  const user = new Seen();
  const reader = new FrameReader(user, 16384);
  const header = Buffer.alloc(20);
  putFrame(header, 0, 16385, FRAME.DATA, 0, 1);
  for (let at = 0; at < header.length; at += step)
    reader.read(header, at, Math.min(header.length, at + step));
  expect(user.frames).toEqual(['too long: 0 16385']);
});
