// Parser of the file of -A: tokens into blocks of values, by the table of keys. It knows the form of each value and where
// a key may stand, but not what the keys mean.

import {
  TLS_FILE_ELSEWHERE,
  TLS_FILE_KEYS,
  TLS_FILE_REFUSED,
  type TlsKeyPlace,
  type TlsKeyRow,
} from '../../../protocol/tables/tls-file-keys.ts';
import { nearest } from '../../vcl/diagnostics.ts';
import { TlsFileError, type Token, tlsFileTokens } from './tls-file-lexer.ts';

/** The words of a value, one except for lists, and its place as `file:line:column`. */
export interface TlsFileValue {
  readonly words: readonly string[];
  readonly at: string;
}

export interface TlsFileBlock {
  readonly at: string;
  /** Values of keys that may be given once. */
  readonly values: ReadonlyMap<string, TlsFileValue>;
  /** Blocks and strings of `frontend` and `pem-file`, and the settings of `cert`, in order. A string is a block with
   * the empty key. */
  readonly blocks: readonly (readonly [key: string, block: TlsFileBlock])[];
}

const ROWS: ReadonlyMap<string, TlsKeyRow> = new Map(TLS_FILE_KEYS.map((row) => [row.name, row]));
const FLAGS: Readonly<Record<string, string>> = {
  on: 'on',
  yes: 'on',
  true: 'on',
  off: 'off',
  no: 'off',
  false: 'off',
};
const WHERE: Readonly<Record<TlsKeyPlace, string>> = {
  top: 'outside of blocks',
  frontend: 'in frontend = { ... }',
  certificate: 'in pem-file = { ... }',
};

/** @param warn is called for keys that have no meaning here. Throws TlsFileError. */
export function parseTlsBlocks(text: string, file: string, warn: (text: string) => void): TlsFileBlock {
  return new Parser(tlsFileTokens(text, file), warn).block('top', `${file}:1:1`);
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #warn: (text: string) => void;
  #at = 0;

  constructor(tokens: readonly Token[], warn: (text: string) => void) {
    this.#tokens = tokens;
    this.#warn = warn;
  }

  /** The assignments up to the end of the block, which is taken as well. */
  block(place: TlsKeyPlace, at: string): TlsFileBlock {
    const values = new Map<string, TlsFileValue>();
    const blocks: [string, TlsFileBlock][] = [];
    const last = place === 'top' ? 'end' : '}';
    for (;;) {
      const key = this.#next();
      if (key.kind === last) return { at, values, blocks };
      if (key.kind === 'end') throw mistake(at, 'the block does not end', 'add a }');
      if (key.kind !== 'word') throw mistake(key.at, `${shown(key)} instead of a key`, 'write key = value');
      this.#assignment(place, key, values, blocks);
    }
  }

  #assignment(
    place: TlsKeyPlace,
    key: Token,
    values: Map<string, TlsFileValue>,
    blocks: [string, TlsFileBlock][],
  ): void {
    const row = ROWS.get(key.text);
    if (row === undefined) {
      this.#foreign(place, key);
      return;
    }
    if (!row.places.includes(place)) {
      const where = row.places.map((one) => WHERE[one]).join(' or ');
      throw mistake(key.at, `${key.text} cannot stand here`, `it belongs ${where}`);
    }
    this.#equals(key);
    if (row.value === 'frontend' || row.value === 'certificate') {
      blocks.push([row.name, this.#nested(row.value, key)]);
      return;
    }
    const value = { words: this.#words(row, key), at: key.at };
    // At the top and in a frontend each cert is a certificate, to which the names after it belong.
    if (place !== 'certificate' && row.name === 'cert') {
      blocks.push(['pem-file', { at: key.at, values: new Map([['cert', value]]), blocks: [] }]);
      return;
    }
    const owner = place !== 'certificate' && row.name === 'names' ? namesOf(blocks, key) : values;
    if (owner.has(row.name)) throw mistake(key.at, `${key.text} is given twice`, 'remove one of them');
    owner.set(row.name, value);
  }

  /** A block, or the string that stands for one with a single value. */
  #nested(place: 'frontend' | 'certificate', key: Token): TlsFileBlock {
    if (this.#peek().kind === '{') {
      this.#next();
      return this.block(place, key.at);
    }
    const words = [this.#text(key)];
    return { at: key.at, values: new Map([['', { words, at: key.at }]]), blocks: [] };
  }

  #words(row: TlsKeyRow, key: Token): string[] {
    if (row.value === 'list') return this.#list(key);
    const text = this.#text(key);
    if (row.value === 'flag') {
      const flag = Object.hasOwn(FLAGS, text.toLowerCase()) ? FLAGS[text.toLowerCase()] : undefined;
      if (flag === undefined) throw mistake(key.at, `${key.text} is "${text}"`, 'write on or off');
      return [flag];
    }
    if (row.oneOf?.includes(text) === false)
      throw mistake(key.at, `${key.text} is "${text}"`, `write one of ${row.oneOf.join(', ')}`);
    return [text];
  }

  #text(key: Token): string {
    const token = this.#next();
    if (token.kind === 'word' || token.kind === 'string') return token.text;
    throw mistake(token.at, `${shown(token)} instead of the value of ${key.text}`, 'write key = value');
  }

  /** Words up to the next key, which is a word with `=` after it. */
  #list(key: Token): string[] {
    const words = [this.#text(key)];
    for (;;) {
      const { kind } = this.#peek();
      if ((kind !== 'word' && kind !== 'string') || this.#peek(1).kind === '=') break;
      words.push(this.#next().text);
    }
    return words.flatMap((word) => word.split(/[\s,]+/)).filter((word) => word !== '');
  }

  /** A key that is not in the table. */
  #foreign(place: TlsKeyPlace, key: Token): void {
    const { text, at } = key;
    if (Object.hasOwn(TLS_FILE_REFUSED, text))
      throw mistake(at, `${text} is not supported`, TLS_FILE_REFUSED[text] as string);
    if (!Object.hasOwn(TLS_FILE_ELSEWHERE, text)) {
      const known = TLS_FILE_KEYS.filter((row) => row.places.includes(place)).map((row) => row.name);
      const near = nearest(text, known) ?? nearest(text, ROWS.keys());
      throw mistake(
        at,
        `unknown key ${text}`,
        near === null ? 'proxy-tls(7) has all keys' : `did you mean ${near}?`,
      );
    }
    this.#equals(key);
    if (this.#peek().kind === '{') this.#skipBlock(key);
    else this.#list(key);
    this.#warn(`${at}: ${text} has no effect; ${TLS_FILE_ELSEWHERE[text]}`);
  }

  #skipBlock(key: Token): void {
    let depth = 0;
    do {
      const { kind } = this.#next();
      if (kind === 'end') throw mistake(key.at, 'the block does not end', 'add a }');
      if (kind === '{') depth++;
      if (kind === '}') depth--;
    } while (depth > 0);
  }

  #equals(key: Token): void {
    const token = this.#next();
    if (token.kind !== '=')
      throw mistake(token.at, `${shown(token)} after ${key.text}`, `write ${key.text} = value`);
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)] as Token;
  }

  #next(): Token {
    const token = this.#peek();
    if (token.kind !== 'end') this.#at++;
    return token;
  }
}

/** The values of the last certificate, which has to be one that is still without names. */
function namesOf(blocks: readonly [string, TlsFileBlock][], key: Token): Map<string, TlsFileValue> {
  const last = blocks.findLast(([name]) => name === 'pem-file')?.[1].values as
    | Map<string, TlsFileValue>
    | undefined;
  if (last?.get('cert')?.words[0] === 'auto') return last;
  throw mistake(key.at, 'names without a certificate that is to have them', 'write cert = "auto" before it');
}

function shown(token: Token): string {
  if (token.kind === 'end') return 'the end of the file';
  return token.kind === 'string' ? 'a string' : `"${token.text.slice(0, 40)}"`;
}

export function mistake(at: string, what: string, hint: string): TlsFileError {
  // A file may hold anything, and a message goes to a terminal.
  const shown = what.replaceAll(/\p{Cc}/gu, '?');
  return new TlsFileError(`${at}: ${shown.length > 200 ? `${shown.slice(0, 199)}…` : shown}; ${hint}`);
}
