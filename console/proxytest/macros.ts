// Macros of a script: ${name} and ${name,argument,…}.

import { readEscape, ScriptError } from './script.ts';

type MacroFunction = (args: readonly string[]) => string;

/** How a script writes a macro. */
export function macro(name: string): string {
  return `\${${name}}`;
}

export class Macros {
  /** A text of the form ${…} that names no macro stays as it is. */
  ignoreUnknown = false;
  readonly #values = new Map<string, string>();
  readonly #functions: ReadonlyMap<string, MacroFunction>;

  /** @param release version of the daemon under test, such as 7.1.1 */
  constructor(release: () => string) {
    this.#functions = new Map<string, MacroFunction>([
      ['date', noArguments(() => new Date().toUTCString())],
      ['string', text],
      ['pkg_version', noArguments(release)],
      ['pkg_branch', noArguments(() => release().split('.').slice(0, 2).join('.'))],
    ]);
  }

  define(name: string, value: string): void {
    this.#values.set(name, value);
  }

  remove(name: string): void {
    this.#values.delete(name);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Throws ScriptError for an unknown macro and for wrong arguments. */
  expand(from: string): string {
    if (!from.includes('${')) return from;
    let out = '';
    let at = 0;
    for (;;) {
      const begin = from.indexOf('${', at);
      const end = begin < 0 ? -1 : from.indexOf('}', begin);
      if (end < 0) return out + from.slice(at);
      out += from.slice(at, begin) + this.#value(from.slice(begin + 2, end));
      at = end + 1;
    }
  }

  #value(inner: string): string {
    const [name, ...args] = macroWords(inner);
    if (name === undefined) throw new ScriptError(`macro \${${inner}} has no name`);
    const value = this.#values.get(name);
    if (value !== undefined) {
      if (args.length > 0) throw new ScriptError(`macro \${${inner}}: ${name} takes no arguments`);
      return value;
    }
    const make = this.#functions.get(name);
    if (make !== undefined) return make(args);
    if (this.ignoreUnknown) return `\${${inner}}`;
    throw new ScriptError(`macro \${${inner}} not found`);
  }
}

function noArguments(make: () => string): MacroFunction {
  return (args) => {
    if (args.length > 0) throw new ScriptError('the macro takes no arguments');
    return make();
  };
}

/** ${string,repeat,N,TEXT} */
function text([action, count, repeated, ...more]: readonly string[]): string {
  if (action !== 'repeat')
    throw new ScriptError(`macro string: unknown action '${action ?? ''}'; there is repeat`);
  if (repeated === undefined || count === undefined || more.length > 0)
    throw new ScriptError('macro string,repeat takes a number and a text');
  if (!/^\d+$/.test(count)) throw new ScriptError(`macro string,repeat: invalid number '${count}'`);
  return repeated.repeat(Number(count));
}

/** Words with commas or spaces between them, some in quotes. */
function macroWords(from: string): string[] {
  const words: string[] = [];
  let i = 0;
  while (i < from.length) {
    if (/[\s,]/.test(from[i] as string)) {
      i++;
      continue;
    }
    const isQuoted = from[i] === '"';
    if (isQuoted) i++;
    let word = '';
    while (i < from.length && !(isQuoted ? from[i] === '"' : /[\s,]/.test(from[i] as string))) {
      if (from[i] === '\\') {
        const { char, end } = readEscape(from, i);
        word += char;
        i = end;
      } else word += from[i++];
    }
    if (isQuoted && from[i++] !== '"') throw new ScriptError(`macro \${${from}}: missing '"'`);
    words.push(word);
  }
  return words;
}
