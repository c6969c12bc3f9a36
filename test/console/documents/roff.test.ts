import { expect, it } from 'vitest';
import { inline, item, paragraphs, roff, verbatim } from '../../../console/documents/roff.ts';

it('lets no text become a request or an escape', () => {
  expect(roff('a\\b -x ~^`')).toBe('a\\eb \\-x \\(ti\\(ha\\(ga');
  expect(item('-x', 'y', '.so /etc/passwd')).toBe('.TP\n\\fB\\-x\\fR \\fIy\\fR\n\\&.so /etc/passwd\n');
  const long = paragraphs(`${'word '.repeat(14)}.dot 'quote\n\n'quote`);
  for (const line of [...long.split('\n'), ...verbatim(".so x\n'so y").split('\n')]) {
    expect(line).not.toMatch(/^(?:\.(?!PP$|RS 4$|RE$|nf$|fi$)|')/);
  }
});

it('writes letters beyond ASCII by their numbers, and quotes that stay what they are', () => {
  expect(roff("daemon’s 'x' … 😀")).toBe('daemon\\[u2019]s \\(aqx\\(aq \\[u2026] \\[u1F600]');
});

it('keeps lines of the source within 80 bytes, whatever their letters take', () => {
  for (const line of paragraphs('über-lang ’’ -x '.repeat(40)).split('\n'))
    expect(line.length).toBeLessThan(80);
});

it('makes bold letters of code and strong words, and words of links', () => {
  const shown = (text: string) => roff(inline(text));
  expect(shown('`-x a` and **strong words**')).toBe('\\fB\\-x a\\fR and \\fBstrong words\\fR');
  expect(shown('see [the page](a/b.md#c), [rfc](https://x/y), ![shot](s.png)')).toBe(
    'see the page, rfc <https://x/y>, shot',
  );
  expect(shown('`[a](b) **c**`')).toBe('\\fB[a](b) **c**\\fR');
});

it('leaves marks without a partner alone', () => {
  expect(roff(inline("!#$%&'*+.^_`|~ 2 ** 3 a[1] (b)"))).toBe(
    "!#$%&'*+.^_`|~ 2 ** 3 a[1] (b)"
      .replace("'", '\\(aq')
      .replace('^', '\\(ha')
      .replace('`', '\\(ga')
      .replace('~', '\\(ti'),
  );
});
