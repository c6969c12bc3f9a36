// -s arguments: [name=]kind[,size], and what is added when none or no Transient is given.

import { totalmem } from 'node:os';
import type { StorageSpec } from '../link.ts';
import { parseBytes } from '../params/value.ts';
import { OptionError } from './option-error.ts';

const MALLOC_KINDS = ['malloc', 'default', 'umem'];
/** Kinds that VCL proxies know and this one does not have. */
const FOREIGN_KINDS = ['file', 'deprecated_persistent', 'persistent', 'debug'];
const DEFAULT_SIZE = 100 << 20;
const SMALLEST = 1 << 20;

/** One argument; `index` gives the default name (s0, s1 …). Throws OptionError. */
export function parseStorage(text: string, index: number): StorageSpec {
  if (text === '') throw new OptionError('-s argument lacks strategy {malloc, file, ...}');
  const named = /^([^=,]*)=(.*)$/s.exec(text);
  const name = named?.[1] ?? `s${index}`;
  const [kind = '', size, ...rest] = (named?.[2] ?? text).split(',');
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) throw new OptionError(`invalid -s name "${name}"=[...]`);
  if (named !== null && kind === '') throw new OptionError(`Empty named -s argument "${text}"`);
  if (FOREIGN_KINDS.includes(kind)) {
    throw new OptionError(`Storage method "${kind}" is not supported (supported: malloc, default, umem)`);
  }
  if (!MALLOC_KINDS.includes(kind)) throw new OptionError(`Unknown storage method "${kind}"`);
  if (rest.length > 0) throw new OptionError(`(-s${kind}) too many arguments`);
  if (size === undefined || size === '') {
    return { name, kind: 'malloc', size: name === 'Transient' ? 0 : unsized() };
  }
  const bytes = parseBytes(size);
  if (typeof bytes !== 'number') throw new OptionError(`(-s${kind}) size "${size}": ${bytes.text}`);
  if (bytes < SMALLEST)
    throw new OptionError(`(-s${kind}) size "${size}": too small, did you forget to specify M or G?`);
  return { name, kind: 'malloc', size: bytes };
}

/** `-s malloc` without a size takes no more than half of the machine: unlimited would only end in the OOM killer. */
function unsized(): number {
  return Math.floor(totalmem() / 2);
}

/** The storages of a daemon: those given, else one of 100 MB, and a Transient. Throws OptionError. */
export function withDefaults(given: readonly StorageSpec[]): StorageSpec[] {
  const out = [...given];
  const names = new Set<string>();
  for (const { name } of out) {
    if (names.has(name)) throw new OptionError(`Storage name "${name}" is used twice`);
    names.add(name);
  }
  if (!out.some((s) => s.name !== 'Transient'))
    out.unshift({ name: 's0', kind: 'malloc', size: DEFAULT_SIZE });
  if (!names.has('Transient')) out.push({ name: 'Transient', kind: 'malloc', size: 0 });
  return out;
}
