// Locates the package's files, whether run from sources, compiled modules or a bundle.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Full path of a file of the package, relative to the folder of package.json. Does not check that it exists. Throws
 * if this code is not in a package called proxyd. */
export function inPackage(file: string): string {
  return join(packageFolder(), file);
}

/** The version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string };
  return version;
}

function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isOurs(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`${import.meta.url} is in no package called proxyd`);
    folder = parent;
  }
  return folder;
}

function isOurs(manifest: string): boolean {
  if (!existsSync(manifest)) return false;
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { name?: unknown }).name === 'proxyd';
}
