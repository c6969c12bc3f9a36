// The manual pages: one per tool, and those on commands, counters, parameters, log tags and the language, generated
// from the tables that the programs use.

import { COMMANDS } from '../../protocol/tables/commands.ts';
import {
  type CounterRow,
  EDGE_COUNTERS,
  FLEET_COUNTERS,
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  SMD_COUNTERS,
  THR_COUNTERS,
  TLS_CERT_COUNTERS,
  TLS_COUNTERS,
  VBE_COUNTERS,
  VCP_COUNTERS,
  WAITER_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';
import { ABSENT_PARAMS, PARAMS, type ParamRow } from '../../protocol/tables/params.ts';
import { REFUSALS } from '../../protocol/tables/refusals.ts';
import { isWritten, TAGS } from '../../protocol/tables/tags.ts';
import { TOOLS } from '../../protocol/tables/tools.ts';
import { type DocumentedExtension, extensionPage } from './extension-page.ts';
import { type DocumentedLanguage, type LanguageTexts, languagePage } from './language-page.ts';
import { markdown } from './markdown.ts';
import { ncsaPage } from './ncsa-page.ts';
import { objectsSections } from './objects-page.ts';
import { queryPage } from './query-page.ts';
import { filled, heading, item, joined, paragraphs, roff, title } from './roff.ts';
import { tlsPage } from './tls-page.ts';

/**
 * Page texts by file name.
 * @param prose in Markdown: the pages on differences from Varnish, on fleets, on HTTP/2, and those on TLS
 * @param extensions the built-in ones
 * @param language the compiler's tables, and the texts of its page
 */
export function manualPages(
  version: string,
  date: string,
  prose: {
    readonly differences: string;
    readonly fleet: string;
    readonly http2: string;
    readonly tls: readonly string[];
  },
  extensions: readonly DocumentedExtension[],
  language: { readonly tables: DocumentedLanguage; readonly texts: LanguageTexts },
): Map<string, string> {
  const pages = new Map<string, string>();
  for (const { name, summary, text, usage, prose: more = '', options } of TOOLS) {
    const page = [title({ name, section: 1, summary, version, date }), heading('synopsis')];
    const synopsis = `${name} ${usage}`.split('\n').map((line) => `${filled(line.trim())}\n`);
    page.push(synopsis.join('.br\n'));
    page.push(heading('description'), paragraphs(`${text}\n\n${more}`), heading('options'));
    for (const { flags, argument = '', help, hidden } of options) {
      if (hidden !== true) page.push(item(flags, argument, help.replaceAll('\n', '\n\n')));
    }
    if (name === 'proxylog-json') page.push(objectsSections());
    // Only for tools that look for a daemon.
    if (options.some(({ flags }) => flags === '-n'))
      page.push(heading('working directory'), paragraphs(WORKDIR_TEXT));
    page.push(seeAlso(name));
    pages.set(`${name}.1`, page.join(''));
  }
  const add = (name: string, summary: string, body: string): void => {
    pages.set(`${name}.7`, title({ name, section: 7, summary, version, date }) + body + seeAlso(name));
  };
  add('proxy-cli', 'commands of the admin interface of proxyd', commandsText());
  add('proxy-counters', 'counters of proxyd', countersText());
  add('proxy-params', 'parameters of proxyd', paramsText());
  add('proxy-log', 'tags of the log of proxyd', tagsText());
  add('proxy-ncsa', 'formats of the access logs of proxyd', ncsaPage());
  add('proxy-query', 'groups of log records of proxyd, and queries over them', queryPage());
  add(
    'proxy-vcl',
    'the configuration language of proxyd, and where it differs',
    languagePage(language.tables, language.texts, prose.differences),
  );
  add(
    'proxy-fleet',
    'several proxies of one fleet, from one to five',
    joined([heading('description'), markdown(prose.fleet)]),
  );
  add('proxy-http2', 'HTTP/2 with clients', joined([heading('description'), markdown(prose.http2)]));
  add('proxy-tls', 'TLS at the front and to origins', tlsPage(prose.tls));
  for (const extension of extensions) {
    pages.set(
      `vmod_${extension.name}.3`,
      extensionPage(extension, version, date) +
        `${heading('see also')}${roff('proxyd')}(1),\n${roff('proxy-vcl')}(7)\n`,
    );
  }
  return pages;
}

/** The meaning of -n; the README has the same. */
const WORKDIR_TEXT =
  'A daemon of root works in /run/proxyd, one of another user in $XDG_RUNTIME_DIR/proxyd, or where that is not set in ' +
  '$XDG_STATE_HOME/proxyd (~/.local/state/proxyd). -n with a name is a sibling of that, with a path that place. Tools ' +
  'look in each of these places, their own user’s first, and list them if there is no daemon in any; outside ' +
  'of /run they take none that another user owns. Members of the group of --read-group find read.sock there, through ' +
  'which the tools show everything and change nothing.';

const TOPICS = [
  'proxy-cli',
  'proxy-counters',
  'proxy-fleet',
  'proxy-http2',
  'proxy-log',
  'proxy-ncsa',
  'proxy-params',
  'proxy-query',
  'proxy-tls',
  'proxy-vcl',
];

function seeAlso(self: string): string {
  const names = [...TOOLS.map((t) => [t.name, 1] as const), ...TOPICS.map((t) => [t, 7] as const)];
  const others = names.filter(([name]) => name !== self).map(([name, n]) => `${roff(name)}(${n})`);
  return `${heading('see also')}${others.join(',\n')}\n`;
}

function commandsText(): string {
  const intro =
    'Commands of proxyadm(1) and of the text protocol of -T and -M. A leading -j requests JSON where a command ' +
    'supports it. Words with blanks need double quotes; "<< TOKEN" begins a here-document.';
  const rows = COMMANDS.filter((c) => !('hidden' in c)).map((c) => {
    const [name = '', ...rest] = c.syntax.split(' ');
    return item(name, rest.join(' '), c.help);
  });
  return `${heading('description')}${paragraphs(intro)}${heading('commands')}${rows.join('')}`;
}

function countersText(): string {
  const intro =
    'Counters count up from the start of the process they belong to; gauges go up and down; a bitmap has 64 bits. ' +
    'proxystat(1) shows them, and --metrics of proxyd(1) serves them to Prometheus.';
  const group = (name: string, rows: readonly CounterRow[]): string =>
    heading(name) + rows.map((r) => item(r.name, `${KINDS[r.flag]}, ${r.level}`, `${r.help}.`)).join('');
  return (
    `${heading('description')}${paragraphs(intro)}` +
    group('MGT: the manager', MGT_COUNTERS) +
    group('MAIN: the worker', MAIN_COUNTERS) +
    group('SMA.<storage>: a storage', SMA_COUNTERS) +
    group('SMD.<storage>: a disk tier, with -s disk', SMD_COUNTERS) +
    group('EDGE: the edge connector, where a program imports it', EDGE_COUNTERS) +
    group('FLEET: the fleet, with --fleet', FLEET_COUNTERS) +
    group('TLS: listeners with TLS, and their certificates', [...TLS_COUNTERS, ...TLS_CERT_COUNTERS]) +
    group('VBE.<program>.<backend>: a backend', VBE_COUNTERS) +
    group('VCP: pools of connections to backends', VCP_COUNTERS) +
    group('WAITER.pool0: idle connections', WAITER_COUNTERS) +
    group('THR.<number>: a thread of the worker', THR_COUNTERS) +
    group('WRK: the process of the worker', WRK_COUNTERS)
  );
}

const KINDS = { c: 'counter', g: 'gauge', b: 'bitmap' } as const;

function paramsText(): string {
  const intro = 'Set at the start with -p of proxyd(1), later with param.set of proxyadm(1).';
  const rows = PARAMS.map((row: ParamRow) => {
    const facts = [`Default ${row.defaultIs ?? (row.default === '' ? 'empty' : row.default)}`];
    if (row.min !== undefined) facts.push(`at least ${row.min}`);
    if (row.max !== undefined) facts.push(`at most ${row.max}`);
    if (row.flags !== undefined) facts.push(row.flags.join(', '));
    const bits = (row.bits ?? []).map((b) => `${b.name}: ${b.help}`);
    return item(row.name, row.unit ?? '', [row.help, `${facts.join('; ')}.`, ...bits].join('\n\n'));
  });
  const absent = ABSENT_PARAMS.map(({ name, reason }) => item(name, '', `${reason}.`));
  return `${heading('description')}${paragraphs(intro)}${heading('parameters')}${rows.join('')}${heading('parameters that have no effect here')}${absent.join('')}`;
}

function tagsText(): string {
  const rows = TAGS.filter((t) => !(t.flags as readonly string[]).includes('unused'));
  const intro = 'Tags of the records that proxylog(1) shows and that its queries name.';
  const never = 'proxyd never writes it: it is there for recordings of Varnish’s.';
  const tags = rows.map((t) => item(t.name, '', isWritten(t) ? `${t.help}.` : `${t.help}. ${never}`));
  const refusals = REFUSALS.map((r) => item(r.text, '', r.advice));
  const refusalText =
    'An Error record says why a request, its body or the response of a backend was refused, and where; a counter ' +
    'MAIN.refused_* counts each reason for which requests are. A Notice says what of a response, or under feature ' +
    'lenient_lf of a request, was read although its form is old.';
  return (
    `${heading('description')}${paragraphs(intro)}${heading('tags')}${tags.join('')}` +
    `${heading('refusals')}${paragraphs(refusalText)}${refusals.join('')}`
  );
}
