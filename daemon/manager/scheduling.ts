// How the system divides its cores between the worker's threads and other programs.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** Part of util-linux, and the one way to the call for it: Node has none. By its path, because the manager may be root. */
const CHRT = '/usr/bin/chrt';
/** The field of /proc/PID/stat that has the policy, counted behind the name in parentheses (proc(5)). */
const POLICY = 38;
const SCHED_OTHER = '0';
const SHORTLY = 2000;

/**
 * Has the threads of a process scheduled as SCHED_BATCH (sched(7)): one that wakes up does not interrupt what runs on its core.
 * Several threads would otherwise wake for each request that arrives, and interrupt whoever sends the next; so they
 * find several at a time. What an operator chose himself (chrt, CPUSchedulingPolicy= of a unit) stays. Without the program
 * or the permission everything stays as well, and works.
 */
export async function yieldCores(pid: number): Promise<void> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    if (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY] !== SCHED_OTHER) return;
  } catch {
    return;
  }
  execFile(
    CHRT,
    ['--batch', '--all-tasks', '--pid', '0', String(pid)],
    { timeout: SHORTLY },
    () => undefined,
  );
}
