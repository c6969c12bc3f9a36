// Converts Markdown to man macros: the subset used in README sections and our own pages. Paragraphs, lists of one
// level, headings of a section, and code in fences or indented by four blanks; roff.ts handles inline marks. Anything
// else (tables, numbered and nested lists, quotations, HTML) fails the build instead of appearing raw on a page.

import { filled, roff, verbatim } from './roff.ts';

const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^\s*\|/, 'tables'],
  [/^\s*\d+[.)] /, 'numbered lists'],
  [/^ +[-*+] /, 'nested lists'],
  [/^\s*>/, 'quotations'],
  [/^\s*<\/?[a-z]/i, 'HTML'],
];

/** The text in man macros; throws on unsupported Markdown. */
export function markdown(text: string): string {
  const out: string[] = [];
  for (const block of blocks(text)) {
    const first = block[0] as string;
    if (first.startsWith('```')) out.push(verbatim(block.slice(1).join('\n')));
    else if (isCode(first)) out.push(verbatim(block.map((line) => line.slice(4)).join('\n')));
    else if (/^[-*] /.test(first)) out.push(listItem(block));
    else if (/^#+ /.test(first)) out.push(`.SS ${roff(first.replace(/^#+ /, ''))}\n`);
    else out.push(`.PP\n${filled(block.map(known).join('\n'))}\n`);
  }
  return out.join('');
}

function listItem([first = '', ...rest]: readonly string[]): string {
  return `.IP \\(bu 2\n${filled([first.slice(2), ...rest.map(known)].join('\n'))}\n`;
}

function known(line: string): string {
  for (const [pattern, name] of FOREIGN) {
    if (pattern.test(line)) {
      throw new Error(`No ${name} of Markdown in a manual page: write this line in another form: ${line}`);
    }
  }
  return line;
}

function isCode(line: string): boolean {
  return line.startsWith('    ');
}

/** Blocks of lines; a fence keeps its first line and loses its last. */
function blocks(text: string): string[][] {
  const out: string[][] = [];
  let fenced = false;
  let begin = true;
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    const fence = line.startsWith('```');
    if (fence) fenced = !fenced;
    if (fence ? !fenced : !fenced && line.trim() === '') {
      begin = true;
      continue;
    }
    if (begin || (!fenced && /^([-*]|#+) /.test(line))) out.push([]);
    out.at(-1)?.push(line);
    begin = !fenced && /^#+ /.test(line);
  }
  return out;
}
