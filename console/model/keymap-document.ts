// The keys, commands and rules of the console as a Markdown page, of their tables alone. A test keeps the page
// console/KEYS.md the same as what is made here.

import { KEY_ROWS, keyLabel, scopeTitle } from './keymap.ts';
import type { KeyScope } from './keys/key-row.ts';
import { PALETTE_ROWS } from './palette.ts';
import { VIEWS } from './views.ts';
import { WHY_RULES } from './why/why.ts';

export function keymapDocument(): string {
  const scopes: KeyScope[] = ['global', ...VIEWS.map((v) => v.name), 'list', 'panel'];
  const parts = [
    '# Keys and commands of the console',
    'Made of the tables in `console/model/keys/`, `palette.ts` and `why/`. A key of a view hides the same key of a wider scope. `?` shows the same in the console, and `keys` of the configuration file changes them by the names in the last column.',
  ];
  for (const scope of scopes) {
    const rows = KEY_ROWS.filter((r) => r.scope === scope);
    if (rows.length === 0) continue;
    parts.push(`## ${scopeTitle(scope)}`);
    parts.push(
      table(
        ['Key', 'What it does', 'Name'],
        rows.map((r) => [
          r.keys
            .filter((k) => !k.startsWith('wheel'))
            .map((k) => `\`${keyLabel(k)}\``)
            .join(' '),
          r.help,
          `\`${r.scope}/${r.command}\``,
        ]),
      ),
    );
  }
  parts.push('## Commands of the console', 'After `:`, beside every admin command of `proxyadm help`.');
  parts.push(
    table(
      ['Command', 'What it does'],
      PALETTE_ROWS.map((r) => [`\`${r.syntax}\``, r.help]),
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
