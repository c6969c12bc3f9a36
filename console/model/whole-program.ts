// A program of several files as one text: each include gives way to what was included, as the daemon has it and not as it
// may be on a disk by now. One that cannot be found among the files makes no program at all: half of one is none.

import { posix } from 'node:path';
import { type ProgramFile, programFiles } from './program-files.ts';

/** Comments and strings, in which an include is none, and includes. A long string ends at its own mark. */
const PIECES =
  /(?:\/\/|#)[^\n]*|\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|\{"[\s\S]*?"\}|\binclude\b\s*(\+glob\b\s*)?"([^"\n]*)"\s*;|"[^"\n]*"/g;
/** A file that is included may say its version, which is said once. */
const VERSION = /^((?:\s|\/\/[^\n]*\n|#[^\n]*\n|\/\*[\s\S]*?\*\/)*)vcl\s+4\.\d+\s*;/;

/** Of an answer to `vcl.show -v`; null where it is not understood. */
export function wholeProgram(answer: string): string | null {
  const files = programFiles(answer);
  const [main] = files;
  return main === undefined ? null : expanded(main, files, [main.name]);
}

function expanded(file: ProgramFile, files: readonly ProgramFile[], path: readonly string[]): string | null {
  let whole = true;
  const text = file.text.replace(PIECES, (piece, glob: string | undefined, name: string | undefined) => {
    if (name === undefined) return piece;
    const found = included(file, name, glob !== undefined, files);
    const inner = found.map((one) =>
      path.includes(one.name) ? null : expanded(one, files, [...path, one.name]),
    );
    if (found.length === 0 || inner.includes(null)) whole = false;
    return found.map((one, i) => `# ${one.name}\n${(inner[i] ?? '').replace(VERSION, '$1')}\n`).join('');
  });
  return whole ? text : null;
}

/** Beside the file that names it, by its whole path, or in a folder of the daemon's vcl_path. */
function included(
  { name: by }: ProgramFile,
  name: string,
  glob: boolean,
  files: readonly ProgramFile[],
): ProgramFile[] {
  const wanted = name.startsWith('./') ? posix.join(posix.dirname(by), name) : name;
  if (glob) return files.filter((file) => pattern(wanted).test(file.name));
  const found =
    files.find((file) => file.name === wanted) ?? files.find((file) => file.name.endsWith(`/${name}`));
  return found === undefined ? [] : [found];
}

function pattern(glob: string): RegExp {
  const escaped = glob.replace(/[.+^${}()|\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
}
