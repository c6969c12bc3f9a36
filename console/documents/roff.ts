// Manual pages in the man macros: a few building blocks that quote their text, so that nothing in it is taken for a
// request or an escape.

export interface ManPage {
  name: string;
  section: number;
  /** One line, as `whatis` shows it. */
  summary: string;
  version: string;
  /** As 2026-11-21. */
  date: string;
}

/** Source lines are kept this short. */
const WIDTH = 72;

/** Text within a line; lists without blanks may break behind a comma. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga')
    .replaceAll(/,(?=\S)/g, ',\\:');
}

/** Whole lines: none may begin like a request. */
function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => roff(line).replace(/^[.']/, '\\&$&'))
    .join('\n');
}

/** Running text, in short lines. */
function filled(text: string): string {
  const out: string[] = [];
  let line = '';
  for (const word of text.trim().split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      out.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return lines([...out, line].join('\n'));
}

export function title({ name, section, summary, version, date }: ManPage): string {
  return `.TH ${roff(name.toUpperCase())} ${section} "${date}" "proxyd ${version}" "proxyd"\n.nh\n.ad l\n.SH NAME\n${roff(name)} \\- ${roff(summary)}\n`;
}

export function heading(text: string): string {
  return `.SH ${roff(text.toUpperCase())}\n`;
}

/** To stand behind a heading. */
export function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((p) => `${filled(p)}\n`)
    .join('.PP\n');
}

/** A term in bold, what belongs to it in italics, and the text below them. */
export function item(term: string, argument: string, text: string): string {
  const tail = argument === '' ? '' : ` \\fI${roff(argument)}\\fR`;
  return `.TP\n\\fB${roff(term)}\\fR${tail}\n${text
    .trim()
    .split(/\n{2,}/)
    .map(filled)
    .join('\n.sp\n')}\n`;
}

/** Lines as they are, behind a heading. */
export function verbatim(text: string): string {
  return `.nf\n${lines(text.trimEnd())}\n.fi\n`;
}
