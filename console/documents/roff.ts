// Building blocks of manual pages in man macros. They quote their text, so that nothing in it is taken for a request
// or an escape. Running text may contain the inline Markdown of our tables and README: `code`, **bold** and links
// become bold and plain text.

export interface ManPage {
  name: string;
  section: number;
  /** One line, as shown by `whatis`. */
  summary: string;
  version: string;
  /** In the form 2026-11-21. */
  date: string;
}

/** Maximum length of source lines. */
const WIDTH = 78;

/** Placeholders for the start and end of bold until the text is quoted: characters that our texts do not contain. */
const BOLD = '\u{e000}';
const ROMAN = '\u{e001}';

/** Text within a line; lists without blanks may break after a comma. */
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

/** A non-ASCII character, independent of the file's encoding. */
function byNumber(letter: string): string {
  return `\\[u${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Inline Markdown as font changes; a mark without its counterpart is literal. */
export function inline(text: string): string {
  // Text in backticks is not Markdown, so split there first.
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

/** Lines in no-fill mode. */
function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => noRequest(roff(line)))
    .join('\n');
}

/** A leading dot would be a request to the formatter; so would an apostrophe, which roff() has quoted. */
function noRequest(line: string): string {
  return line.replace(/^\./, '\\&.');
}

export function title({ name, section, summary, version, date }: ManPage): string {
  return `.TH ${roff(name.toUpperCase())} ${section} "${date}" "proxyd ${version}" "proxyd"\n.nh\n.ad l\n.SH NAME\n${roff(name)} \\- ${roff(summary)}\n`;
}

export function heading(text: string): string {
  return `.SH ${roff(text.toUpperCase())}\n`;
}

/** The parts of a page as text; no paragraph macro directly after a heading. */
export function joined(parts: readonly string[]): string {
  return parts.join('').replaceAll(/^(\.S[HS] .*\n)\.PP\n/gm, '$1');
}

/** Paragraphs to follow a heading. */
export function paragraphs(text: string): string {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((p) => `${filled(p)}\n`)
    .join('.PP\n');
}

/** A tagged paragraph: names in bold, separated by commas, the argument in italics, and the text. */
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

/** Indented lines in no-fill mode. */
export function verbatim(text: string): string {
  return `.PP\n.RS 4\n.nf\n${lines(text.trimEnd())}\n.fi\n.RE\n`;
}
