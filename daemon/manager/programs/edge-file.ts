// The settings of the edge connector for a program that imports it. The manager reads them, since the worker may be a
// user who must not; it also makes the directory of the queue, which is to be the worker's.

import { lchownSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemText } from '../../../protocol/system-text.ts';
import type { CompiledProgram } from '../../contract/program.ts';
import { EdgeConfigError, readEdgeConfig } from '../../edge/edge-config.ts';
import type { Account } from '../../privileges.ts';
import type { Compile } from './compile-job.ts';

/** Chosen: a bundle of certificates has a few hundred kilobytes. */
const MAX_CA = 4 << 20;

export interface EdgeFileParts {
  /** The working directory, in which the queue is by default. */
  readonly directory: string;
  readonly worker: Account | null;
  warn(text: string): void;
}

/** A compiler whose programs carry the settings. What is wrong with those refuses the program. */
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

/** One that is there stays as it is; the worker says what is wrong with it. */
function makeDirectory(path: string, { worker, warn }: EdgeFileParts): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
    mkdirSync(path, { mode: 0o700 });
    if (worker !== null) lchownSync(path, worker.uid, worker.gid);
  } catch (cause) {
    warn(`The queue's directory ${path} cannot be made: ${systemText(cause)}`);
  }
}
