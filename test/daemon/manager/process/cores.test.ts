import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { cpuQuota, usableCores } from '../../../../daemon/manager/process/cores.ts';

const from = (files: Record<string, string>) => cpuQuota((path) => files[path] ?? null);
const SELF = '/proc/self/cgroup';

describe('the quota of control groups', () => {
  it('is none where there are no groups, or none is set', () => {
    expect(from({})).toBe(Infinity);
    expect(from({ [SELF]: '0::/\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' })).toBe(Infinity);
    expect(from({ [SELF]: '3:cpu,cpuacct:/a\n', '/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us': '-1\n' })).toBe(
      Infinity,
    );
  });

  it('is that of the group of version 2, or of a group above it if that has less', () => {
    const files = {
      [SELF]: '0::/system.slice/proxyd.service\n',
      '/sys/fs/cgroup/system.slice/proxyd.service/cpu.max': '250000 100000\n',
    };
    expect(from(files)).toBe(2.5);
    expect(from({ ...files, '/sys/fs/cgroup/system.slice/cpu.max': '50000 50000\n' })).toBe(1);
    expect(from({ ...files, '/sys/fs/cgroup/system.slice/cpu.max': '400000 100000\n' })).toBe(2.5);
  });

  it('is found at the root in a container, whose group /proc names by its place on the host', () => {
    expect(from({ [SELF]: '0::/../../docker/1f\n', '/sys/fs/cgroup/cpu.max': '150000 100000\n' })).toBe(1.5);
  });

  it('is that of the controller of processors in version 1', () => {
    const files = {
      [SELF]: '4:memory:/m\n3:cpu,cpuacct:/box\n1:name=systemd:/x\n0::/\n',
      '/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us': '300000\n',
      '/sys/fs/cgroup/cpu/box/cpu.cfs_period_us': '100000\n',
    };
    expect(from(files)).toBe(3);
    expect(from({ ...files, [SELF]: '4:memory:/box\n3:cpuset:/box\n' })).toBe(Infinity);
  });

  it('is none where the files hold something else', () => {
    expect(from({ [SELF]: 'what\n0::/\n', '/sys/fs/cgroup/cpu.max': 'much\n' })).toBe(Infinity);
    expect(from({ [SELF]: '0::/\n', '/sys/fs/cgroup/cpu.max': '' })).toBe(Infinity);
    expect(from({ [SELF]: '0::/\n', '/sys/fs/cgroup/cpu.max': '0 0' })).toBe(Infinity);
  });
});

it('the cores that may be used are at least one and at most those of the affinity, or as many as can be used', () => {
  expect(usableCores(64)).toBeGreaterThanOrEqual(1);
  expect(usableCores(64)).toBeLessThanOrEqual(availableParallelism());
  expect(usableCores(1)).toBe(1);
});
