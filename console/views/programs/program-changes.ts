// The changes from one program to another, by file and line, each with a few unchanged lines around it. Main files are
// compared with each other whatever their names, other files by name. Texts that differ too much to compare in time are
// shown as replaced as a whole.

import { diffArrays } from 'diff';
import type { ProgramFile } from '../../model/session/program-files.ts';
import type { ToneLine } from '../../model/ui/panel.ts';

export interface DiffLine {
  kind: 'same' | 'gone' | 'new' | 'skip';
  text: string;
  /** Line number in its text, from 1; for `new` and `same` in the newer one. */
  line: number;
}

/** Time limit in milliseconds, too short for an operator to notice. */
const DIFF_TIMEOUT_MS = 200;

/** [] if the texts are equal. `context` lines are kept around each change. */
export function lineDiff(before: string, after: string, context = 3): DiffLine[] {
  const a = before.replace(/\n$/, '').split('\n');
  const b = after.replace(/\n$/, '').split('\n');
  const parts = diffArrays(a, b, { timeout: DIFF_TIMEOUT_MS }) ?? [
    { value: a, removed: true, added: false },
    { value: b, removed: false, added: true },
  ];
  if (parts.every((part) => !part.added && !part.removed)) return [];
  const all: DiffLine[] = [];
  let old = 0;
  let now = 0;
  for (const { value, removed, added } of parts) {
    for (const text of value) {
      if (!added) old++;
      if (!removed) now++;
      all.push({
        kind: added ? 'new' : removed ? 'gone' : 'same',
        text,
        line: removed ? old : now,
      });
    }
  }
  return around(all, context);
}

/** All lines of a text that has no counterpart. */
function wholeText(kind: 'new' | 'gone', text: string): DiffLine[] {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.map((line, i) => ({ kind, text: line, line: i + 1 }));
}

function around(all: readonly DiffLine[], context: number): DiffLine[] {
  const near = new Uint8Array(all.length);
  for (const [i, line] of all.entries()) {
    if (line.kind !== 'same') near.fill(1, Math.max(0, i - context), Math.min(all.length, i + context + 1));
  }
  const out: DiffLine[] = [];
  let skipped = 0;
  const skip = (): void => {
    if (skipped > 0) out.push({ kind: 'skip', text: `${skipped} lines unchanged`, line: 0 });
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

/** Marks repeat the information of the colours. */
function diffLines(diff: readonly DiffLine[]): ToneLine[] {
  return diff.map((d): ToneLine => {
    if (d.kind === 'skip') return [{ text: `      ... ${d.text} ...`, tone: 'faint' }];
    const mark = d.kind === 'gone' ? '-' : d.kind === 'new' ? '+' : ' ';
    const tone = d.kind === 'gone' ? 'bad' : d.kind === 'new' ? 'good' : 'muted';
    return [
      { text: `${String(d.line).padStart(5)} `, tone: 'faint', fixed: true },
      { text: `${mark} `, tone, fixed: true },
      { text: d.text, tone },
    ];
  });
}

export interface Program {
  name: string;
  files: readonly ProgramFile[];
}

interface FileChange {
  title: string;
  diff: readonly DiffLine[];
}

export function programChanges(before: Program, after: Program): ToneLine[] {
  const all = fileChanges(before, after);
  const changed = all.filter(({ diff }) => diff.length > 0);
  const same = all.length - changed.length;
  const lines = changed.flatMap(({ title, diff }): ToneLine[] => [
    [{ text: title, tone: 'title' }],
    ...diffLines(diff),
    [],
  ]);
  if (same === 0) return lines.slice(0, -1);
  const label = changed.length === 0 ? 'No difference' : 'The same';
  return [...lines, [{ text: `${label} in ${same === 1 ? '1 file' : `${same} files`}.`, tone: 'muted' }]];
}

function fileChanges(before: Program, after: Program): FileChange[] {
  const left = [...before.files];
  const main = left.shift();
  const former = (name: string, i: number): ProgramFile | undefined => {
    const at = left.findIndex((file) => file.name === name);
    return i === 0 ? main : at < 0 ? undefined : left.splice(at, 1)[0];
  };
  const changes = after.files.map((file, i): FileChange => {
    const old = former(file.name, i);
    if (old === undefined)
      return { title: `${file.name}: only in ${after.name}`, diff: wholeText('new', file.text) };
    const title = old.name === file.name ? file.name : `${file.name}, in ${before.name} ${old.name}`;
    return { title, diff: lineDiff(old.text, file.text) };
  });
  const gone = left.map(
    ({ name, text }): FileChange => ({
      title: `${name}: only in ${before.name}`,
      diff: wholeText('gone', text),
    }),
  );
  return [...changes, ...gone];
}
