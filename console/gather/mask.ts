// Masks secrets in an archive that is handed to others: values of fields and parameters named like credentials,
// credentials in URLs, and anything that looks like a key. Errs on the safe side: a diagnosis needs to know that
// there was a cookie, not its value. Pure functions on text.

export const MASK = '<masked>';

/** Names of fields, parameters and variables with sensitive values. */
const TELLTALE =
  /auth|cookie|token|secret|passw|passphrase|credential|session|api[-_]?key|access[-_]?key|private|signature|jwt|bearer|sso|csrf|preamble/i;
/** Short names of that kind that are parts of harmless words: matched as whole words only. */
const SHORT = new Set(
  'key keys code sig sign pwd pass otp totp pin cvv cvc ssn iban hmac mac hash salt nonce psk ticket sid saml samlresponse assertion refresh license licence cred creds pw passwd'.split(
    ' ',
  ),
);
/** Names that contain such a word without holding a secret. */
const HARMLESS =
  /^(?:surrogate-keys?|cache-key|cache-keys|status[-_]?code|error[-_]?code|country[-_]?code|x-cache-hash)$/i;
/** `Basic …` and `Bearer …` anywhere. */
const SCHEME = /\b(basic|bearer|digest|negotiate|ntlm|hawk|aws4-hmac-sha256)(\s+|%20)[^\s"',;{}]+/gi;
/** user:password@ in a URL. */
const USERINFO = /(\/\/)[^/\s"'@]+@/g;
/** name=value in a query, a form, a header or a log line, `name: value` and "name":"value", escaped or not. The first
 * part is the end of an escaped byte, which is not part of the name. */
const PAIR =
  /((?:%(?:25)*[0-9a-f]{2})*)([\w.-]+)((?:"|%22)?\s*(?:=|:|%(?:25)*3[ad])\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^&;,\s"'<>]+)/gi;
/** Letters and digits without a blank, too long for a word: a key or a hash. */
const KEYLIKE =
  /(?<![\w/.-])(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])[\w+=-]{24,}(?![\w.-])|[A-Za-z0-9+/]{16,}={1,2}/gi;

/** Masks secrets recognizable by their form. */
export function maskText(text: string): string {
  return text
    .replace(SCHEME, (_all, scheme: string) => `${scheme} ${MASK}`)
    .replace(USERINFO, `$1${MASK}@`)
    .replace(PAIR, maskPair)
    .replace(KEYLIKE, MASK);
}

function maskPair(all: string, before: string, name: string, sign: string, value: string): string {
  if (isTelltale(name)) {
    const quote = /^["']/.exec(value)?.[0] ?? '';
    return `${before}${name}${sign}${quote}${MASK}${quote}`;
  }
  // A value may contain pairs of its own, such as a URL inside a URL.
  const inner = value.replace(PAIR, maskPair);
  return inner === value ? all : `${before}${name}${sign}${inner}`;
}

export function isTelltale(name: string): boolean {
  if (TELLTALE.test(name)) return true;
  if (HARMLESS.test(name)) return false;
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some((word) => SHORT.has(word));
}

/** A program: all strings of statements that involve credentials, and comments that mention them. */
export function maskProgram(source: string): string {
  let out = '';
  for (const statement of statements(source)) {
    const text = statement.map((t) => t.text).join('');
    const secret =
      TELLTALE.test(text) || [...text.matchAll(FIELD)].some(([, name]) => isTelltale(name ?? ''));
    for (const { kind, text } of statement) {
      if (kind === 'comment') out += TELLTALE.test(text) ? maskedComment(text) : maskText(text);
      else if (kind === 'string') out += secret ? maskedString(text) : maskText(text);
      // BLOB literals in base64 have no quotes.
      else out += secret ? text.replace(/:[A-Za-z0-9+/=]+:/g, `:${MASK}:`) : text;
    }
  }
  return out;
}

/** A header in VCL syntax. */
const FIELD = /\bhttp\.([\w-]+)/g;

interface Token {
  kind: 'code' | 'string' | 'comment';
  text: string;
}

const TOKEN =
  /"""[\s\S]*?(?:"""|$)|\{"[\s\S]*?(?:"\}|$)|"[^"\n]*"?|\/\*[\s\S]*?(?:\*\/|$)|(?:#|\/\/)[^\n]*|[;{}]|[^"#/;{}]+|\//g;

/** The tokens of a program, by statement. Comments belong to none. */
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
