// Whether the Varnish compared with has an extension: its collection of modules is a package of its own. Recordings are
// made with all of them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../harness/processes.ts';
import { MODE } from './recording.ts';

const asked = new Map<string, boolean>();

/** Its compiler knows. */
export function varnishKnows(...extensions: string[]): boolean {
  if (MODE === 'replay') return true;
  return extensions.every((name) => {
    const known = asked.get(name) ?? compiles(`import ${name};`);
    asked.set(name, known);
    if (MODE === 'record' && !known)
      throw new Error(`Varnish’s extension ${name} is not installed: nothing is recorded`);
    return known;
  });
}

function compiles(imports: string): boolean {
  const varnishd = findProgram('varnishd');
  if (varnishd === null) return false;
  const dir = mkdtempSync(join(tmpdir(), 'proxyd-imports-'));
  const file = join(dir, 'imports.vcl');
  writeFileSync(file, `vcl 4.1; ${imports} backend d none;`);
  const args = ['-j', 'none', '-C', '-n', join(dir, 'compile'), '-f', file];
  const { status } = spawnSync(varnishd, args, { stdio: 'ignore' });
  rmSync(dir, { recursive: true, force: true });
  return status === 0;
}
