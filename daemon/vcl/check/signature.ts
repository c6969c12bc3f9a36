// Reads extension signatures: "TYPE name([TYPE arg], TYPE arg=default, ENUM {a, b} arg="a")".
// A malformed signature is a bug of the extension and throws.

import type { Type } from './types.ts';

export interface Param {
  type: Type;
  /** Empty when the signature gives none; such an argument is positional only. */
  name: string;
  optional: boolean;
  /** JavaScript of the default value. */
  defaultJs: string | null;
  values: readonly string[] | null;
}

export interface Signature {
  returns: Type;
  name: string;
  params: readonly Param[];
}

const HEAD = /^(?:([A-Z]+)\s+)?([a-z0-9_]+|)\s*\((.*)\)$/s;
const PARAM = /^(\[)?\s*([A-Z]+)(?:\s*\{([^}]*)\})?(?:\s+(\w+))?(?:\s*=\s*(.+?))?\s*\]?$/s;

function split(list: string): string[] {
  const out: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let i = 0; i < list.length; i++) {
    const c = list[i];
    if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === '{') depth++;
    else if (c === '}') depth--;
    else if (c === ',' && depth === 0) {
      out.push(list.slice(from, i));
      from = i + 1;
    }
  }
  if (list.slice(from).trim() !== '') out.push(list.slice(from));
  return out.map((p) => p.trim());
}

function defaultOf(type: string, text: string): string {
  if (type === 'BOOL') return text === '1' || text === 'true' ? 'true' : 'false';
  return type === 'ENUM' && !text.startsWith('"') ? JSON.stringify(text) : text;
}

export function parseSignature(text: string): Signature {
  const head = HEAD.exec(text.trim());
  if (head === null) throw new Error(`bad extension signature: ${text}`);
  const params = split(head[3] as string).map((p): Param => {
    const m = PARAM.exec(p);
    if (m === null) throw new Error(`bad parameter in extension signature: ${text}`);
    const type = m[2] as string;
    return {
      type: (type === 'STRANDS' || type === 'STRING_LIST' ? 'STRING' : type) as Type,
      name: m[4] ?? '',
      optional: m[1] !== undefined,
      defaultJs: m[5] === undefined ? null : defaultOf(type, m[5]),
      values: m[3] === undefined ? null : m[3].split(',').map((v) => v.trim()),
    };
  });
  return { returns: (head[1] ?? 'VOID') as Type, name: head[2] as string, params };
}
