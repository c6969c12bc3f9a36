// Facts from the operating system on the host, the daemon's processes and its working directory. Files in the working
// directory are never read: only names, sizes and modes.

import { lstatSync, statfsSync } from 'node:fs';
import { arch, availableParallelism, freemem, loadavg, platform, release, totalmem, uptime } from 'node:os';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { maskText } from './mask.ts';
import { listing, readText } from './subject.ts';

const SYSTEM_FILES = [
  '/etc/os-release',
  '/proc/version',
  '/proc/meminfo',
  '/proc/pressure/cpu',
  '/proc/pressure/memory',
  '/proc/sys/fs/file-nr',
  '/proc/sys/net/core/somaxconn',
  '/proc/sys/net/ipv4/ip_local_port_range',
  '/proc/sys/net/ipv4/tcp_max_syn_backlog',
  '/proc/sys/vm/overcommit_memory',
  '/proc/net/sockstat',
  '/proc/self/cgroup',
  '/sys/fs/cgroup/memory.max',
  '/sys/fs/cgroup/cpu.max',
];

export function systemText(): string {
  const facts = [
    `platform ${platform()} ${release()} ${arch()}`,
    `cpus ${availableParallelism()}`,
    `load ${loadavg()
      .map((n) => n.toFixed(2))
      .join(' ')}`,
    `memory ${totalmem()} bytes, ${freemem()} free`,
    `up ${Math.floor(uptime())} s`,
    `node ${process.version}`,
  ];
  const files = SYSTEM_FILES.flatMap((path) => {
    const text = readText(path);
    return text === null ? [] : [`\n== ${path}\n${text.trimEnd()}`];
  });
  return `${[...facts, ...files].join('\n')}\n`;
}

/** Command line, limits, memory and descriptors of a process, under the title `what`. */
export function processText(what: string, pid: number): string {
  if (pid === 0) return `== ${what}\nnone\n\n`;
  const commandLine = readText(`/proc/${pid}/cmdline`);
  if (commandLine === null) return `== ${what}\nprocess ${pid} is gone\n\n`;
  const args = commandLine.split('\0').filter((a) => a !== '');
  const parts = [`== ${what}: process ${pid}`, `command line: ${args.map((a) => maskText(a)).join(' ')}`];
  parts.push(`descriptors open: ${listing(`/proc/${pid}/fd`).length}`);
  for (const file of ['limits', 'status', 'schedstat', 'io']) {
    const text = readText(`/proc/${pid}/${file}`);
    if (text !== null) parts.push(`-- ${file}`, text.trimEnd());
  }
  return `${parts.join('\n')}\n\n`;
}

export function directoryText(dir: string): string {
  const lines = [`working directory ${dir}`];
  try {
    const fs = statfsSync(dir);
    lines.push(
      `file system type 0x${fs.type.toString(16)}, ${fs.blocks * fs.bsize} bytes, ${fs.bavail * fs.bsize} free`,
      `inodes ${fs.files}, ${fs.ffree} free`,
    );
  } catch (cause) {
    lines.push(`cannot be read: ${(cause as Error).message}`);
  }
  const mount = (readText('/proc/mounts') ?? '')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, at = '']) => at !== '' && (dir === at || dir.startsWith(at === '/' ? '/' : `${at}/`)))
    .sort((a, b) => (b[1] ?? '').length - (a[1] ?? '').length)[0];
  if (mount !== undefined) lines.push(`mount ${mount.slice(0, 4).join(' ')}`);
  const names = listing(dir);
  names.push(...listing(`${dir}/${WORKDIR_FILES.worker}`).map((name) => `${WORKDIR_FILES.worker}/${name}`));
  for (const name of names) {
    try {
      const s = lstatSync(`${dir}/${name}`);
      lines.push(
        `${s.mode.toString(8).padStart(6, '0')} ${s.uid}:${s.gid} ${String(s.size).padStart(12)} ${s.mtime.toISOString()} ${name}`,
      );
    } catch {
      // The process has ended in the meantime.
    }
  }
  return `${lines.join('\n')}\n`;
}
