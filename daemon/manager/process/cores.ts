// Processor cores: how many this process may use, and how its threads share them with other programs.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';

/** Mount points of control groups: version 2, and the cpu controller of version 1. */
const ROOT_2 = '/sys/fs/cgroup';
const ROOT_1 = '/sys/fs/cgroup/cpu';

/** @returns at least 1 and at most `most`; a fraction of a core counts as one */
export function usableCores(most: number): number {
  return Math.max(1, Math.min(most, availableParallelism(), Math.ceil(cpuQuota(contentOf))));
}

/**
 * Cores allowed by the quotas of this process's control groups and of their ancestors; Infinity without a quota. A
 * container sees its own group as the root, while /proc may show its path on the host: groups that are not found
 * are skipped.
 * @param read returns the content of a file, null if it does not exist (cgroups(7), proc_pid_cgroup(5))
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

/** `max` and -1 mean no quota. */
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

/** Part of util-linux; Node has no API for it. An absolute path, because the manager may be root. */
const CHRT = '/usr/bin/chrt';
/** Index of the policy field in /proc/PID/stat, counted after the parenthesized name (proc(5)). */
const POLICY = 38;
const SCHED_OTHER = '0';
const SHORTLY = 2000;

/**
 * Schedules the threads of a process as SCHED_BATCH (sched(7)): a thread that wakes up does not preempt the running
 * one. Otherwise several threads would wake for each incoming request and preempt its sender; this way they find
 * several requests at once. A policy set by the operator (chrt, CPUSchedulingPolicy= of a unit) is kept. Without
 * chrt or the permission nothing changes.
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
