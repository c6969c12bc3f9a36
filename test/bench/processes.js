// CPU time and memory of the process tree under a pid. Everything is read from /proc.
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second of utime and stime; Linux reports 100 to user space on every architecture. */
const TICKS = 100;

/** Pids of a process and its living descendants. */
export function tree(root) {
  const parents = new Map();
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry)) parents.set(Number(entry), Number(stat(entry)?.[1] ?? -1));
  }
  const found = new Set([root]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [pid, parent] of parents) {
      if (found.has(parent) && !found.has(pid)) {
        found.add(pid);
        grown = true;
      }
    }
  }
  return [...found];
}

/** Fields of /proc/<pid>/stat after the program's name; null when the process has ended. */
function stat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** CPU seconds used so far by a process and its living descendants. */
export function cpuSeconds(root) {
  return (
    tree(root).reduce((sum, pid) => {
      const fields = stat(pid);
      return fields === null ? sum : sum + Number(fields[11]) + Number(fields[12]);
    }, 0) / TICKS
  );
}

/** The same in milliseconds and to the microsecond, of the threads that live, for what is short; processes that have ended
 * count to the clock tick. */
export function cpuMillis(root) {
  let nanos = 0;
  for (const pid of tree(root)) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        nanos += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]);
    } catch {
      // It has ended.
    }
    const fields = stat(pid);
    if (fields !== null) nanos += ((Number(fields[13]) + Number(fields[14])) / TICKS) * 1e9;
  }
  return nanos / 1e6;
}

/** The process of the tree with the most resident memory: the one that holds the objects. */
export function largest(root) {
  return tree(root).sort((a, b) => residentBytes(b) - residentBytes(a))[0];
}

/** Private resident bytes of one process: files it maps, as the log of both daemons, do not count. */
export function residentBytes(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/RssAnon:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
