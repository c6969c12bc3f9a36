// The files a program was compiled from, as `vcl.show -v` lists them: the main file first, then its includes, the builtin
// program last; a file that is included twice is listed twice there, and once here. They can be joined into one text, each
// include replaced by the file as the daemon has it, not as it may be on disk by now.

import { posix } from 'node:path';

export interface ProgramFile {
  name: string;
  text: string;
}

const HEAD = /\/\/ VCL\.SHOW \d+ (\d+) ([^\n]*)\n/y;

/** [] where the answer has another form. Lengths in it are bytes. */
export function programFiles(answer: string): ProgramFile[] {
  const bytes = Buffer.from(answer);
  // One character per byte, so that offsets agree.
  const text = bytes.toString('latin1');
  const files: ProgramFile[] = [];
  for (let at = 0; at < text.length; ) {
    HEAD.lastIndex = at;
    const head = HEAD.exec(text);
    if (head === null) break;
    const end = HEAD.lastIndex + Number(head[1]);
    const file = {
      name: Buffer.from(head[2] ?? '', 'latin1').toString(),
      text: bytes.toString('utf8', HEAD.lastIndex, end),
    };
    if (!files.some((f) => f.name === file.name && f.text === file.text)) files.push(file);
    at = end + 1;
  }
  return files;
}

/** Comments and strings, in which there is no include, and includes. A long string ends at its own delimiter. */
const PIECES =
  /(?:\/\/|#)[^\n]*|\/\*[\s\S]*?\*\/|"""[\s\S]*?"""|\{"[\s\S]*?"\}|\binclude\b\s*(\+glob\b\s*)?"([^"\n]*)"\s*;|"[^"\n]*"/g;
/** An included file may repeat the version. */
const VERSION = /^((?:\s|\/\/[^\n]*\n|#[^\n]*\n|\/\*[\s\S]*?\*\/)*)vcl\s+4\.\d+\s*;/;

/** The text of an answer to `vcl.show -v`; null where it is not understood, or an include is not among the files. */
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

/** Relative to the including file, by its whole path, or in a folder of the daemon's vcl_path. */
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
