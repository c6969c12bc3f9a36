// Describes an outside extension in a process of its own, so that no foreign code ever runs in the manager: a module
// that hangs, crashes, or exhausts memory or output becomes a message to the operator.
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

/** Limit of one description, of CPU time and of time without activity. Waiting for a busy CPU does not count. */
const TIMEOUT_MS = 5000;
/** Longest wall time, as a multiple of the limit. */
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

/** Copies of the files, for later workers. */
export interface ModuleCopies {
  /** Code of the describing process; read on first use if absent. */
  child?: ProcessCode;
  /** Null: keep no copies. */
  directory: string | null;
  /** Copies in use by loaded programs. */
  inUse: () => readonly string[];
  /** Account of the describing process, whose group may read the copies. Null: this process's account. */
  account: Account | null;
}

export interface DescribeOptions {
  /** Directories of vmod_path. */
  path: readonly string[];
  cache: ModuleCopies;
  child: ProcessCode;
  timeoutMs?: number;
}

/** Caches descriptions by file and content. */
export class ModuleDescriber {
  readonly #known = new Map<string, { kind: OutsideModule['kind']; manifest: unknown }>();

  async describe(request: ImportRequest, options: DescribeOptions): Promise<DescribedModule> {
    const found = findModule(request.name, request.from, options.path);
    if (found === null) return { problem: `Could not find VMOD ${request.name}`, at: 'name' };
    const could = (why: string): DescribedModule => ({
      problem: `Could not open VMOD ${request.name}\n\tFile name: ${found}\n\t${why}`,
      at: 'import',
    });
    try {
      const file = readModule(found);
      const key = `${request.name} ${file.digest} ${file.path}`;
      let described = this.#known.get(key);
      if (described === undefined) {
        const path =
          file.kind === 'addon'
            ? (keepCopy(options.cache, request.name, file, 'addon') ?? file.path)
            : file.path;
        const account = JSON.stringify(options.cache.account);
        const answer = await runChild([path, file.kind, request.name, account], options);
        if ('problem' in answer) {
          if (!answer.malformed) return could(answer.problem);
          const problem = `Malformed VMOD ${request.name}\n\tFile name: ${found}\n\t(${answer.problem})`;
          return { problem, at: 'import' };
        }
        described = answer;
        this.#known.set(key, described);
      }
      const copy = keepCopy(options.cache, request.name, file, described.kind);
      const manifest = checkManifest(described.manifest, request.name);
      const module: OutsideModule = {
        name: request.name,
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

/** How long an unused copy is kept: its program may still be loading. */
const KEEP_MS = 60_000;

/** Removes unused copies. */
function prune(directory: string, inUse: ModuleCopies['inUse']): void {
  const needed = new Set(inUse());
  for (const entry of readdirSync(directory)) {
    const path = join(directory, entry);
    if (needed.has(path)) continue;
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > KEEP_MS) rmSync(path, { force: true });
  }
}

/** Stores the content under a unique name, atomically. The name includes the kind, because no package.json lies
 * beside the copy. */
function keepCopy(
  { directory, inUse, account }: ModuleCopies,
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

/** Whether the copy exists: written by us, readable for the account, with this content. */
function isCopy(path: string, bytes: Buffer, account: Account | null): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || stranger(stat) !== null) return false;
  return (account === null || stat.gid === account.gid) && readFileSync(path).equals(bytes);
}

/** Readable for this user, and for the group of the account that runs extensions. */
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
    const detector = new HangDetector(timeout, performance.now());
    const watch = setInterval(() => {
      if (residentPages(child.pid) > MEMORY_PAGES) stop('it took too much memory while it was read');
      else if (detector.isOver(processorMs(child.pid), performance.now())) stop(late);
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

/** Resident memory of a process; 0 if unknown. */
function residentPages(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
  } catch {
    return 0;
  }
}

// Detects a process that hangs: by its CPU time, and by the time in which it makes no progress. Waiting for a busy
// CPU does not count.

/** A busy process uses at least this share of its time, whatever else runs. */
const LEAST_SHARE = 1 / 100;

/** Tells a process that hangs or loops from one that waits for a busy CPU. */
export class HangDetector {
  private readonly limit: number;
  /** Time of the last observed progress, and its CPU time then; in ms. */
  private since: number;
  private used = 0;

  /** @param limit ms, of CPU time and of time without progress */
  constructor(limit: number, now: number) {
    this.limit = limit;
    this.since = now;
  }

  /** @param used CPU time in ms */
  isOver(used: number, now: number): boolean {
    if (used - this.used > (now - this.since) * LEAST_SHARE) {
      this.since = now;
      this.used = used;
    }
    return used > this.limit || now - this.since > this.limit;
  }
}

/** CPU time of all threads of a process in ms, in steps of ten; 0 if unknown. */
export function processorMs(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}
