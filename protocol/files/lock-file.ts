// A lock as a file with the process id and start time of its holder, so that a dead holder is recognised even if its
// pid was reused. Node has no flock(2), and the file must never be visible half written: it is created under another
// name and linked. Among several processes that take over from a dead holder, the one that creates the claim file for
// that very holder wins; a claim whose creator died is claimed in the same way. A claim is removed only after the
// lock has changed hands, so that a late claimant finds another holder and withdraws.

import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type Taken =
  /** Removes the lock, unless another process has taken it. */
  | { readonly release: () => void; readonly holder?: undefined }
  /** The holder's process id; 0 if it changes too fast to read. */
  | { readonly holder: number; readonly release?: undefined };

/** Attempts to read a lock that changes meanwhile (chosen). */
const TRIES = 10;

/** Takes the lock, or returns its holder. Throws file system errors. */
export function takeLock(path: string): Taken {
  const mine = `${process.pid} ${startOf(process.pid)}\n`;
  for (let i = 0; i < TRIES; i++) {
    if (makeWhole(path, mine)) return { release: () => release(path, mine) };
    const holder = textOf(path);
    // Released in the meantime.
    if (holder === null) continue;
    const alive = livingHolder(holder);
    if (alive !== null) return { holder: alive };
    const taken = takeOver(path, holder, mine);
    if (taken === 'mine') return { release: () => release(path, mine) };
    if (taken !== 'changed') return { holder: taken };
  }
  return { holder: 0 };
}

/** Takes over from a dead holder, or returns the process that does. */
function takeOver(path: string, dead: string, mine: string): 'mine' | 'changed' | number {
  let claim = claimTo(path, dead);
  while (!makeWhole(claim, mine)) {
    const other = textOf(claim);
    if (other === null) return 'changed';
    const alive = livingHolder(other);
    if (alive !== null) return alive;
    claim = claimTo(path, other);
  }
  if (textOf(path) !== dead) {
    remove(claim);
    return 'changed';
  }
  // The holder is dead and the claim is ours: no other process may touch it now.
  const draft = draftOf(path, mine);
  try {
    renameSync(draft, path);
  } catch (cause) {
    remove(draft);
    remove(claim);
    throw cause;
  }
  const taken = textOf(path) === mine;
  try {
    tidy(path, mine);
  } catch {
    // Remaining files name a holder that will never return.
  }
  return taken ? 'mine' : 'changed';
}

/** False if the name exists. */
function makeWhole(path: string, text: string): boolean {
  const draft = draftOf(path, text);
  try {
    linkSync(draft, path);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw cause;
  } finally {
    remove(draft);
  }
}

function draftOf(path: string, text: string): string {
  const draft = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.new`;
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    // The typings only allow string flags.
    writeFileSync(draft, text, { flag: (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) as never, mode: 0o600 });
  } catch (cause) {
    remove(draft);
    throw cause;
  }
  return draft;
}

function claimTo(path: string, holder: string): string {
  return `${path}.${createHash('sha256').update(holder).digest('hex').slice(0, 16)}.claim`;
}

/** Removes claims to earlier holders, including our own, and drafts of dead processes. Only for the holder of the
 * lock. */
function tidy(path: string, mine: string): void {
  const name = basename(path);
  for (const entry of readdirSync(dirname(path))) {
    const rest = entry.startsWith(`${name}.`) ? entry.slice(name.length + 1) : '';
    const whole = join(dirname(path), entry);
    // A draft may still be empty: its name has the owner.
    const drawn = /^(\d+)-[0-9a-f]{12}\.new$/.exec(rest)?.[1];
    if (drawn !== undefined && startOf(Number(drawn)) === '') remove(whole);
    if (!/^[0-9a-f]{16}\.claim$/.test(rest)) continue;
    const text = textOf(whole);
    if (text === mine || (text !== null && livingHolder(text) === null)) remove(whole);
  }
}

/** A file that cannot be read, for lack of descriptors, is taken for ours: other processes read it before they take
 * over. */
function release(path: string, mine: string): void {
  let text: string | null = mine;
  try {
    text = textOf(path);
  } catch {}
  if (text === mine) remove(path);
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already gone; or it stays and names a dead process.
  }
}

/** Null if missing; '' if not a regular file. Throws if unreadable: an unknown holder may be alive. */
function textOf(path: string): string | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    // A symlink or a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return '';
    throw cause;
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, 'utf8') : '';
  } finally {
    closeSync(fd);
  }
}

/** The process named by a text, if it is still the same one. */
function livingHolder(text: string): number | null {
  const [pid, start] = text.trim().split(' ');
  const id = Number(pid);
  if (!Number.isInteger(id) || id <= 0 || start === undefined) return null;
  const now = startOf(id);
  return now === start || now === '?' ? id : null;
}

/** Start time of a process, in ticks since boot; '' if it does not exist, ? if unknown. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain blanks; start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie holds nothing.
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : (fields[19] ?? '');
  } catch {
    return isAlive(pid) ? '?' : '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
