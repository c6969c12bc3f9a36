// The files a program was compiled from, as `vcl.show -v` lists them: the main file first, then what it includes, the
// builtin program last. A file that is included twice is listed twice; here it stands once.

export interface ProgramFile {
  name: string;
  text: string;
}

const HEAD = /\/\/ VCL\.SHOW \d+ (\d+) ([^\n]*)\n/y;

/** [] where the answer is not of that form. Lengths in it are bytes. */
export function programFiles(answer: string): ProgramFile[] {
  const bytes = Buffer.from(answer);
  // A character a byte, so that offsets are the same in both.
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
