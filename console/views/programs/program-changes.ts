// The changes from one program to another, file by file under their names. The main files are compared with each other
// whatever they are called, every other file with the one of the same name. Files that are the same are only counted.

import type { ToneLine } from '../../model/panel.ts';
import type { ProgramFile } from '../../model/program-files.ts';
import { type DiffLine, diffLines, lineDiff, wholeText } from './line-diff.ts';

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
  const said = changed.length === 0 ? 'No difference' : 'The same';
  return [...lines, [{ text: `${said} in ${same === 1 ? '1 file' : `${same} files`}.`, tone: 'muted' }]];
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
