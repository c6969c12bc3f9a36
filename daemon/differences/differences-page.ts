// README.md of this folder, made from the rows of differences.ts. A test keeps the file the same as the text made here.
// Lists and headings only: a manual page is made from the same text, and has no tables.

import { COMPARED_RELEASE, DIFFERENCES } from './differences.ts';

export function differencesPage(): string {
  const parts = [
    '# Differences from Varnish',
    `proxyd is compared with Varnish ${COMPARED_RELEASE} by tests that play the same program and requests on both. These are the intended differences that an operator or the author of a program meets. Those in single bytes of messages and log records are listed with their reasons in the source, in \`test/differential/\`. Any other difference is a defect.`,
  ];
  for (const section of new Set(DIFFERENCES.map((each) => each.section))) {
    parts.push(`## ${section}`);
    parts.push(
      DIFFERENCES.filter((each) => each.section === section)
        .map(({ topic, what, why, release }) => {
          const compared = release === COMPARED_RELEASE ? '' : ` (Varnish ${release})`;
          return `- **${topic}${compared}.** ${what} ${why}`;
        })
        .join('\n'),
    );
  }
  return `${parts.join('\n\n')}\n`;
}
