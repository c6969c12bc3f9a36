// A histogram as lines of a screen: columns of hits (|) below misses (#), the value of one mark and the total in the
// first line, powers of ten at the bottom.

import { type Histogram, RESOLUTION } from './histogram.ts';

export function histogramLines(h: Histogram, title: string, rows: number, columns: number): string[] {
  const { min, max } = h.profile;
  const height = Math.max(rows - 3, 1);
  const width = Math.max(columns, max - min);
  const hits = new Array<number>(width).fill(0);
  const misses = new Array<number>(width).fill(0);
  for (const [i, n] of h.hits.entries()) {
    const x = Math.floor((i * width) / h.hits.length);
    hits[x] = (hits[x] as number) + n;
    misses[x] = (misses[x] as number) + (h.misses[i] as number);
  }
  const most = Math.max(0, ...hits.map((n, x) => n + (misses[x] as number)));
  const scale = Math.max(1, Math.ceil(most / height));
  const head = `1:${scale}, n = ${h.size}`;
  const lines = [head + title.padStart(Math.max(columns - head.length, title.length + 1))];
  for (let y = height; y > 0; y--) {
    let line = '';
    for (let x = 0; x < width; x++) {
      const hit = Math.ceil((hits[x] as number) / scale);
      const both = Math.ceil(((hits[x] as number) + (misses[x] as number)) / scale);
      line += y <= hit ? '|' : y <= both ? '#' : ' ';
    }
    lines.push(line.trimEnd());
  }
  return [...lines, ...axis(min, max, width)].map((line) => line.slice(0, columns));
}

function axis(min: number, max: number, width: number): string[] {
  const ticks = new Array<string>(width).fill('-');
  let labels = '';
  for (let power = min; power < max; power++) {
    const x = Math.floor(((power - min) * RESOLUTION * width) / ((max - min) * RESOLUTION));
    ticks[x] = '+';
    if (labels.length <= x) labels = `${labels.padEnd(x)}|1e${power}`;
  }
  return [ticks.join(''), labels];
}
