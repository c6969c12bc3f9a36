// The keys, commands and rules of the console as a Markdown page, of their tables alone. A test keeps the page
// console/KEYS.md the same as what is made here.

import { keyGroups, keyLabels } from '../model/keymap.ts';
import { paletteRows } from '../model/palette.ts';
import { WHY_RULES } from './log/why/why.ts';
import { VIEWS } from './views.ts';

export function keymapDocument(): string {
  const parts = [
    '# Keys and commands of the console',
    'Made of the tables of `console/model/` and `console/views/`. A key of a view hides the same key of a wider scope. `?` shows the same in the console, and `keys` of the configuration file changes them by the names in the last column.',
  ];
  for (const { scope, title, rows } of keyGroups(VIEWS)) {
    if (rows.length === 0) continue;
    parts.push(`## ${title}`);
    parts.push(
      table(
        ['Key', 'What it does', 'Name'],
        rows.map((r) => [
          keyLabels(r.keys)
            .map((label) => `\`${label}\``)
            .join(' '),
          r.help,
          `\`${scope}/${r.command}\``,
        ]),
      ),
    );
  }
  parts.push('## Commands of the console', 'After `:`, beside every admin command of `proxyadm help`.');
  parts.push(
    table(
      ['Command', 'What it does'],
      paletteRows(VIEWS)
        .filter((r) => r.hidden !== true)
        .map((r) => [`\`${r.syntax}\``, r.help]),
    ),
  );
  parts.push(
    '## What "why?" can say',
    'The first rule of each kind that applies speaks, with the records that prove it.',
  );
  parts.push(
    table(
      ['Rule', 'It explains'],
      WHY_RULES.map((r) => [r.name, r.explains]),
    ),
  );
  return `${parts.join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((c) => c.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
