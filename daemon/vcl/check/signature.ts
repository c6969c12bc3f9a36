// Parses extension signatures: "TYPE name([TYPE arg], TYPE arg=default, ENUM {a, b} arg=a, PRIV_TASK)". Constructors
// and methods have the same form, a constructor without a type before its name.
//
// An invalid signature throws SignatureError: a bug of a built-in extension, a compile error of an outside one. Every
// default is checked against its type here, so that no part of it can become code.

import { TIME_UNITS } from '../../../protocol/units.ts';
import type { Type } from '../tables/type-rows.ts';
import type { Constant } from '../typed-program.ts';
import { BYTE_UNITS } from './types.ts';

/** Private data of the extension, passed by the compiler and never written in a program. */
export type PrivScope = 'PRIV_CALL' | 'PRIV_VCL' | 'PRIV_TASK' | 'PRIV_TOP';

export interface Param {
  type: Type;
  /** Set for PRIV parameters, which have type VOID and take no argument. */
  priv: PrivScope | null;
  /** Empty if the signature has none; such an argument is positional only. */
  name: string;
  optional: boolean;
  /** The default value; undefined if there is none. */
  fallback: Constant | undefined;
  values: readonly string[] | null;
}

export interface Signature {
  returns: Type;
  name: string;
  params: readonly Param[];
}

export class SignatureError extends Error {
  constructor(text: string, why: string) {
    super(`${why} in the signature "${text}"`);
    this.name = 'SignatureError';
  }
}

const PRIVS: readonly string[] = ['PRIV_CALL', 'PRIV_VCL', 'PRIV_TASK', 'PRIV_TOP'];

/** Types by the word of a signature. STRANDS arrive joined. */
const WORDS: ReadonlyMap<string, Type> = new Map<string, Type>([
  ...(
    [
      'ACL',
      'BACKEND',
      'BLOB',
      'BODY',
      'BOOL',
      'BYTES',
      'DURATION',
      'ENUM',
      'HEADER',
      'HTTP',
      'INT',
      'IP',
    ] as const
  ).map((t): [string, Type] => [t, t]),
  ...(['PROBE', 'REAL', 'REGEX', 'STEVEDORE', 'STRING', 'SUB', 'TIME', 'VOID'] as const).map(
    (t): [string, Type] => [t, t],
  ),
  ['STRANDS', 'STRING'],
  ['STRING_LIST', 'STRING'],
]);

const HEAD = /^(?:([A-Z_]+)\s+)?([A-Za-z]\w*|)\s*\((.*)\)$/s;
const PARAM = /^([A-Z_]+)(?:\s*\{([^}]*)\})?(?:\s+([A-Za-z]\w*))?(?:\s*=\s*(.+))?$/s;
const WORD = /^[A-Za-z]\w*$/;

function split(text: string, list: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let i = 0; i < list.length; i++) {
    const c = list[i];
    if (c === '\\' && quoted) i++;
    else if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') depth--;
    else if (c === ',' && depth === 0) {
      out.push(list.slice(from, i));
      from = i + 1;
    }
    if (depth < 0) break;
  }
  if (quoted || depth !== 0) throw new SignatureError(text, 'Something is not closed');
  if (out.length > 0 || list.trim() !== '') out.push(list.slice(from));
  return out.map((p) => p.trim());
}

const NUMBER = /^(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)$/;

function numberDefault(type: Type, text: string): number | undefined {
  const m = NUMBER.exec(text);
  if (m === null) return undefined;
  const n = Number(m[1]);
  const unit = m[2] ?? '';
  if (type === 'DURATION') {
    const factor = unit === '' ? 1 : TIME_UNITS.get(unit);
    return factor === undefined ? undefined : n * factor;
  }
  if (type === 'BYTES') {
    const factor = unit === '' ? 1 : BYTE_UNITS.get(unit.toLowerCase());
    return factor === undefined || n < 0 ? undefined : Math.floor(n * factor);
  }
  if (unit !== '' || (type === 'INT' && !Number.isSafeInteger(n))) return undefined;
  return n;
}

function stringDefault(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A default value; undefined if the type has no such value. */
function defaultValue(type: Type, text: string, values: readonly string[] | null): Constant | undefined {
  switch (type) {
    case 'STRING':
      return text === 'NULL' ? null : stringDefault(text);
    case 'ENUM': {
      const word = text.startsWith('"') ? stringDefault(text) : text;
      return word !== undefined && values?.includes(word) === true ? word : undefined;
    }
    case 'BOOL':
      if (text === '1' || text === 'true') return true;
      return text === '0' || text === 'false' ? false : undefined;
    case 'INT':
    case 'REAL':
    case 'BYTES':
    case 'DURATION':
    case 'TIME':
      return numberDefault(type, text);
    case 'ACL':
    case 'BACKEND':
    case 'BLOB':
    case 'PROBE':
    case 'REGEX':
    case 'STEVEDORE':
    case 'SUB':
      return text === '0' || text === 'NULL' || text === 'none' ? null : undefined;
    default:
      return undefined;
  }
}

function parseParam(text: string, p: string): Param {
  const optional = p.startsWith('[') && p.endsWith(']');
  const m = PARAM.exec((optional ? p.slice(1, -1) : p).trim());
  if (m === null) throw new SignatureError(text, `No parameter: '${p}'`);
  const word = m[1] as string;
  const name = m[3] ?? '';
  if (PRIVS.includes(word)) {
    if (optional || m[2] !== undefined || m[4] !== undefined) {
      throw new SignatureError(text, `${word} is always passed`);
    }
    return {
      type: 'VOID',
      priv: word as PrivScope,
      name,
      optional: false,
      fallback: undefined,
      values: null,
    };
  }
  const type = WORDS.get(word);
  if (type === undefined || type === 'VOID') throw new SignatureError(text, `Unknown type '${word}'`);
  const values = m[2] === undefined ? null : m[2].split(',').map((v) => v.trim());
  if ((type === 'ENUM') !== (values !== null)) {
    throw new SignatureError(text, type === 'ENUM' ? 'An ENUM without its values' : `Values for ${word}`);
  }
  const odd = values?.find((v) => !WORD.test(v));
  if (odd !== undefined) throw new SignatureError(text, `'${odd}' is not a valid value of an ENUM`);
  let fallback: Constant | undefined;
  if (m[4] !== undefined) {
    fallback = defaultValue(type, m[4].trim(), values);
    if (fallback === undefined)
      throw new SignatureError(text, `'${m[4].trim()}' is not a valid default for ${word}`);
  }
  return { type, priv: null, name, optional, fallback, values };
}

/** Throws SignatureError. */
export function parseSignature(text: string): Signature {
  const head = HEAD.exec(text.trim());
  if (head === null) throw new SignatureError(text, 'No "TYPE name(parameters)"');
  const returns = head[1] === undefined ? 'VOID' : WORDS.get(head[1]);
  if (returns === undefined) throw new SignatureError(text, `Unknown type '${head[1]}'`);
  const params = split(text, head[3] as string).map((p) => parseParam(text, p));
  const names = params.flatMap((p) => (p.name === '' ? [] : [p.name]));
  const twice = names.find((n, i) => names.indexOf(n) !== i);
  if (twice !== undefined) throw new SignatureError(text, `Two parameters '${twice}'`);
  return { returns, name: head[2] as string, params };
}
