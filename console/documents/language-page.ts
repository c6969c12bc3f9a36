// proxy-vcl(7) and daemon/vcl/README.md: a hand-written tutorial and a reference generated from the compiler's
// tables, in two formats. Recipes and the builtin program are included from their files.

import { RETURNS } from '../../protocol/tables/returns.ts';
import { STATES } from '../../protocol/tables/states.ts';
import { VARIABLES, type VariableRow } from '../../protocol/tables/variables.ts';
import { markdown } from './markdown.ts';
import { heading, item, joined, paragraphs, verbatim } from './roff.ts';

interface Word {
  readonly word: string;
  readonly syntax: string;
  readonly help: string;
}

interface Flag {
  readonly flag: string;
  readonly on: boolean;
  readonly help: string;
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly help: string;
}

interface Unit {
  readonly unit: string;
  readonly help: string;
}

/** The compiler's tables, as far as the page shows them. */
export interface DocumentedLanguage {
  readonly declarations: readonly Word[];
  readonly statements: readonly Word[];
  readonly aclFlags: readonly Flag[];
  readonly includeFlags: readonly Flag[];
  readonly backendFields: readonly Field[];
  readonly probeFields: readonly Field[];
  readonly types: readonly {
    readonly name: string;
    readonly literal: string;
    readonly text: string;
    readonly truth: string;
    readonly help: string;
  }[];
  readonly byteUnits: readonly Unit[];
  readonly timeUnits: readonly Unit[];
  readonly members: readonly {
    readonly of: string;
    readonly name: string;
    readonly call: boolean;
    readonly gives: string;
    readonly help: string;
  }[];
  readonly operators: readonly { readonly symbol: string; readonly kind: string; readonly help: string }[];
  readonly arithmetic: readonly (readonly [
    left: string,
    op: string,
    right: string,
    result: string,
    ...unknown[],
  ])[];
  readonly comparable: Readonly<Record<string, string>>;
  readonly assignable: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly functions: readonly {
    readonly name: string;
    readonly signature: string;
    readonly syntax: string;
    readonly places?: string;
    readonly help: string;
  }[];
  readonly limits: Readonly<Record<string, { readonly value: number; readonly help: string }>>;
}

/** A program shown on the page, by file name. */
export interface ShownProgram {
  readonly name: string;
  readonly text: string;
}

export interface LanguageTexts {
  /** The hand-written part of daemon/vcl/README.md. */
  readonly tutorial: string;
  readonly recipes: readonly ShownProgram[];
  readonly builtin: string;
}

/** Separates the two parts of daemon/vcl/README.md. */
export const GENERATED =
  '<!-- The rest is generated from the tables in daemon/vcl/tables and protocol/tables, and from recipes/. -->';

interface Item {
  readonly term: string;
  readonly argument: string;
  readonly text: string;
}

interface Section {
  readonly title: string;
  readonly intro: string;
  readonly items: readonly Item[];
}

const entry = (term: string, argument: string, ...texts: readonly string[]): Item => ({
  term,
  argument,
  text: texts.filter((text) => text !== '').join(' '),
});

const words = (rows: readonly Word[]): Item[] => rows.map((r) => entry(r.syntax, '', r.help));

const flags = (rows: readonly Flag[]): Item[] =>
  rows.map((r) => entry(`+${r.flag}`, r.on ? 'on by default' : 'off by default', r.help));

const fields = (rows: readonly Field[]): Item[] =>
  rows.map((r) => entry(`.${r.name}`, r.type, r.help, r.default === '' ? '' : `Default: ${r.default}.`));

/** Sections of the reference, variables last. */
function sections(language: DocumentedLanguage): Section[] {
  const { types, operators, members, functions, limits } = language;
  return [
    {
      title: 'Declarations',
      intro:
        'A program is a list of declarations. Comments begin with `#` or `//` and end with the line, or stand between `/*` and `*/`. Names begin with a letter and continue with letters, digits, `_` and `-`; case does not matter.',
      items: words(language.declarations),
    },
    { title: 'Attributes of a backend', intro: '', items: fields(language.backendFields) },
    { title: 'Attributes of a probe', intro: '', items: fields(language.probeFields) },
    {
      title: 'Flags of an acl',
      intro: 'They follow the name: `acl local +log -pedantic { … }`.',
      items: flags(language.aclFlags),
    },
    { title: 'Flags of an include', intro: '', items: flags(language.includeFlags) },
    {
      title: 'States',
      intro:
        'Each state is a sub of this name. It ends with one of the actions listed; the builtin program has a default for each.',
      items: STATES.map((s) => {
        const actions = RETURNS.filter((r) => (r.states as readonly string[]).includes(s.name));
        return entry(`vcl_${s.name}`, '', s.help, `Returns: ${actions.map((r) => r.name).join(', ')}.`);
      }),
    },
    {
      title: 'Statements',
      intro:
        'Statements in a sub run in order. There are no loops. A function without a value is called as a statement: `hash_data(req.url);`. Statements in `{ }` are one block.',
      items: words(language.statements),
    },
    {
      title: 'Actions of return',
      intro: '',
      items: RETURNS.filter((r) => r.name !== '').map((r) =>
        entry(
          `${r.name}${ARGUMENTS[r.args]}`,
          '',
          r.help,
          `In: ${r.states.map((s) => `vcl_${s}`).join(', ')}.`,
        ),
      ),
    },
    {
      title: 'Operators',
      intro: `From the loosest to the tightest: ${order(operators)}. Parentheses group. A comparison cannot follow another: write \`(a > 1) && (a < 5)\`.`,
      items: operators.map((o) => entry(o.symbol, o.kind, o.help)),
    },
    {
      title: 'Types of operands',
      intro:
        'Arithmetic between other types is an error. Where a string is needed, + joins the texts of both sides.',
      items: [
        ...[...byOperands(language)].map(([type, ops]) => entry(type, 'arithmetic', `${ops.join('; ')}.`)),
        ...Object.entries(language.comparable).map(([type, kind]) =>
          entry(
            type,
            'comparison',
            kind === 'order' ? '== != < > <= >=, with the same type.' : '== and !=, with the same type.',
          ),
        ),
        ...Object.entries(language.assignable).map(([type, ops]) =>
          entry(
            type,
            'in set',
            `${Object.entries(ops)
              .map(([op, want]) => `${op} ${want}`)
              .join(', ')}.`,
          ),
        ),
      ],
    },
    {
      title: 'Types',
      intro: '',
      items: types.map((t) =>
        entry(
          t.name,
          '',
          t.help,
          t.literal === '' ? '' : `Written: \`${t.literal}\`.`,
          t.text === '' ? 'No text.' : `As text: ${t.text}.`,
          t.truth === '' ? '' : `Holds as a condition if ${t.truth}.`,
        ),
      ),
    },
    {
      title: 'Units of BYTES',
      intro: 'Capitals mean the same: `10MB`, `10mb`. A number of bytes needs a unit.',
      items: language.byteUnits.map((u) => entry(u.unit, '', u.help)),
    },
    {
      title: 'Units of DURATION',
      intro: 'In small letters: `1.5s`, `90m`. A duration needs a unit, also zero: `0s`.',
      items: language.timeUnits.map((u) => entry(u.unit, '', u.help)),
    },
    {
      title: 'Members of values',
      intro: 'Those with parentheses are called.',
      items: members.map((m) => entry(`${m.of}.${m.name}${m.call ? '()' : ''}`, `gives ${m.gives}`, m.help)),
    },
    {
      title: 'Functions',
      intro: 'Functions of extensions have a page each: vmod_std(3) and so on.',
      items: functions.map((f) => {
        const gives = f.signature.split(' ')[0] as string;
        return entry(
          f.syntax,
          gives === 'VOID' ? '' : `gives ${gives}`,
          f.help,
          f.places === undefined ? '' : `In: ${places(f.places)}.`,
        );
      }),
    },
    {
      title: 'Limits',
      intro:
        'A program beyond one of these is refused when it is loaded. While it runs, workspace_client and workspace_backend limit the texts that a transaction makes, http_max_hdr the headers of a message, pcre2_match_limit the work of a regular expression, max_restarts and max_retries the rounds, and max_esi_depth the nesting of includes.',
      items: Object.values(limits).map((l) => entry(String(l.value), '', l.help)),
    },
    {
      title: 'Variables',
      intro:
        '`client` means all states of a request, `backend` those of a fetch, `all` all states; others are names of states without vcl_.',
      items: (VARIABLES as readonly VariableRow[]).map(variable),
    },
  ];
}

const ARGUMENTS: Readonly<Record<(typeof RETURNS)[number]['args'], string>> = {
  none: '',
  status: '(status [, reason])',
  'optional-status': '[(status [, reason])]',
  'optional-duration': '[(duration)]',
  'optional-message': '[(message)]',
  label: '(label)',
};

/** The kinds of operators with their symbols, loosest first; assignments are not part of expressions. */
function order(operators: DocumentedLanguage['operators']): string {
  const kinds = [...new Set(operators.map((o) => o.kind))].filter((kind) => kind !== 'assignment');
  return kinds
    .map((kind) => {
      const symbols = operators.filter((o) => o.kind === kind).map((o) => o.symbol);
      return kind === 'sign' ? 'the sign -' : symbols.join(' ');
    })
    .join(', then ');
}

function byOperands({ arithmetic }: DocumentedLanguage): Map<string, string[]> {
  const out = new Map<string, string[]>();
  for (const [left, op, right, result] of arithmetic) {
    out.set(left, [...(out.get(left) ?? []), `${op} ${right} gives ${result}`]);
  }
  return out;
}

function places(text: string): string {
  return text
    .split(' ')
    .map((place) => (GROUPS.has(place) ? place : `vcl_${place}`))
    .join(', ');
}

const GROUPS: ReadonlySet<string> = new Set(['client', 'backend', 'all']);

function variable(row: VariableRow): Item {
  const uses = (
    [
      ['Read', row.read],
      ['Set', row.write],
      ['Unset', row.unset],
    ] as const
  ).flatMap(([use, where]) => (where === '' ? [] : [`${use} in: ${places(where)}.`]));
  const versions: string[] = [];
  if (row.since !== undefined) versions.push(`Since version 4.${row.since - 40}.`);
  if (row.until !== undefined) versions.push(`Until version 4.${row.until - 40}.`);
  if (row.newer !== undefined) versions.push(newerText(row.newer));
  if (row.ours === true) versions.push('Not in Varnish.');
  const type = row.also === undefined ? row.type : `${row.type} or ${row.also}`;
  return entry(row.name, type, row.help, ...uses, ...versions);
}

/** Since which release Varnish has it, or its newer places. */
function newerText({ release, was }: NonNullable<VariableRow['newer']>): string {
  if (was === undefined) return `In Varnish since ${release}.`;
  const uses = (['read', 'write', 'unset'] as const).filter((use) => was[use] !== undefined);
  if (uses.length > 1 || was.unset === undefined) {
    return `In Varnish in more places than ${places(was.read ?? '')} since ${release}.`;
  }
  return `In Varnish unset since ${release}.`;
}

const RECIPES_INTRO =
  'Each is a whole program, and each is tested. Replace the backend with your own, or copy the subs into your program.';
const BUILTIN_INTRO =
  'Its subs run after yours of the same name. `proxyd -x builtin` prints it; with http_profile=rfc9111 or varnish_release=9.0 some subs differ.';

/** The page after its title. */
export function languagePage(
  language: DocumentedLanguage,
  texts: LanguageTexts,
  differences: string,
): string {
  const { tutorial, recipes, builtin } = texts;
  return joined([
    heading('description'),
    markdown(tutorial.replace(/^# .*\n+/, '').replaceAll(/^## /gm, '### ')),
    heading('recipes'),
    paragraphs(RECIPES_INTRO),
    ...recipes.map(({ name, text }) => `${markdown(`### ${name}`)}${verbatim(text)}`),
    ...sections(language).flatMap(({ title, intro, items }) => [
      heading(title),
      ...(intro === '' ? [] : [paragraphs(intro)]),
      ...items.map(({ term, argument, text }) => item(term, argument, text)),
    ]),
    heading('the builtin program'),
    paragraphs(BUILTIN_INTRO),
    verbatim(builtin),
    heading('differences'),
    markdown(differences),
  ]);
}

/** The generated part of daemon/vcl/README.md. */
export function languageMarkdown(language: DocumentedLanguage, { recipes, builtin }: LanguageTexts): string {
  const code = (text: string): string => `\`\`\`vcl\n${text.trimEnd()}\n\`\`\`\n`;
  const parts = [
    '## Recipes\n',
    `${RECIPES_INTRO} Names link to the files.\n`,
    ...recipes.flatMap(({ name, text }) => [`### [${name}](recipes/${name})\n`, code(text)]),
    ...sections(language).flatMap(({ title, intro, items }) => [
      `## ${title}\n`,
      ...(intro === '' ? [] : [`${intro}\n`]),
      `${items
        .map(({ term, argument, text }) => {
          const tail = argument === '' ? '' : `, ${argument}`;
          return `- \`${term}\`${tail}: ${text}`;
        })
        .join('\n')}\n`,
    ]),
    '## The builtin program\n',
    `${BUILTIN_INTRO}\n`,
    code(builtin),
  ];
  return `${GENERATED}\n\n${parts.join('\n')}`;
}
