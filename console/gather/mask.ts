// Takes secrets out of what an archive for others holds: values of fields and parameters that are named like
// credentials, credentials in URLs, and whatever looks like a key. Rather too much than too little: a diagnosis needs
// to know that there was a cookie, never which. Pure text in, text out.

export const MASK = '<masked>';

/** Names of fields, parameters and variables whose values are nobody's business. */
const TELLTALE =
  /auth|cookie|token|secret|passw|passphrase|credential|session|api[-_]?key|access[-_]?key|private|signature|jwt|bearer|sso|csrf|preamble/i;
/** `Basic …` and `Bearer …` wherever they stand. */
const SCHEME = /\b(basic|bearer|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)(\s+|%20)[^\s"',;{}]+/gi;
/** user:password@ in a URL. */
const USERINFO = /(\/\/)[^/\s"'@]+@/g;
/** name=value in a query, a form or a log line. */
const PAIR = /([\w.-]+)(=|%3d)([^&;\s"'<>]+)/gi;
/** Letters and digits without a blank, too long for a word: a key or a hash. */
const KEYLIKE =
  /(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])[\w+=-]{24,}(?![\w.-])|[A-Za-z0-9+/]{16,}={1,2}/gi;

/** Secrets that give themselves away by their form. */
export function maskText(text: string): string {
  return text
    .replace(SCHEME, (_all, scheme: string) => `${scheme} ${MASK}`)
    .replace(USERINFO, `$1${MASK}@`)
    .replace(PAIR, (all, name: string, sign: string) => (TELLTALE.test(name) ? `${name}${sign}${MASK}` : all))
    .replace(KEYLIKE, MASK);
}

export function isTelltale(name: string): boolean {
  return TELLTALE.test(name);
}

/** A program: all strings of a statement that has to do with credentials, and comments that speak of them. */
export function maskProgram(source: string): string {
  let out = '';
  for (const statement of statements(source)) {
    const secret = TELLTALE.test(statement.map((t) => t.text).join(''));
    for (const { kind, text } of statement) {
      if (kind === 'comment') out += TELLTALE.test(text) ? maskedComment(text) : maskText(text);
      else if (kind === 'string') out += secret ? maskedString(text) : maskText(text);
      // Bytes in base64 stand without quotes.
      else out += secret ? text.replace(/:[A-Za-z0-9+/=]+:/g, `:${MASK}:`) : text;
    }
  }
  return out;
}

interface Token {
  kind: 'code' | 'string' | 'comment';
  text: string;
}

const TOKEN =
  /"""[\s\S]*?(?:"""|$)|\{"[\s\S]*?(?:"\}|$)|"[^"\n]*"?|\/\*[\s\S]*?(?:\*\/|$)|(?:#|\/\/)[^\n]*|[;{}]|[^"#/;{}]+|\//g;

/** The tokens of a program, statement by statement. A comment belongs to none. */
function* statements(source: string): Generator<Token[]> {
  let statement: Token[] = [];
  for (const [text] of source.matchAll(TOKEN)) {
    if (/^(#|\/\/|\/\*)/.test(text)) {
      yield statement;
      yield [{ kind: 'comment', text }];
      statement = [];
      continue;
    }
    const kind = /^(?:"|\{")/.test(text) ? 'string' : 'code';
    statement.push({ kind, text });
    if (text !== ';' && text !== '{' && text !== '}') continue;
    yield statement;
    statement = [];
  }
  yield statement;
}

function maskedString(text: string): string {
  if (text.startsWith('"""')) return `"""${MASK}"""`;
  return text.startsWith('{"') ? `{"${MASK}"}` : `"${MASK}"`;
}

function maskedComment(text: string): string {
  return text.startsWith('/*') ? `/* ${MASK} */` : `${text.startsWith('#') ? '#' : '//'} ${MASK}`;
}
