// README.md of this folder, made from the rows of differences.ts. A test keeps the file the same as the text made here.
// Lists and headings only: a manual page is made from the same text, and has no tables.

import { RELEASE_CHANGES, type ReleaseChange } from '../../protocol/tables/release-changes.ts';
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
  parts.push(...releaseParts());
  return `${parts.join('\n\n')}\n`;
}

/** The changes of newer releases of Varnish, by whether they depend on varnish_release. */
function releaseParts(): string[] {
  const all: readonly ReleaseChange[] = Object.values(RELEASE_CHANGES);
  const list = (here: ReleaseChange['here']): string =>
    all
      .filter((change) => change.here === here)
      .map(
        ({ topic, since, before, after, why }) =>
          `- **${topic}** (${since}). In 7.1: ${before} Since ${since}: ${after} ${why}`,
      )
      .join('\n');
  return [
    '## Releases of Varnish',
    'What Varnish 7.2 to 9.0 added is here always. What they changed follows the parameter `varnish_release`, which is `7.1` unless it is set to `9.0`; it counts for programs loaded after it. `vcl.list` tells the release of each program that does not follow 7.1, and `proxyd --lint --release 9.0 FILE` lists what a program meets.',
    '### With varnish_release=9.0',
    list('parameter'),
    '### With both',
    list('always'),
  ];
}
