// The libraries of C that Node is linked to, as this machine has them.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Beside what a binary is linked to: what the C library loads by itself for names of hosts. */
const LOADED = ['libresolv.so.2', 'libnss_dns.so.2', 'libnss_files.so.2'];

/** Paths of the dynamic linker and of the libraries that a binary needs, and of those they load. */
export function librariesOf(binary) {
  const lines = execFileSync('ldd', [binary], { encoding: 'utf8' }).split('\n');
  const missing = lines.flatMap((line) => /^\s*(\S+) => not found/.exec(line)?.[1] ?? []);
  if (missing.length > 0)
    throw new Error(`this machine has no ${missing.join(', ')}, which Node needs: install it (libatomic1)`);
  const linked = lines.flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  const libc = linked.find((path) => basename(path) === 'libc.so.6');
  if (libc === undefined) throw new Error(`ldd says nothing of a C library of ${binary}`);
  const loaded = LOADED.map((name) => join(libc, '..', name)).filter((path) => existsSync(path));
  return [...linked, ...loaded];
}
