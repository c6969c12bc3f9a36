// The changes from one text to another, line by line, with a few lines around them. Pure; for programs of some
// thousand lines. Beyond that the middle is shown as replaced as a whole, which is true if not short.

import type { ToneLine } from './list-view.ts';

export interface DiffLine {
  kind: 'same' | 'gone' | 'new' | 'skip';
  text: string;
  /** Line number in the text it belongs to, from 1; of `new` and `same` in the newer one. */
  line: number;
}

const CELLS = 4_000_000;

/** [] when the texts are the same. `context` lines are kept around each change. */
export function lineDiff(before: string, after: string, context = 3): DiffLine[] {
  const a = before.replace(/\n$/, '').split('\n');
  const b = after.replace(/\n$/, '').split('\n');
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  if (head === a.length && head === b.length) return [];
  const all: DiffLine[] = [
    ...b.slice(0, head).map((text, i): DiffLine => ({ kind: 'same', text, line: i + 1 })),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), head),
    ...b
      .slice(b.length - tail)
      .map((text, i): DiffLine => ({ kind: 'same', text, line: b.length - tail + i + 1 })),
  ];
  return around(all, context);
}

function middle(a: readonly string[], b: readonly string[], offset: number): DiffLine[] {
  const out: DiffLine[] = [];
  const gone = (i: number): DiffLine => ({ kind: 'gone', text: a[i] as string, line: offset + i + 1 });
  const added = (j: number): DiffLine => ({ kind: 'new', text: b[j] as string, line: offset + j + 1 });
  if (a.length * b.length > CELLS) return [...a.map((_l, i) => gone(i)), ...b.map((_l, j) => added(j))];
  // Longest common run from each place to the end, row by row of a table.
  const width = b.length + 1;
  const length = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] =
        a[i] === b[j]
          ? (length[(i + 1) * width + j + 1] as number) + 1
          : Math.max(length[(i + 1) * width + j] as number, length[i * width + j + 1] as number);
    }
  }
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: 'same', text: b[j] as string, line: offset + j + 1 });
      i++;
      j++;
    } else if (
      j >= b.length ||
      (i < a.length && (length[(i + 1) * width + j] as number) >= (length[i * width + j + 1] as number))
    )
      out.push(gone(i++));
    else out.push(added(j++));
  }
  return out;
}

function around(all: readonly DiffLine[], context: number): DiffLine[] {
  const near = new Uint8Array(all.length);
  for (const [i, line] of all.entries()) {
    if (line.kind !== 'same') near.fill(1, Math.max(0, i - context), Math.min(all.length, i + context + 1));
  }
  const out: DiffLine[] = [];
  let skipped = 0;
  const skip = (): void => {
    if (skipped > 0) out.push({ kind: 'skip', text: `${skipped} lines the same`, line: 0 });
    skipped = 0;
  };
  for (const [i, line] of all.entries()) {
    if (near[i] === 0) skipped++;
    else {
      skip();
      out.push(line);
    }
  }
  skip();
  return out;
}

/** Marks tell what the colours tell. */
export function diffLines(diff: readonly DiffLine[]): ToneLine[] {
  if (diff.length === 0) return [[{ text: 'No difference.', tone: 'muted' }]];
  return diff.map((d): ToneLine => {
    if (d.kind === 'skip') return [{ text: `      ... ${d.text} ...`, tone: 'faint' }];
    const mark = d.kind === 'gone' ? '-' : d.kind === 'new' ? '+' : ' ';
    const tone = d.kind === 'gone' ? 'bad' : d.kind === 'new' ? 'good' : 'muted';
    return [
      { text: `${String(d.line).padStart(5)} `, tone: 'faint' },
      { text: `${mark} ${d.text}`, tone },
    ];
  });
}
