// Bans as rules that edge networks have: host equality, a path below a directory, file extensions, and a single URL. What
// is said here covers exactly the requests that the ban covers; anything else is no rule, with the reason, and never a
// rule that covers less.

import type { EdgeRule } from './providers/provider.ts';

export type BanTarget =
  | { readonly rule: EdgeRule; readonly url?: undefined; readonly reason?: undefined }
  /** "host/path". */
  | { readonly url: string; readonly rule?: undefined; readonly reason?: undefined }
  | { readonly reason: string; readonly rule?: undefined; readonly url?: undefined };

/** Words, or texts in double quotes with backslashes before quotes and backslashes. */
const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
/** Characters that stand for themselves in a pattern, or escaped ones. */
const LITERAL = /^(?:[A-Za-z0-9_/~%=,:@!&;-]|\\[^A-Za-z0-9])*$/;
/** A host as the header has it, with its port if it has one; in the pattern its dots are escaped. */
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;
const DOTTED = /^(?:[A-Za-z0-9_-]|\\\.)+(?::\d{1,5})?$/;
const EXTENSION =
  /^\\\.(?:([a-z0-9]+)|\((?:\?:)?([a-z0-9]+(?:\|[a-z0-9]+)*)\))(\$|\(\\\?\|\$\)|\(\?:\\\?\|\$\)|\(\$\|\\\?\))$/i;

export function banTarget(expression: string): BanTarget {
  const words = [...expression.matchAll(WORD)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain as string) : quoted.replace(/\\(["\\])/g, '$1'),
  );
  let host: string | null = null;
  let prefix: string | null = null;
  let extensions: string[] | null = null;
  let exact: string | null = null;
  for (let i = 0; i < words.length; i += 4) {
    const [field = '', operator = '', argument = '', and = '&&'] = words.slice(i, i + 4);
    if (and !== '&&') return { reason: 'the expression is not read' };
    const said = `${field} ${operator} ${argument}`;
    const name = field.toLowerCase();
    if (name === 'req.http.host') {
      const named = hostOf(operator, argument);
      if (named === null || host !== null) return { reason: `no rule for ${said}` };
      host = named;
    } else if (name === 'req.url' && operator === '==' && argument.startsWith('/') && exact === null) {
      exact = argument;
    } else if (name === 'req.url' && operator === '~') {
      const directory = directoryOf(argument);
      const files = EXTENSION.exec(argument);
      if (directory !== null && prefix === null) prefix = directory;
      else if (files !== null && extensions === null) extensions = (files[1] ?? files[2] ?? '').split('|');
      else return { reason: `no rule for ${said}` };
      // A pattern for extensions that allows no query leaves out what a rule takes in.
    } else return { reason: `no rule for ${said}` };
  }
  if (exact !== null) {
    if (host === null || prefix !== null || extensions !== null)
      return { reason: `no rule for req.url == ${exact}` };
    return { url: `${host}${exact}` };
  }
  return { rule: { host, prefix, extensions } };
}

function hostOf(operator: string, argument: string): string | null {
  if (operator === '==') return HOST.test(argument) ? argument.toLowerCase() : null;
  if (operator !== '~' || !argument.startsWith('^') || !argument.endsWith('$')) return null;
  const inner = argument.slice(1, -1);
  return DOTTED.test(inner) ? inner.replaceAll('\\', '').toLowerCase() : null;
}

/** Of a pattern for all that is below a directory. */
function directoryOf(pattern: string): string | null {
  if (!pattern.startsWith('^/') || !pattern.endsWith('/')) return null;
  const inner = pattern.slice(1);
  if (!LITERAL.test(inner)) return null;
  const path = inner.replace(/\\(.)/g, '$1');
  return /[?*"\s]|\/\//.test(path) ? null : path;
}
