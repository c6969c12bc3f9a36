import { expect, it } from 'vitest';
import { markdown } from '../../../console/documents/markdown.ts';

it('knows paragraphs, lists, headings and code', () => {
  const text = `Some words
in a paragraph.

- a point that
  goes on
- \`another\`

### Part

\`\`\`sh
# no heading
- no point

curl x
\`\`\`

    four blanks
`;
  expect(markdown(text)).toBe(
    '.PP\nSome words in a paragraph.\n' +
      '.IP \\(bu 2\na point that goes on\n.IP \\(bu 2\n\\fBanother\\fR\n' +
      '.SS Part\n' +
      '.PP\n.RS 4\n.nf\n# no heading\n\\- no point\n\ncurl x\n.fi\n.RE\n' +
      '.PP\n.RS 4\n.nf\nfour blanks\n.fi\n.RE\n',
  );
});

it('refuses what it does not know, by name', () => {
  expect(() => markdown('| a | b |\n|---|---|')).toThrow('No tables of Markdown in a manual page');
  expect(() => markdown('- a\n  - b')).toThrow('nested lists');
  expect(() => markdown('1. a')).toThrow('numbered lists');
  expect(() => markdown('> a')).toThrow('quotations');
  expect(() => markdown('<br>')).toThrow('HTML');
});
