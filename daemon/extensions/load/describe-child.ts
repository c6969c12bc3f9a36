// Entry of the process that describes one outside extension for the compiler: opens it, writes its manifest to
// descriptor 3 as JSON, and exits. The compiler bounds its time, memory and output. Never serves traffic.
//
// Arguments: file, kind, name of the import, and as JSON the account to become first (null: none).

import { accessSync, constants, writeSync } from 'node:fs';
import { type Account, becomeUser } from '../../privileges.ts';
import { readManifest } from './manifest.ts';
import type { ModuleKind } from './module-file.ts';
import { openModule } from './open-module.ts';

const RESULT_FD = 3;

function answer(value: object): void {
  const bytes = Buffer.from(JSON.stringify(value));
  for (let at = 0; at < bytes.length; ) at += writeSync(RESULT_FD, bytes, at);
}

function text(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a text';
  }
}

function checkReadable(file: string, user: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    const remedy = 'chmod a+r it, and chmod a+x the directories above it';
    throw new Error(`user ${user}, who runs it, has no permission to read it: ${remedy}`, { cause });
  }
}

const [path = '', kind = '', name = '', who = 'null'] = process.argv.slice(2);
// Exports may have getters, so that reading them is guarded as well.
try {
  const account = JSON.parse(who) as Account | null;
  if (account !== null) {
    becomeUser(account);
    checkReadable(path, account.user);
  }
  const module = await openModule(path, kind as ModuleKind, '');
  answer({ kind: module.kind, manifest: readManifest(module.exports, name) });
} catch (error) {
  answer({ problem: text(error), malformed: error instanceof Error && error.name === 'ManifestError' });
}
process.exit(0);
