// Manual pages in the man macros: a few building blocks that quote their text, so that nothing in it is taken for a
// request or an escape. Running text may hold the inline marks of Markdown that our tables and README use: `code`,
// **bold** and links; they become bold letters and plain words.

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
const WIDTH = 78;

/** Where bold letters begin and end, until the text is quoted: characters that no text of ours has. */
const BOLD = '\u{e000}';
const ROMAN = '\u{e001}';

/** Text within a line; lists without blanks may break behind a comma. */
export function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('`', '\\(ga')
    .replaceAll("'", '\\(aq')
    .replaceAll(/,(?=\S)/g, ',\\:')
    .replaceAll(BOLD, '\\fB')
    .replaceAll(ROMAN, '\\fR')
    .replaceAll(/[^\0-\x7f]/gu, byNumber);
}

/** A letter beyond ASCII in a form that needs no guess about the file's encoding. */
function byNumber(letter: string): string {
  return `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The inline marks of Markdown as letters; a mark without its partner stands for itself. */
export function inline(text: string): string {
  // What stands between backticks is no Markdown: cut there first.
  return text
    .split(/(`[^`]+`)/)
    .map((part, i) => (i % 2 === 1 ? `${BOLD}${part.slice(1, -1)}${ROMAN}` : plain(part)))
    .join('');
}

function plain(text: string): string {
  return text
    .replaceAll(/!?\[([^\]]*)\]\(([^)\s]*)\)/g, (_, label: string, target: string) =>
      /^\w+:/.test(target) && target !== label ? `${label} <${target}>` : label,
    )
    .replaceAll(/\*\*(\S(?:[^*]*\S)?)\*\*/g, `${BOLD}$1${ROMAN}`);
}

/** Running text, in short lines. */
export function filled(text: string): string {
  const out: string[] = [];
  let line = '';
  for (const word of inline(text).trim().split(/\s+/).map(roff)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      out.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...out, line].map(noRequest).join('\n');
}

/** Lines as they are. */
function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => noRequest(roff(line)))
    .join('\n');
}

/** A line that begins with a dot is a request to the formatter; so would an apostrophe be, which roff() has quoted. */
function noRequest(line: string): string {
  return line.replace(/^\./, '\\&.');
}

export function title({ name, section, summary, version, date }: ManPage): string {
  return `.TH ${roff(name.toUpperCase())} ${section} "${date}" "proxyd ${version}" "proxyd"\n.nh\n.ad l\n.SH NAME\n${roff(name)} \\- ${roff(summary)}\n`;
}

export function heading(text: string): string {
  return `.SH ${roff(text.toUpperCase())}\n`;
}

/** The parts of a page as its text; right after a heading a paragraph begins by itself. */
export function joined(parts: readonly string[]): string {
  return parts.join('').replaceAll(/^(\.S[HS] .*\n)\.PP\n/gm, '$1');
}

/** To stand behind a heading. */
export function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((p) => `${filled(p)}\n`)
    .join('.PP\n');
}

/** Names in bold with a comma and a blank between them, what belongs to them in italics, and the text below:
 * paragraphs. */
export function item(term: string, argument: string, text: string): string {
  const names = term
    .replaceAll('`', '')
    .split(', ')
    .map((name) => `\\fB${roff(name)}\\fR`);
  const tail = argument === '' ? '' : ` \\fI${roff(argument)}\\fR`;
  return `.TP\n${names.join(', ')}${tail}\n${text
    .trim()
    .split(/\n{2,}/)
    .map(filled)
    .join('\n.sp\n')}\n`;
}

/** Lines as they are, a little to the right. */
export function verbatim(text: string): string {
  return `.PP\n.RS 4\n.nf\n${lines(text.trimEnd())}\n.fi\n.RE\n`;
}
