// A lock that is a file: it names the process that holds it and when that began, so that a lock whose process is gone is
// known even when another has its number by now. Node has no flock(2), and the file must never be seen half written: it is
// made under another name and appears whole. Which of several starters takes over from a dead holder is decided by who
// makes the file of the claim to that very holder; a claim whose maker died is claimed in the same way. A claim is removed
// only once the lock has changed hands, so that whoever comes late with one finds another holder and withdraws.

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
  /** Removes the lock, unless it is another's by now. */
  | { readonly release: () => void; readonly holder?: undefined }
  /** The process that has it; 0 where it changes hands too fast to tell. */
  | { readonly holder: number; readonly release?: undefined };

/** How often a lock that changes while it is looked at is looked at again (chosen). */
const TRIES = 10;

/** Takes the lock, or says who has it. Throws what the file system says. */
export function takeLock(path: string): Taken {
  const mine = `${process.pid} ${startOf(process.pid)}\n`;
  for (let i = 0; i < TRIES; i++) {
    if (makeWhole(path, mine)) return { release: () => release(path, mine) };
    const holder = textOf(path);
    // It was let go of meanwhile.
    if (holder === null) continue;
    const alive = livingHolder(holder);
    if (alive !== null) return { holder: alive };
    const taken = takeOver(path, holder, mine);
    if (taken === 'mine') return { release: () => release(path, mine) };
    if (taken !== 'changed') return { holder: taken };
  }
  return { holder: 0 };
}

/** Of a dead holder; gives who else takes over from it. */
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
  // Nobody else may touch it now: the holder is dead, and the claim is ours.
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
    // What stays claims a holder that never comes back.
  }
  return taken ? 'mine' : 'changed';
}

/** False when there is something of that name. */
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
    // The typings know flags as texts only.
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

/** Removes claims to earlier holders, our own among them, and drafts of the dead. Only whoever has the lock may. */
function tidy(path: string, mine: string): void {
  const name = basename(path);
  for (const entry of readdirSync(dirname(path))) {
    const rest = entry.startsWith(`${name}.`) ? entry.slice(name.length + 1) : '';
    const whole = join(dirname(path), entry);
    // A draft may not be written yet: its name says whose it is.
    const drawn = /^(\d+)-[0-9a-f]{12}\.new$/.exec(rest)?.[1];
    if (drawn !== undefined && startOf(Number(drawn)) === '') remove(whole);
    if (!/^[0-9a-f]{16}\.claim$/.test(rest)) continue;
    const text = textOf(whole);
    if (text === mine || (text !== null && livingHolder(text) === null)) remove(whole);
  }
}

/** What cannot be read, for want of a descriptor, is taken for ours: others read what they take over. */
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
    // Gone already; or it stays, and names nobody who lives.
  }
}

/** Null where there is none; '' where it is no file. Throws where it cannot be read: a holder that is not known may live. */
function textOf(path: string): string | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    // A link, a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return '';
    throw cause;
  }
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, 'utf8') : '';
  } finally {
    closeSync(fd);
  }
}

/** The process that a text names, if it is that one that lives. */
function livingHolder(text: string): number | null {
  const [pid, start] = text.trim().split(' ');
  const id = Number(pid);
  if (!Number.isInteger(id) || id <= 0 || start === undefined) return null;
  const now = startOf(id);
  return now === start || now === '?' ? id : null;
}

/** When a process started, in ticks since the boot; '' when there is no such process, ? when it cannot be told. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain blanks; start time is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A killed process that nobody has collected yet holds nothing any more.
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
