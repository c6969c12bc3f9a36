// Processor cores: how many this process may use, and how its threads share them with other programs.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';

/** Where the files of control groups are: version 2, and the controller of processors of version 1. */
const ROOT_2 = '/sys/fs/cgroup';
const ROOT_1 = '/sys/fs/cgroup/cpu';

/** @returns at least 1 and at most `most`; a part of a core counts as one. */
export function usableCores(most: number): number {
  return Math.max(1, Math.min(most, availableParallelism(), Math.ceil(cpuQuota(contentOf))));
}

/**
 * Cores that the quotas of this process's control groups allow, its own and those above it; Infinity without any.
 * A container sees its own group as the root, though /proc may name it by its place on the host: groups that are not
 * found are passed over.
 *
 * @param read content of a file, null when there is none (cgroups(7), proc_pid_cgroup(5))
 */
export function cpuQuota(read: (path: string) => string | null): number {
  let cores = Infinity;
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [, hierarchy, controllers = '', path = ''] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (hierarchy === undefined) continue;
    const quotaAt = controllers.split(',').includes('cpu') ? quotaOf1 : hierarchy === '0' ? quotaOf2 : null;
    if (quotaAt === null) continue;
    for (let at = path; ; at = dirname(at)) {
      cores = Math.min(cores, quotaAt(read, at === '/' ? '' : at));
      if (at === '/') break;
    }
  }
  return cores;
}

function quotaOf2(read: (path: string) => string | null, group: string): number {
  const [quota, period] = (read(`${ROOT_2}${group}/cpu.max`) ?? '').trim().split(' ');
  return share(quota, period);
}

function quotaOf1(read: (path: string) => string | null, group: string): number {
  const at = `${ROOT_1}${group}/cpu.cfs`;
  return share(read(`${at}_quota_us`)?.trim(), read(`${at}_period_us`)?.trim());
}

/** `max` and -1 say that there is no quota. */
function share(quota: string | undefined, period: string | undefined): number {
  const cores = Number(quota) / Number(period);
  return cores > 0 ? cores : Infinity;
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

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
