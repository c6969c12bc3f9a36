// Finds and reads a program file: absolute and ./ names as they are, others along vcl_path.

import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { CLI } from '../../protocol/errors.ts';
import { systemText } from '../../protocol/system-text.ts';
import type { LoadedPrograms } from '../commands/manager-services.ts';
import { sourceText } from '../vcl/source-text.ts';
import { backendProgram } from './compiler.ts';
import { OptionError } from './option-error.ts';
import type { Options } from './options.ts';

/** The file with its full name, or the reason why there is none. `here`: also look in the current directory. */
export function readProgramFile(
  file: string,
  vclPath: string,
  here = false,
): { name: string; text: string } | string {
  const direct = isAbsolute(file) || /^\.\.?\//.test(file);
  const places = direct ? [file] : vclPath.split(':').map((dir) => join(dir, file));
  if (!direct && here) places.push(file);
  let why = 'No such file or directory';
  for (const name of places) {
    try {
      return { name, text: sourceText(readFileSync(name)) };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') why = systemText(cause);
    }
  }
  return why;
}

/** Loads what -b and -f name, and uses the last of it. Throws OptionError. */
export async function loadStartPrograms(
  { backend, programs: named }: Pick<Options, 'backend' | 'programs'>,
  vclPath: string,
  programs: LoadedPrograms,
): Promise<void> {
  const sources: { name: string; source: { name: string; text: string } }[] = [];
  if (backend !== null)
    sources.push({ name: 'boot', source: { name: '<-b>', text: backendProgram(backend) } });
  const files = named.filter((file) => file !== '');
  files.forEach((file, i) => {
    const source = readProgramFile(file, vclPath, true);
    if (typeof source === 'string') throw new OptionError(`Cannot read -f file '${file}' (${source})`);
    sources.push({ name: files.length === 1 ? 'boot' : `boot${i}`, source });
  });
  for (const { name, source } of sources) {
    const reply = await programs.load(name, source, 'auto');
    if (reply.status !== CLI.OK) throw new OptionError(`\n${reply.body}`, false);
  }
  const last = sources.at(-1);
  if (last !== undefined) {
    const reply = await programs.use(last.name);
    if (reply.status !== CLI.OK) throw new OptionError(reply.body, false);
  }
}
