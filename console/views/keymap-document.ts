// The console's keys, commands and rules as a Markdown page, generated from their tables. A test keeps
// console/KEYS.md in sync.

import { keyGroups } from '../model/ui/global-keys.ts';
import { KEY_EXCEPTIONS, KEY_MEANINGS } from '../model/ui/key-meanings.ts';
import { keyLabels } from '../model/ui/keymap.ts';
import { paletteRows } from '../model/ui/palette.ts';
import { SUBJECTS, type Subject, type SubjectKind, type SubjectRow } from '../model/ui/row-subject.ts';
import { BUILTIN_QUERIES } from '../model/ui/saved-queries.ts';
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
        rows.map((r) => [labels(r.keys), r.help, `\`${scope}/${r.command}\``]),
      ),
    );
  }
  parts.push(
    '## The same key in every view',
    'A key with several of these commands runs the one of its row.',
  );
  parts.push(
    table(
      ['Key', 'It means'],
      KEY_MEANINGS.map((row) => [labels(row.keys), row.means]),
    ),
  );
  parts.push('In these places it means something else:');
  parts.push(
    table(
      ['Key', 'Name', 'Why'],
      KEY_EXCEPTIONS.map((row) => [labels(row.keys), `\`${row.command}\``, row.reason]),
    ),
  );
  parts.push(
    '## Commands of the console',
    'After `:`, in addition to all admin commands of `proxyadm help`.',
  );
  parts.push(
    table(
      ['Command', 'What it does'],
      paletteRows(VIEWS)
        .filter((r) => r.hidden !== true)
        .map((r) => [`\`${r.syntax}\``, r.help]),
    ),
  );
  parts.push(
    '## Queries that have names',
    '`^R` in the log or its prompt lists them, `query.use <name>` takes one.',
  );
  parts.push(
    table(
      ['Name', 'Query', 'It shows'],
      BUILTIN_QUERIES.map((row) => [row.name, `\`${row.query}\``, row.help]),
    ),
  );
  parts.push(
    '## Subjects of rows',
    '`p` purges it, `b` bans it after a look at the condition: both count first. The values here are examples.',
  );
  parts.push(
    table(
      ['A row of', 'Its ban'],
      Object.entries(SUBJECTS as Readonly<Record<string, SubjectRow>>).map(([kind, row]) => [
        row.title,
        row.ban === null
          ? `none: ${row.without}`
          : `\`${row.ban({ kind: kind as SubjectKind, ...EXAMPLES[kind as SubjectKind] })}\``,
      ]),
    ),
  );
  parts.push(
    '## Answers of "why?"',
    'The first rule of each kind that applies gives the answer, with the records that prove it.',
  );
  parts.push(
    table(
      ['Rule', 'It explains'],
      WHY_RULES.map((r) => [r.name, r.explains]),
    ),
  );
  return `${parts.join('\n\n')}\n`;
}

const NO_EXAMPLE = { key: '', of: '' };

const EXAMPLES: Readonly<Record<SubjectKind, Omit<Subject, 'kind'>>> = {
  url: { key: '/shoes?page=2', of: 'shop.example' },
  path: { key: '/shoes', of: 'shop.example' },
  prefix: { key: '/img/', of: '' },
  rewritten: NO_EXAMPLE,
  host: { key: 'shop.example', of: '' },
  status: { key: '404', of: '' },
  tag: { key: 'shoe-17', of: 'xkey' },
  ban: { key: 'obj.age > 1d', of: '' },
  client: NO_EXAMPLE,
  agent: NO_EXAMPLE,
  method: NO_EXAMPLE,
  backend: NO_EXAMPLE,
};

function labels(keys: readonly string[]): string {
  return keyLabels(keys)
    .map((label) => `\`${label}\``)
    .join(' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((c) => c.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
