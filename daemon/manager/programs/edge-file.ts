// Adds the settings of the edge connector to a program that imports it. The manager reads them, since the worker's user
// may have no access; it also creates the directory of the queue for the worker.

import { lchownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemText } from '../../../protocol/system-text.ts';
import type { CompiledProgram } from '../../contract/program.ts';
import { EdgeConfigError, readEdgeConfig } from '../../edge/edge-config.ts';
import type { Account } from '../../privileges.ts';
import type { Compile } from './compile-job.ts';

/** Bytes (chosen): a bundle of certificates has a few hundred kilobytes. */
const MAX_CA = 4 << 20;

export interface EdgeFileParts {
  /** The working directory, the default location of the queue. */
  readonly directory: string;
  readonly worker: Account | null;
  warn(text: string): void;
}

/** Wraps a compiler. Invalid settings fail the compilation. */
export function withEdgeFile(compile: Compile, parts: EdgeFileParts): Compile {
  return async (source) => {
    const result = await compile(source);
    if (typeof result === 'string') return result;
    const program = 'program' in result ? result.program : result;
    if (!program.imports.includes('edge')) return result;
    const problem = addEdgeFile(program, parts);
    return problem ?? result;
  };
}

function addEdgeFile(program: CompiledProgram, parts: EdgeFileParts): string | null {
  try {
    const { config, text, path, warnings } = readEdgeConfig(process.env);
    for (const warning of warnings) parts.warn(warning);
    const directory = join(parts.directory, 'edge-queue');
    const caFile = config.text('purge_ca_file');
    program.edge = {
      text,
      path: path ?? 'edge-connector.conf',
      directory,
      ca: caFile === '' ? null : certificates(caFile),
    };
    if (config.configured) makeDirectory(config.text('dir') || directory, parts);
    return null;
  } catch (cause) {
    if (cause instanceof EdgeConfigError) return cause.message;
    throw cause;
  }
}

function certificates(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length <= MAX_CA) return text;
  } catch (cause) {
    throw new EdgeConfigError(`purge_ca_file ${path}: ${systemText(cause)}`);
  }
  throw new EdgeConfigError(`purge_ca_file ${path}: longer than ${MAX_CA} bytes`);
}

/** An existing directory is left as it is; the worker reports problems with it. */
function makeDirectory(path: string, { worker, warn }: EdgeFileParts): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
    mkdirSync(path, { mode: 0o700 });
    if (worker !== null) lchownSync(path, worker.uid, worker.gid);
  } catch (cause) {
    warn(`Cannot create the queue's directory ${path}: ${systemText(cause)}`);
  }
}
