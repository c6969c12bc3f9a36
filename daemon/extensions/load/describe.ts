// Has an outside extension described by a process of its own, so that no foreign code ever runs in the manager: a
// module that hangs, crashes, eats memory or floods its output is a message to the operator and nothing else.
//
// The same content under the same path is described once; a reload starts no process.

import {
  chmodSync,
  closeSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { createOwn, stranger, writeAll } from '../../../protocol/files/own-file.ts';
import { inPackage } from '../../../protocol/files/package-files.ts';
import { ownUid } from '../../../protocol/files/trust.ts';
import type { DescribedModule, ImportRequest } from '../../contract/extension.ts';
import type { OutsideModule } from '../../contract/program.ts';
import { ProcessCode } from '../../own-process.ts';
import type { Account } from '../../privileges.ts';
import { checkManifest, describedExtension } from './manifest.ts';
import { findModule, type ModuleFile, readModule } from './module-file.ts';
import { Patience, processorMs } from './patience.ts';

/** What one description may cost: processor time, and time in which it does nothing. On a busy machine it waits for its
 * turns, which is not its fault. */
const TIMEOUT_MS = 5000;
/** Longest wall time, in timeouts. */
const MOST_TIMEOUTS = 8;
const LARGEST_OUTPUT = 1024 * 1024;
const LARGEST_ERROR = 4096;
const MEMORY_PAGES = (512 * 1024 * 1024) / 4096;
const HEAP_MB = 128;
const WATCH_MS = 20;

/** Reads the code of the process that describes an extension. */
export function describerCode(): ProcessCode {
  return new ProcessCode(inPackage('dist/daemon/extensions/load/describe-child.js'));
}

/** Where copies of the files are kept for workers to come. */
export interface ModuleCache {
  /** What describes an extension; absent where it is read once a program asks for it. */
  child?: ProcessCode;
  /** Null to keep no copies. */
  directory: string | null;
  /** Copies that loaded programs need. */
  inUse: () => readonly string[];
  /** As whom an extension says what it is; copies are for its group to read. Null: as this process. */
  account: Account | null;
}

export interface DescribeOptions {
  /** Directories of vmod_path. */
  path: readonly string[];
  cache: ModuleCache;
  child: ProcessCode;
  timeoutMs?: number;
}

/** Remembers descriptions by file and content. */
export class ModuleDescriber {
  readonly #known = new Map<string, { kind: OutsideModule['kind']; manifest: unknown }>();

  async describe(wish: ImportRequest, options: DescribeOptions): Promise<DescribedModule> {
    const found = findModule(wish.name, wish.from, options.path);
    if (found === null) return { problem: `Could not find VMOD ${wish.name}`, at: 'name' };
    const could = (why: string): DescribedModule => ({
      problem: `Could not open VMOD ${wish.name}\n\tFile name: ${found}\n\t${why}`,
      at: 'import',
    });
    try {
      const file = readModule(found);
      const key = `${wish.name} ${file.digest} ${file.path}`;
      let described = this.#known.get(key);
      if (described === undefined) {
        const path =
          file.kind === 'addon'
            ? (keepCopy(options.cache, wish.name, file, 'addon') ?? file.path)
            : file.path;
        const account = JSON.stringify(options.cache.account);
        const answer = await runChild([path, file.kind, wish.name, account], options);
        if ('problem' in answer) {
          if (!answer.malformed) return could(answer.problem);
          const problem = `Malformed VMOD ${wish.name}\n\tFile name: ${found}\n\t(${answer.problem})`;
          return { problem, at: 'import' };
        }
        described = answer;
        this.#known.set(key, described);
      }
      const copy = keepCopy(options.cache, wish.name, file, described.kind);
      const manifest = checkManifest(described.manifest, wish.name);
      const module: OutsideModule = {
        name: wish.name,
        file: file.path,
        copy,
        digest: file.digest,
        kind: described.kind,
        manifest: JSON.stringify(manifest),
      };
      return { extension: describedExtension(manifest), module };
    } catch (error) {
      return could((error as Error).message);
    }
  }
}

/** How long a copy is kept that no program has: its program may still be on the way. */
const KEEP_MS = 60_000;

/** Removes what no program needs any more. */
function prune(directory: string, inUse: ModuleCache['inUse']): void {
  const needed = new Set(inUse());
  for (const entry of readdirSync(directory)) {
    const path = join(directory, entry);
    if (needed.has(path)) continue;
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > KEEP_MS) rmSync(path, { force: true });
  }
}

/** Keeps the content under a name of its own, whole or not at all. The name says the kind: nothing beside the copy
 * does, as a package.json beside the file may. */
function keepCopy(
  { directory, inUse, account }: ModuleCache,
  name: string,
  file: ModuleFile,
  kind: OutsideModule['kind'],
): string | null {
  if (directory === null) return null;
  makeCacheDirectory(directory, account);
  prune(directory, inUse);
  const suffix = { addon: 'node', esm: 'mjs', cjs: 'cjs' }[kind];
  const copy = join(directory, `${name}.${file.digest}.${suffix}`);
  if (isCopy(copy, file.bytes, account)) {
    utimesSync(copy, new Date(), new Date());
    return copy;
  }
  const draft = `${copy}.${process.pid}`;
  const fd = createOwn(draft, account === null ? { mode: 0o500 } : { mode: 0o550, group: account.gid });
  try {
    writeAll(fd, file.bytes);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, copy);
  return copy;
}

/** Whether it is there already: made by us, for who has to read it, with this content. */
function isCopy(path: string, bytes: Buffer, account: Account | null): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stranger(stat) !== null) return false;
  return (account === null || stat.gid === account.gid) && readFileSync(path).equals(bytes);
}

/** For this user, and where extensions run as another one for its group to read. */
function makeCacheDirectory(directory: string, account: Account | null): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (account === null) return;
  lchownSync(directory, ownUid(), account.gid);
  chmodSync(directory, 0o750);
}

type ChildAnswer =
  | { kind: OutsideModule['kind']; manifest: unknown }
  | { problem: string; malformed: boolean };

async function runChild(args: readonly string[], options: DescribeOptions): Promise<ChildAnswer> {
  const child = options.child.start(args, {
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
  });
  const timeout = options.timeoutMs ?? TIMEOUT_MS;
  return new Promise((resolve) => {
    let stopped: string | null = null;
    let errors = '';
    let size = 0;
    const parts: Buffer[] = [];
    const stop = (why: string): void => {
      stopped ??= why;
      child.kill('SIGKILL');
    };
    const late = `it did not describe itself within ${timeout / 1000} s`;
    const timer = setTimeout(() => stop(late), timeout * MOST_TIMEOUTS);
    const patience = new Patience(timeout, performance.now());
    const watch = setInterval(() => {
      if (residentPages(child.pid) > MEMORY_PAGES) stop('it took too much memory while it was read');
      else if (patience.isOver(processorMs(child.pid), performance.now())) stop(late);
    }, WATCH_MS);
    child.stderr?.on('data', (chunk: Buffer) => {
      errors = (errors + chunk.toString('latin1')).slice(-LARGEST_ERROR);
    });
    child.stdio[3]?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LARGEST_OUTPUT) stop('its description is too long');
      else parts.push(chunk);
    });
    const end = (answer: ChildAnswer): void => {
      clearTimeout(timer);
      clearInterval(watch);
      resolve(answer);
    };
    const failed = (problem: string): void => end({ problem, malformed: false });
    child.on('error', (error) => failed(error.message));
    child.on('close', (code, signal) => {
      if (stopped !== null) return failed(stopped);
      const answer = readAnswer(Buffer.concat(parts).toString('utf8'));
      if (answer !== null) return end(answer);
      if (signal !== null) return failed(`it crashed while it was read (${signal})`);
      const last = errors.trim().split('\n').at(-1) ?? '';
      failed(`it ended the process that read it (status ${code})${last === '' ? '' : `: ${last}`}`);
    });
  });
}

function readAnswer(text: string): ChildAnswer | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { kind, manifest, problem, malformed } = value as Record<string, unknown>;
  if (typeof problem === 'string') return { problem: problem.slice(0, 2000), malformed: malformed === true };
  if (kind !== 'addon' && kind !== 'esm' && kind !== 'cjs') return null;
  return { kind, manifest };
}

/** Resident memory of a process; 0 where it cannot be known. */
function residentPages(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
  } catch {
    return 0;
  }
}
