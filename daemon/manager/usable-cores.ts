// How many cores this process may use: those of its affinity, and no more than the quota of its control group pays for.

import { readFileSync } from 'node:fs';
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
