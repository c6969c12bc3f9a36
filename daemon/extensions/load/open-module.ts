// Opens a module, which runs its code. Only the describing process and the worker do this, never the manager.

import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { ModuleKind } from './module-file.ts';

/** A module's exports, and its actual kind. */
export interface OpenModule {
  exports: unknown;
  kind: 'addon' | 'esm' | 'cjs';
}

/** @param version distinguishes contents of one path: a new text reopens the file */
export async function openModule(path: string, kind: ModuleKind, version: string): Promise<OpenModule> {
  if (kind === 'addon') {
    const module = { exports: {} as unknown };
    process.dlopen(module, path, constants.dlopen.RTLD_NOW);
    return { exports: module.exports, kind };
  }
  // Paths are absolute, so the origin of the require does not matter.
  const require = createRequire('/');
  if (kind === 'cjs') {
    delete require.cache[path];
    return { exports: require(path), kind };
  }
  const url = pathToFileURL(path);
  if (version !== '') url.searchParams.set('version', version);
  const exports: unknown = await import(url.href);
  const common = require.cache[path];
  return kind === 'script' && common !== undefined
    ? { exports: common.exports, kind: 'cjs' }
    : { exports, kind: 'esm' };
}
