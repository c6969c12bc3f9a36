// Hints for constructs of earlier versions and other languages, which parser and checker look up when they report an
// error. A hint says what to write instead; it never changes the result.

import type { Token } from './lexer.ts';

type Rows = ReadonlyMap<string, string>;

const rows = (table: Readonly<Record<string, string>>): Rows => new Map(Object.entries(table));

/** The same hint for several words. */
function each(words: string, hint: string): Record<string, string> {
  return Object.fromEntries(words.split(' ').map((word) => [word, hint]));
}

const NO_LOOPS =
  'The language has no loops: regsuball() changes every match, and return (restart) or return (retry) begins again.';
const HEADERS = 'A header is written like req.http.Accept-Language.';
const CONSTANT_BAN = 'Write: ban("req.url ~ ^/news/"); to remove one page, return (purge) in vcl_recv.';

/** Variables of earlier versions, and common mistakes. */
const VARIABLES = rows({
  'req.request': "Did you mean 'req.method'?",
  'bereq.request': "Did you mean 'bereq.method'?",
  'req.uri': "Did you mean 'req.url'?",
  'bereq.uri': "Did you mean 'bereq.url'?",
  'req.path': "Did you mean 'req.url'? It holds the path and the query.",
  'req.host': "Did you mean 'req.http.Host'?",
  'req.backend': "Did you mean 'req.backend_hint'?",
  'req.backend.healthy': 'Write: std.healthy(req.backend_hint), with "import std;".',
  'req.hash': 'Write hash_data(…) in vcl_hash: it adds to the key.',
  'req.body': 'Only an extension reads it: bodyaccess.',
  ...each('beresp.cacheable obj.cacheable', "Did you mean 'uncacheable'? It has the opposite meaning."),
  'beresp.storage_hint': 'Write: set beresp.storage = storage.NAME;',
  'beresp.saintmode': 'Write: return (retry); or return (abandon);',
  ...each('obj.response resp.response', "Did you mean 'resp.reason'?"),
  'beresp.response': "Did you mean 'beresp.reason'?",
  'req.esi': 'resp.do_esi in vcl_deliver has taken its place.',
  'beresp.pass': 'Write: set beresp.uncacheable = true;',
  'obj.lastuse': 'No variable holds it: obj.age and obj.hits are there.',
  'client.port': 'Write: std.port(client.ip), with "import std;".',
  'server.port': 'Write: std.port(local.ip), with "import std;".',
  ...each('req.http bereq.http beresp.http resp.http obj.http', HEADERS),
});

/** Wrong names of header owners, as in `req.headers.x`. */
const HEADER_WORDS: ReadonlySet<string> = new Set(['header', 'headers', 'https', 'htttp', 'htp', 'hhtp']);

/** Words that cannot begin a statement. */
const WORDS = rows({
  ...each('else elseif elsif elif', 'It follows the block of an if.'),
  ...each('Else ELSE', "It is written in small letters: 'else'."),
  ...each(
    'elseIf elseIF ElseIf Elseif ELSEIF elsIf Elsif ELSIF',
    "It is written in small letters: 'elseif'.",
  ),
  ...each('while for foreach do until loop', NO_LOOPS),
  ...each('switch case', 'Write: if (…) { } elseif (…) { }'),
  ...each('goto', 'Write: call name; for a sub, or return (…) for the next state.'),
  error: 'Write: return (synth(404, "Not Found"));',
  ...each('remove delete del', 'Write: unset'),
  ...each('let var declare const string', 'A value is kept in a header, or in a variable of "import var;".'),
  purge: 'Write: return (purge); or import purge; and purge.hard();',
  ...each('purge_url purge_hash ban_url ban_hash', CONSTANT_BAN),
  esi: 'Write: set beresp.do_esi = true;',
  synthetic: 'Its text is written in parentheses: synthetic("text");',
  ...each('log print echo', 'Write: std.log("text"); with "import std;".'),
  syslog: 'Write: std.syslog(9, "text"); with "import std;".',
  panic: 'Write: return (fail("text"));',
  ...each(
    'deliver fetch hash lookup pass pipe restart retry abandon fail',
    'An action is returned: return (WORD);',
  ),
  synth: 'An action is returned: return (synth(404));',
  sub: 'Subs cannot be nested: a "}" is missing before this one.',
});

/** Words where a value is expected. */
const VALUES = rows({
  ...each('yes on True TRUE', "Did you mean 'true'?"),
  ...each('no off False FALSE', "Did you mean 'false'?"),
  ...each(
    'null NULL nil none undefined',
    'What is not there is false: if (!req.http.Cookie); to take it away, unset it.',
  ),
});

/** Words that are not declarations. */
const DECLARATIONS = rows({
  director: 'Directors are objects: import directors; and in vcl_init: new name = directors.round_robin();',
  ...each('function def func', "Did you mean 'sub'?"),
  ...each('set unset if call return new synthetic', 'Statements belong inside a sub: sub vcl_recv { … }'),
  table: 'Keep such values in a sub of its own, with if and elseif.',
  ban: 'Bans are made at run time: by the command ban, or in a sub.',
});

/** States of earlier versions. */
const SUBS = rows({
  vcl_fetch: "Did you mean 'vcl_backend_response'?",
  vcl_error: "Did you mean 'vcl_synth', or 'vcl_backend_error' for failed fetches?",
  vcl_prefetch: "Did you mean 'vcl_backend_fetch'?",
  ...each('vcl_timeout vcl_discard', 'There is no such state any more: objects go without a word.'),
});

/** Actions of earlier versions. */
const ACTIONS = rows({
  hit_for_pass: 'Write: return (pass(120s)); in vcl_backend_response.',
  hit_for_miss: 'Write: set beresp.uncacheable = true; in vcl_backend_response.',
  ...each('discard keep', 'Objects go without a word: there is nothing to return for it.'),
  esi: 'Write: set beresp.do_esi = true;',
  ...each('refresh', 'Write: set req.hash_always_miss = true;'),
});

/** Actions in states without them: the action, and the state or its side. */
const ACTIONS_IN = rows({
  'lookup recv': 'Did you mean: return (hash)?',
  'fetch recv': 'Did you mean: return (pass)?',
  'deliver recv': 'Did you mean: return (hash), or return (synth(200)) to answer at once?',
  'deliver miss': 'Did you mean: return (fetch)?',
  'hash miss': 'Did you mean: return (fetch)?',
  'fetch hit': 'Did you mean: return (restart), with req.hash_always_miss?',
  'miss hit': 'Did you mean: return (restart), with req.hash_always_miss?',
  'error client': 'Did you mean: return (synth(503))?',
  'synth backend': 'Did you mean: return (error(503))?',
  'restart backend': 'Did you mean: return (retry)?',
  'retry client': 'Did you mean: return (restart)?',
  'pass backend_fetch': 'It is decided in vcl_recv: return (pass) there.',
});

/** The hint for an unknown variable, whatever its case. */
export function variableHint(name: string): string | undefined {
  const folded = name.toLowerCase();
  const [owner = '', second = '', third] = folded.split('.');
  if (third !== undefined && HEADER_WORDS.has(second)) {
    return `Did you mean '${owner}.http.${name.split('.').slice(2).join('.')}'?`;
  }
  return VARIABLES.get(folded);
}

/** The hint for a word or a function that cannot begin a statement; `WORD` in a row is replaced by it. */
export function wordHint(word: string): string | undefined {
  return WORDS.get(word)?.replace('WORD', word);
}

/** Whether a word begins a loop in other languages, whose head is then skipped. */
export function isLoop(word: string): boolean {
  return WORDS.get(word) === NO_LOOPS;
}

export function valueHint(word: string): string | undefined {
  return VALUES.get(word);
}

export function declarationHint(word: string): string | undefined {
  return DECLARATIONS.get(word);
}

export function subHint(name: string): string | undefined {
  return SUBS.get(name);
}

/** @param state without `vcl_` */
export function actionHint(action: string, state?: string): string | undefined {
  if (state === undefined) return ACTIONS.get(action);
  const side = state.startsWith('backend_') ? 'backend' : 'client';
  return ACTIONS_IN.get(`${action} ${state}`) ?? ACTIONS_IN.get(`${action} ${side}`);
}

// Hints for unexpected tokens: rows of the needed token, the found one, and the hint. A missing semicolon is
// distinguished from a missing plus sign by the line and by the construct being read.

/** The construct being read: an operator can be missing only at the end of a value. */
export type Place = 'value' | 'other';

/** Needed tokens, in the wording of the errors; `operator` names single operators. */
export const NEEDED = {
  value: 'a value',
  assignment: "'=' or another assignment",
  afterDot: 'a name after the dot',
  method: 'the name of a method',
} as const;

/** An operator, in the wording of the errors. */
export function operator(text: string): string {
  return `'${text}'`;
}

interface Row {
  /** The needed token, in the wording of the errors; absent: any. */
  readonly needed?: string;
  /** Texts of the found token. */
  readonly got?: readonly string[];
  /** Texts of the previous token. */
  readonly after?: readonly string[];
  readonly place?: Place;
  readonly hint: string;
}

const ROWS: readonly Row[] = [
  {
    needed: operator(')'),
    got: ['='],
    place: 'value',
    hint: "Did you mean '=='? A single '=' only stands in set.",
  },
  { needed: operator(')'), got: ['&'], hint: "Did you mean '&&'?" },
  { needed: operator(')'), got: ['|'], hint: "Did you mean '||'?" },
  { got: ['and', 'AND'], place: 'value', hint: "Did you mean '&&'?" },
  { got: ['or', 'OR'], place: 'value', hint: "Did you mean '||'?" },
  { got: ['eq', 'is', 'equals'], place: 'value', hint: "Did you mean '=='?" },
  { got: ['ne'], place: 'value', hint: "Did you mean '!='?" },
  { got: ['matches', 'like', 'contains', 'in'], place: 'value', hint: "Did you mean '~'?" },
  { after: ['not', 'NOT'], place: 'value', hint: "Did you mean '!'?" },
  { needed: NEEDED.value, got: ['='], after: ['=='], hint: "'==' is enough." },
  { needed: NEEDED.value, got: ['='], after: ['!='], hint: "'!=' is enough." },
  { needed: NEEDED.value, got: ['>'], after: ['<'], hint: "Did you mean '!='?" },
  { needed: NEEDED.value, got: ['/'], hint: 'Strings and regular expressions are written in double quotes.' },
  {
    needed: operator('('),
    after: ['if', 'elseif', 'elsif', 'elif'],
    hint: 'The condition is written in parentheses.',
  },
  {
    needed: operator('('),
    after: ['return'],
    hint: 'The action is written in parentheses, as in: return (pass);',
  },
  { needed: operator('{'), got: ['('], hint: 'A sub takes no arguments: sub name { … }' },
  {
    needed: operator('{'),
    after: [')'],
    hint: 'The block of an if needs braces, even for a single statement.',
  },
  { needed: operator('.'), hint: 'Fields begin with a dot: .host = "192.0.2.1";' },
  { needed: NEEDED.assignment, got: ['=='], hint: "Did you mean '='?" },
  { needed: NEEDED.assignment, got: ['['], hint: 'A header is written like req.http.Accept-Language.' },
  { needed: NEEDED.assignment, got: ['++', '--'], hint: "Did you mean '+= 1' or '-= 1'?" },
  { needed: NEEDED.afterDot, got: ['='], hint: "Did you mean '+='?" },
];

const SEMICOLON = operator(';');
const CLOSE = operator(')');
const PLUS = 'Strings are joined with "+".';

/** @param before the previous token, if any */
export function tokenHint(
  needed: string,
  before: Token | null,
  got: Token,
  place: Place,
): string | undefined {
  if (got.text === '=' && got.kind === 'op' && place === 'value' && isTilde(got)) return "Did you mean '~'?";
  const row = ROWS.find(
    (r) =>
      (r.needed === undefined || r.needed === needed) &&
      (r.got === undefined || (got.kind !== 'string' && r.got.includes(got.text))) &&
      (r.after === undefined ||
        (before !== null && before.kind !== 'string' && r.after.includes(before.text))) &&
      (r.place === undefined || r.place === place),
  );
  if (row !== undefined) return row.hint;
  if (needed === NEEDED.method && got.kind === 'string') return PLUS;
  return missing(needed, before, got, place);
}

/** `=~` of other languages. */
function isTilde(got: Token): boolean {
  return got.file.text.charAt(got.end) === '~';
}

/** A missing plus sign or semicolon. */
function missing(needed: string, before: Token | null, got: Token, place: Place): string | undefined {
  if (needed !== SEMICOLON && !(needed === CLOSE && place === 'value')) return undefined;
  const sameLine = before !== null && before.file === got.file && lineOf(before) === lineOf(got);
  if (place === 'value') {
    // A statement cannot begin with a string or a number.
    if (got.kind === 'string' || got.kind === 'int' || got.kind === 'real') return PLUS;
    if (got.kind === 'id' && (sameLine || needed === CLOSE)) return PLUS;
    if (got.text === ',' && needed === SEMICOLON) return PLUS;
  }
  if (needed !== SEMICOLON || sameLine || before === null) return undefined;
  return `A ';' is missing at the end of line ${lineOf(before)}.`;
}

function lineOf(token: Token): number {
  return token.file.locate(token.kind === 'string' ? token.end - 1 : token.start).line;
}
