// The argument of -s for a disk tier: disk,DIRECTORY,SIZE.

import { isAbsolute } from 'node:path';
import type { DiskSpec } from '../../link.ts';
import { parseBytes } from '../../params/value.ts';
import { OptionError } from './option-error.ts';

/** `file`, so that command lines of Varnish stay valid; its path is a directory here. */
export const DISK_KINDS = ['disk', 'file'];
const SMALLEST_DISK = 64 << 20;

/** `words`: what follows the kind. Throws OptionError. */
export function parseDisk(name: string, kind: string, words: readonly string[]): DiskSpec {
  const [path = '', size = '', ...rest] = words;
  if (name === 'Transient') throw new OptionError('Transient cannot be on disk');
  if (!isAbsolute(path)) throw new OptionError(`(-s${kind}) needs the absolute path of a directory`);
  if (rest.length > 0) throw new OptionError(`(-s${kind}) too many arguments`);
  const bytes = parseBytes(size);
  if (typeof bytes !== 'number') throw new OptionError(`(-s${kind}) size "${size}": ${bytes.text}`);
  if (bytes < SMALLEST_DISK) throw new OptionError(`(-s${kind}) size "${size}": too small, at least 64M`);
  return { name, path, size: bytes };
}
