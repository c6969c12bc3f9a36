// Files named on the command line: programs (-b, -f) and commands (-I).

import { readFileSync } from 'node:fs';
import { basename, isAbsolute, join, resolve } from 'node:path';
import { CommandLines } from '../../protocol/cli-quoting.ts';
import { CLI } from '../../protocol/errors.ts';
import type { CommandReply } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { sourceText } from '../vcl/source-text.ts';
import { OptionError } from './options/option-error.ts';
import type { Options } from './options/options.ts';
import type { Programs } from './programs/programs.ts';

/** Finds a program file: absolute and ./ names as they are, others in vcl_path. Returns the file with its full name,
 * or the reason of a failure. `here`: searches the current directory, too. */
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

/** Loads the programs of -b and -f, and uses the last one, once the extensions of -E are there. Throws OptionError. */
export async function loadStartPrograms(
  { backend, programs: named, extensions }: Pick<Options, 'backend' | 'programs' | 'extensions'>,
  vclPath: string,
  programs: Programs,
): Promise<void> {
  await checkStartExtensions(extensions, programs);
  const sources: { name: string; source: { name: string; text: string } }[] = [];
  if (backend !== null)
    sources.push({ name: 'boot', source: { name: '<-b>', text: backendProgram(backend) } });
  const files = named.filter((file) => file !== '');
  files.forEach((file, i) => {
    const source = readProgramFile(file, vclPath, true);
    if (typeof source === 'string') throw new OptionError(`Cannot read -f file '${file}' (${source})`);
    sources.push({ name: named.length === 1 ? 'boot' : `boot${i}`, source });
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

/** Compiles a program that imports each extension of -E, so that one that is missing is found at the start. Throws
 * OptionError. */
async function checkStartExtensions(names: readonly string[], programs: Programs): Promise<void> {
  for (const name of names) {
    const isPath = name.includes('/');
    const word = isPath ? basename(name).replace(/^(?:libvmod_)?([^.]*).*$/, '$1') : name;
    if (!/^[a-z]\w*$/i.test(word)) throw new OptionError(`-E ${name}: not the name of an extension`);
    const from = isPath ? ` from ${vclString(resolve(name))}` : '';
    const text = `vcl 4.1;\n\nimport ${word}${from};\nbackend default none;\n`;
    const reply = await programs.check({ name: '<-E>', text });
    if ('status' in reply) throw new OptionError(`-E ${name}: cannot be loaded\n${reply.body}`, false);
  }
}

/** Runs the file's commands; `note` is called for each with its status. Throws OptionError. */
export async function runInitFile(
  file: string,
  run: (line: string) => Promise<CommandReply>,
  note: (text: string) => void,
): Promise<void> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OptionError(`Can't open -I file ${file}: ${systemText(cause)}`);
  }
  const lines = new CommandLines();
  const complete = lines.push(text);
  for (const line of complete) {
    const mayFail = line.startsWith('-');
    const reply = await run(mayFail ? line.slice(1) : line);
    const [shown = ''] = line.split('\n', 1);
    note(`-I ${file}: ${shown} -> ${reply.status}`);
    if (reply.status === CLI.OK || reply.status === CLI.TRUNCATED || mayFail) continue;
    throw new OptionError(`-I file CLI command failed (${reply.status})\n> ${shown}\n${reply.body}`);
  }
  // A file that was cut short is not to look like a whole one.
  if (lines.end().length > 0) throw new OptionError('-I file had incomplete CLI command at the end');
}

/** The program that -b stands for. Throws OptionError. */
export function backendProgram(backend: string): string {
  if (backend.toLowerCase() === 'none') return 'vcl 4.1;\n\nbackend default none;\n';
  if (backend.startsWith('/')) {
    return `vcl 4.1;\n\nbackend default {\n    .path = ${vclString(backend)};\n}\n`;
  }
  const [, secure, place = ''] = /^(https:\/\/)?(.*)$/is.exec(backend) ?? [];
  if (secure !== undefined && !/^(?:\[[^\]/]+\]|[^:/[\]@?#]+)(?::[^:/@?#]+)?\/?$/.test(place))
    throw new OptionError(
      `-b '${backend}': after https:// comes a host, perhaps with :port, and nothing else`,
    );
  const address = secure === undefined ? backend : place.replace(/\/$/, '');
  const m = /^(?:\[([^\]]+)\]|([^:]*))(?::(.*))?$/s.exec(address);
  // An IPv6 address without brackets has colons of its own.
  const host = m === null ? address : (m[1] ?? m[2] ?? '');
  const port = m?.[3];
  const lines = [`    .host = ${vclString(host === '' && port !== undefined ? 'localhost' : host)};`];
  if (port !== undefined) lines.push(`    .port = ${vclString(port)};`);
  if (secure !== undefined) lines.push('    .ssl = 1;');
  return `vcl 4.1;\n\nbackend default {\n${lines.join('\n')}\n}\n`;
}

function vclString(text: string): string {
  return `"${text.replaceAll('"', '')}"`;
}
