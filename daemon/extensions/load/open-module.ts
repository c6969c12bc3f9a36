// Opens a module: its code runs here. Only the describing child process and the worker do this, never the manager.

import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { pathToFileURL } from 'node:url';
import type { ModuleKind } from './module-file.ts';

/** A module's exports and what kind it turned out to be. */
export interface OpenModule {
  exports: unknown;
  kind: 'addon' | 'esm' | 'cjs';
}

/** @param version sets apart contents of one path: a text that is not seen before opens the file again */
export async function openModule(path: string, kind: ModuleKind, version: string): Promise<OpenModule> {
  if (kind === 'addon') {
    const module = { exports: {} as unknown };
    process.dlopen(module, path, constants.dlopen.RTLD_NOW);
    return { exports: module.exports, kind };
  }
  // Paths are absolute, so that it does not matter where it is required from.
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
