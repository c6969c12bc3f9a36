// Reads files of certificates and keys: regular ones of a bounded size, with rights that suit a key if there is one in
// them. Symlinks are followed: certbot's names are such.

import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { kindOf, othersBits } from '../../../protocol/files/trust.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { CertificateError } from './certificate-error.ts';

const { O_RDONLY, O_NONBLOCK } = constants;
/** Bytes (chosen): four times the list of all authorities that Debian trusts. */
const LARGEST = 1024 * 1024;

export interface KeyMaterialFile {
  readonly path: string;
  readonly bytes: Buffer;
  readonly stat: Stats;
}

/** Throws CertificateError. */
export function readKeyMaterial(path: string): KeyMaterialFile {
  let fd: number;
  try {
    // Does not wait for the writer of a FIFO.
    fd = openSync(path, O_RDONLY | O_NONBLOCK);
  } catch (cause) {
    throw new CertificateError(`${path}: ${systemText(cause)}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new CertificateError(`${path}: it is ${kindOf(stat)}; name a file`);
    if (stat.size > LARGEST)
      throw new CertificateError(
        `${path}: it has ${stat.size} bytes, more than the ${LARGEST} that are read; name another file`,
      );
    return { path, bytes: readFileSync(fd), stat };
  } catch (cause) {
    if (cause instanceof CertificateError) throw cause;
    throw new CertificateError(`${path}: ${systemText(cause)}`);
  } finally {
    closeSync(fd);
  }
}

/** Throws CertificateError if everybody can read or change a file with a key. Returns a warning, or null. A group that
 * root has given a key to is the usual way (ssl-cert in Debian). */
export function checkKeyAccess({ path, stat }: KeyMaterialFile): string | null {
  if ((stat.mode & 0o002) !== 0)
    throw new CertificateError(`${path}: any user may write to this key; type: chmod o-rw ${path}`);
  if ((stat.mode & 0o004) !== 0)
    throw new CertificateError(`${path}: any user may read this key; type: chmod o-r ${path}`);
  const others = othersBits(stat);
  if ((others & 0o020) !== 0) return `${path}: a group may write to this key; type: chmod g-w ${path}`;
  if ((others & 0o040) !== 0 && stat.uid !== 0)
    return `${path}: a group may read this key; type: chmod g-r ${path}`;
  return null;
}
