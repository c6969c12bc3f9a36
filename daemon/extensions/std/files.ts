// std functions that look at files and the environment. A file is read once and then kept, as in the field.

import { existsSync, readFileSync } from 'node:fs';
import type { VclContext } from '../../vcl/context.ts';
import { softFail } from '../../vcl/runtime/failure.ts';
import type { ExtensionFunction } from '../extension.ts';

const CACHES = new WeakMap<object, Map<string, Buffer | null>>();

/** Content of a file, kept as long as its program lives. */
function content(ctx: VclContext, path: string | null, name: string): Buffer | null {
  if (path === null) return null;
  let cache = CACHES.get(ctx.vcl);
  if (cache === undefined) {
    cache = new Map();
    CACHES.set(ctx.vcl, cache);
  }
  const known = cache.get(path);
  if (known !== undefined) return known;
  try {
    const bytes = readFileSync(path);
    cache.set(path, bytes);
    return bytes;
  } catch (e) {
    softFail(ctx, `std.${name}(): cannot read ${path} (${(e as NodeJS.ErrnoException).code ?? 'error'})`);
    return null;
  }
}

export const fileFunctions: Record<string, ExtensionFunction> = {
  fileread: {
    signature: 'STRING fileread(STRING)',
    call: (ctx, path: string | null) => content(ctx, path, 'fileread')?.toString('latin1') ?? null,
  },
  blobread: {
    signature: 'BLOB blobread(STRING)',
    call: (ctx, path: string | null) => content(ctx, path, 'blobread'),
  },
  file_exists: {
    signature: 'BOOL file_exists(STRING path)',
    call: (_c, path: string | null) => path !== null && existsSync(path),
  },
  getenv: {
    signature: 'STRING getenv(STRING name)',
    call: (_c, name: string | null) => (name === null || name === '' ? null : (process.env[name] ?? null)),
  },
};
