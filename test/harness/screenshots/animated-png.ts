// Animated PNGs (the APNG extension of the PNG specification, third edition): the first frame whole, of each other one only the
// rectangle that changed. Viewers that know no animation show the first.

import { crc32, deflateSync } from 'node:zlib';

export interface Frame {
  /** RGBA, row by row. */
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly ms: number;
}

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Frames of one size; repeats for ever. */
export function animatedPng(frames: readonly Frame[]): Buffer {
  const first = frames[0];
  if (first === undefined || frames.some((f) => f.width !== first.width || f.height !== first.height))
    throw new Error('an animation needs frames, all of one size');
  const chunks = [
    SIGNATURE,
    chunk('IHDR', words(first.width, first.height), Buffer.from([8, 6, 0, 0, 0])),
    chunk('acTL', words(frames.length, 0)),
  ];
  let sequence = 0;
  frames.forEach((frame, i) => {
    const before = frames[i - 1];
    const area = before === undefined ? whole(frame) : changed(before, frame);
    const { x, y, width, height } = area;
    const control = Buffer.alloc(6);
    control.writeUInt16BE(frame.ms, 0);
    control.writeUInt16BE(1000, 2);
    chunks.push(chunk('fcTL', words(sequence++, width, height, x, y), control));
    const data = compressed(frame, area);
    chunks.push(i === 0 ? chunk('IDAT', data) : chunk('fdAT', words(sequence++), data));
  });
  return Buffer.concat([...chunks, chunk('IEND')]);
}

function whole({ width, height }: Frame): Area {
  return { x: 0, y: 0, width, height };
}

/** The smallest rectangle outside of which nothing changed; one pixel at least. */
function changed(before: Frame, after: Frame): Area {
  const { width, height } = after;
  const [a, b] = [before, after].map(
    ({ pixels }) => new Uint32Array(pixels.buffer, pixels.byteOffset, width * height),
  ) as [Uint32Array, Uint32Array];
  let [left, right, top, bottom] = [width, -1, height, -1];
  for (let at = 0; at < a.length; at++) {
    if (a[at] === b[at]) continue;
    const x = at % width;
    const y = (at - x) / width;
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = y;
  }
  if (right < 0) return { x: 0, y: 0, width: 1, height: 1 };
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** The rows of the rectangle, each as the difference to the one above: most are alike. */
function compressed({ pixels, width: stride }: Frame, { x, y, width, height }: Area): Buffer {
  const row = width * 4;
  const out = Buffer.alloc((row + 1) * height);
  for (let line = 0; line < height; line++) {
    const from = ((y + line) * stride + x) * 4;
    const to = line * (row + 1);
    out[to] = line === 0 ? 0 : 2;
    for (let i = 0; i < row; i++) {
      const above = line === 0 ? 0 : (pixels[from - stride * 4 + i] as number);
      out[to + 1 + i] = (pixels[from + i] as number) - above;
    }
  }
  return deflateSync(out, { level: 9 });
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, i) => void bytes.writeUInt32BE(value, i * 4));
  return bytes;
}

function chunk(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), ...parts]);
  return Buffer.concat([words(body.length - 4), body, words(crc32(body))]);
}
