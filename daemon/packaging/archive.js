// proxyd-VERSION-linux-x64.tar.gz: the tree below one directory, to unpack anywhere.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { librariesOf } from './libraries.js';
import { configuration, copy, LIBRARIES, put, settle } from './tree.js';

/** Node needs it, and the base of Debian and others does not have it; with the place of its licence in Debian. */
const BROUGHT = { library: 'libatomic.so.1', licence: '/usr/share/doc/libatomic1/copyright' };

/** Writes a tar of what lies in a directory, the same bytes for the same content.
 * @param more {owner} number of the user and the group that all of it belongs to, by default root; {append} to a tar that is
 * there; {exclude} paths that it leaves out */
export function tar(directory, names, file, { owner = 0, append = false, exclude = [] } = {}) {
  const fixed = ['--sort=name', `--owner=${owner}`, `--group=${owner}`, '--numeric-owner', '--format=gnu'];
  const left = exclude.map((path) => `--exclude=${path}`);
  execFileSync('tar', [...fixed, ...left, '-C', directory, append ? '-rf' : '-cf', file, ...names]);
}

export function archive({ root, work, version, date, tree, runtime }, out) {
  const name = `proxyd-${version}-linux-x64`;
  const place = join(work, name);
  cpSync(tree, place, { recursive: true, verbatimSymlinks: true });
  for (const [path, content] of configuration(root)) put(join(place, 'etc', path), content);
  const brought = librariesOf(runtime.binary).filter((path) => basename(path) === BROUGHT.library);
  for (const path of brought) copy(path, join(place, LIBRARIES, basename(path)));
  if (brought.length > 0 && existsSync(BROUGHT.licence))
    copy(BROUGHT.licence, join(place, LIBRARIES, `${BROUGHT.library}.copyright`));
  settle(place, date);
  const plain = join(work, `${name}.tar`);
  tar(work, [name], plain);
  const file = join(out, `${name}.tar.gz`);
  writeFileSync(file, gzipSync(readFileSync(plain), { level: 6 }));
  rmSync(place, { recursive: true });
  rmSync(plain);
  return file;
}
