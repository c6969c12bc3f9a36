// One process a directory: a file that names its holder. One whose holder is gone (another process may have its number
// by now, which its time of start tells) is taken over.

import { constants, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'lock';
const TRIES = 3;

/** Takes the directory; gives what lets it go. Throws where another process has it. */
export function lockQueueDirectory(directory: string): () => void {
  const path = join(directory, NAME);
  const mine = `${process.pid} ${startOf(process.pid) ?? ''}`;
  for (let i = 0; ; i++) {
    try {
      const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
      writeFileSync(path, mine, { flag: (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW) as never, mode: 0o600 });
      return () => {
        if (textOf(path) === mine) unlinkSync(path);
      };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
    const holder = textOf(path);
    const [pid = '', start = ''] = (holder ?? '').split(' ');
    const alive = holder !== mine && pid !== '' && startOf(Number(pid)) === start;
    if (alive || i === TRIES) throw new Error(`${directory} is in use by process ${pid}`);
    removeStale(path);
  }
}

function removeStale(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** When a process began, in ticks since the machine's start; null when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
