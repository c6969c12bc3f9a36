// proxyd-VERSION-linux-x64.tar.gz: the tree below one directory, to unpack anywhere.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { configuration, put, settle } from './tree.js';

/** Writes a tar of what lies in a directory, the same bytes for the same content.
 * @param more {owner} number of the user and the group that all of it belongs to, by default root; {append} to a tar that is
 * there; {exclude} paths that it leaves out */
export function tar(directory, names, file, { owner = 0, append = false, exclude = [] } = {}) {
  const fixed = ['--sort=name', `--owner=${owner}`, `--group=${owner}`, '--numeric-owner', '--format=gnu'];
  const left = exclude.map((path) => `--exclude=${path}`);
  execFileSync('tar', [...fixed, ...left, '-C', directory, append ? '-rf' : '-cf', file, ...names]);
}

export function archive({ root, work, version, date, tree }, out) {
  const name = `proxyd-${version}-linux-x64`;
  const place = join(work, name);
  cpSync(tree, place, { recursive: true, verbatimSymlinks: true });
  for (const [path, content] of configuration(root)) put(join(place, 'etc', path), content);
  settle(place, date);
  const plain = join(work, `${name}.tar`);
  tar(work, [name], plain);
  const file = join(out, `${name}.tar.gz`);
  writeFileSync(file, gzipSync(readFileSync(plain), { level: 6 }));
  rmSync(place, { recursive: true });
  rmSync(plain);
  return file;
}
