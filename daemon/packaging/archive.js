// proxyd-VERSION-linux-x64.tar.gz: the tree below one directory, to unpack anywhere.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { configuration, put, settle } from './tree.js';

/** Writes a tar of what lies in a directory, the same bytes for the same content. */
export function tar(directory, names, file) {
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
  execFileSync('tar', [...fixed, '-C', directory, '-cf', file, ...names]);
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
