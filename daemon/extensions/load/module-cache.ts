// The outside extensions opened by a worker. The same content of a file is opened once and shared by all programs
// that import it; a changed file is opened again beside the old one, which its programs keep.
//
// A module stays for the life of the worker: neither JavaScript modules nor addons can be unloaded. A worker that
// starts late may find the file changed or removed. It then uses the copy that the manager stored, so that a restart
// runs what was loaded; a module that imports files beside it cannot be restored that way.

import { readFileSync } from 'node:fs';
import type { Extension, ExtensionLookup } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import type { OutsideModule } from '../../contract/program.ts';
import { findExtension } from '../registry.ts';
import { adaptExtension } from './adapt.ts';
import type { OutsideExtension } from './interface.ts';
import { exported, readManifest } from './manifest.ts';
import { digestOf } from './module-file.ts';
import { openModule } from './open-module.ts';
import { LateUse } from './outside-context.ts';

const TIMEOUT_MS = 5000;

/** The file of our own code in stack traces: this module's, which holds the whole worker after bundling. */
const OUR_CODE = /(?:\(|at )((?:\w+:\/\/)?\/[^)]*):\d+:\d+\)?$/m.exec(new Error().stack ?? '')?.[1] ?? '';

export class ModuleCache {
  readonly #open = new Map<string, Promise<Extension>>();
  /** Files of modules opened in this process. */
  readonly #files = new Set<string>();

  /** Opens the extensions of a program. Throws with a message for the operator. */
  async lookup(modules: readonly OutsideModule[]): Promise<ExtensionLookup> {
    const found = new Map<string, Extension>();
    for (const m of modules) found.set(m.name, await this.#get(m));
    return (name) => found.get(name) ?? findExtension(name);
  }

  /** Whether an uncaught error comes from an extension. Every call of an extension is guarded, so it came from a
   * timer or a promise of its own; none of our code was interrupted, and the worker can continue. */
  isOutsideFault(error: unknown): boolean {
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    const isTheirs = (line: string): boolean => [...this.#files].some((file) => line.includes(file));
    // Our code throws these into an extension that uses an argument too late or wrongly.
    const handed = error instanceof LateUse || error instanceof ExtensionError;
    const isOurs = (line: string): boolean => !handed && line.includes(OUR_CODE);
    const origin = stack.split('\n').find((line) => isTheirs(line) || isOurs(line));
    return origin !== undefined && isTheirs(origin);
  }

  #get(m: OutsideModule): Promise<Extension> {
    const key = `${m.name} ${m.digest} ${m.file}`;
    let extension = this.#open.get(key);
    if (extension === undefined) {
      for (const file of [m.file, m.copy]) if (file !== null) this.#files.add(file);
      extension = open(m).catch((error: unknown) => {
        this.#open.delete(key);
        const text = error instanceof Error ? error.message : String(error);
        throw new Error(`Could not load VMOD ${m.name}\n\tFile name: ${m.file}\n\t${text}`);
      });
      this.#open.set(key, extension);
    }
    return extension;
  }
}

async function open(m: OutsideModule): Promise<Extension> {
  const path = usablePath(m);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not load within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  const module = await Promise.race([openModule(path, m.kind, m.digest), late]).finally(() =>
    clearTimeout(timer),
  );
  const manifest = readManifest(module.exports, m.name);
  if (JSON.stringify(manifest) !== m.manifest) {
    throw new Error('its description has changed since the program was compiled');
  }
  return adaptExtension(manifest, exported(module.exports) as OutsideExtension);
}

/** Addons are loaded from the copy, because overwriting a loaded library crashes the process. */
function usablePath(m: OutsideModule): string {
  const places = m.kind === 'addon' ? [m.copy, m.file] : [m.file, m.copy];
  for (const path of places) {
    if (path !== null && hasContent(path, m.digest)) return path;
  }
  throw new Error('the file has changed since the program was compiled');
}

function hasContent(path: string, digest: string): boolean {
  try {
    return digestOf(readFileSync(path)) === digest;
  } catch {
    return false;
  }
}
