// Listening sockets: the handles that the manager binds and keeps.
//
// The manager owns the sockets and passes them to each worker, so that connections wait in the kernel while a dead
// worker is replaced. It never accepts. Note: port 0 gets its port at the first bind and keeps it across stop and
// start; without the runtime's handle factory the worker binds itself (`handles()` has nulls). The file of a Unix
// socket remains after its listener is closed, as operators and watchdogs expect, and is replaced by the next bind.

import { existsSync, lchownSync, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import net from 'node:net';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { systemText } from '../../../protocol/system-text.ts';
import type { BoundListener, ListenerAddress, ListenerSpec } from '../../link.ts';
import { type BoundHandle, type HandleFactory, handleFactory } from '../../runtime-handles.ts';
import { OptionError } from '../options/option-error.ts';
import { groupId, userId } from './accounts.ts';
import { PassedSockets } from './passed-sockets.ts';

/** IPv6 only: the IPv4 socket is a separate one (UV_TCP_IPV6ONLY). */
const IPV6_ONLY = 1;

/** Resolves names and wildcards to one spec per address. Throws OptionError. */
export async function resolveListeners(specs: readonly ListenerSpec[]): Promise<ListenerSpec[]> {
  const out: ListenerSpec[] = [];
  for (const spec of specs) {
    if (spec.path !== undefined || net.isIP(spec.host ?? '') !== 0) {
      out.push(spec);
      continue;
    }
    if (spec.host === '') {
      out.push({ ...spec, host: '0.0.0.0' }, { ...spec, host: '::' });
      continue;
    }
    const { lookup } = await import('node:dns/promises');
    const found = await lookup(spec.host as string, { all: true }).catch(() => []);
    if (found.length === 0) throw new OptionError(`Got no socket(s) for ${spec.text}`);
    for (const { address } of found) out.push({ ...spec, host: address });
  }
  return out;
}

interface Slot {
  spec: ListenerSpec;
  handle: BoundHandle | null;
}

/** All listeners of a daemon with their handles. */
export class ListenerSet {
  private slots: Slot[];
  private isOpen = false;
  private readonly factory: HandleFactory | null;
  private readonly passed: PassedSockets;

  constructor(specs: readonly ListenerSpec[]) {
    this.slots = specs.map((spec) => ({ spec: { ...spec }, handle: null }));
    this.factory = handleFactory();
    this.passed = new PassedSockets(process.env, process.pid, this.factory);
  }

  /** Binds all listeners; on failure binds none and returns the reason. */
  open(): string | null {
    if (this.isOpen) return null;
    const usable: Slot[] = [];
    for (const slot of this.slots) {
      const given = this.passed.take(slot.spec);
      const result = given ?? (this.factory === null ? null : bind(this.factory, slot.spec));
      if (typeof result === 'number') {
        // A machine without IPv6 still serves the IPv4 half of a wildcard.
        if (slot.spec.host === '::' && usable.some((s) => s.spec.text === slot.spec.text)) continue;
        this.close();
        return `Could not get socket ${slot.spec.text}: ${reasonOf(result)}`;
      }
      slot.handle = result;
      if (result !== null) {
        const refused = settle(slot.spec, result);
        if (refused !== null) {
          this.close();
          return refused;
        }
      }
      usable.push(slot);
    }
    this.slots = usable;
    this.isOpen = true;
    return null;
  }

  close(): void {
    this.isOpen = false;
    for (const slot of this.slots) {
      const { handle, spec } = slot;
      slot.handle = null;
      if (handle === null || this.passed.has(handle)) continue;
      if (!hasFile(spec)) handle.close();
      else closeKeepingFile(handle, spec.path);
    }
  }

  /** Addresses of sockets that the service manager has passed and none of the listeners uses. */
  unusedSockets(): string[] {
    return this.passed.unused();
  }

  specs(): ListenerSpec[] {
    return this.slots.map((slot) => slot.spec);
  }

  /** Whether several threads can listen on all sockets: each needs a descriptor. */
  get canBeShared(): boolean {
    return this.slots.every(({ handle }) => (handle?.fd ?? -1) >= 0);
  }

  handles(): (BoundHandle | null)[] {
    return this.slots.map((slot) => slot.handle);
  }

  /** Stores the ports of sockets that the worker bound itself. */
  bound(listeners: readonly ListenerAddress[]): void {
    listeners.forEach((l, i) => {
      const spec = this.slots[i]?.spec;
      if (spec !== undefined && spec.path === undefined && spec.port === 0) spec.port = l.port;
    });
  }

  /** For listen.list. */
  list(): BoundListener[] {
    return this.slots.map(({ spec: { name, host = '', port = 0, path, proto, tls = false } }) =>
      path === undefined
        ? { name, address: host, port, proto, tls }
        : { name, address: path, port: -1, path, proto, tls },
    );
  }
}

/** Whether it is a Unix socket with a file; an abstract one has none. */
function hasFile(spec: ListenerSpec): spec is ListenerSpec & { path: string } {
  return spec.path !== undefined && !isAbstract(spec.path);
}

/** Whether a path is the name of an abstract socket, with the @ that stands for its first byte. */
function isAbstract(path: string): boolean {
  return path.startsWith('@');
}

function bind(factory: HandleFactory, spec: ListenerSpec): BoundHandle | number {
  if (spec.path !== undefined && isAbstract(spec.path))
    return factory(`\0${spec.path.slice(1)}`, -1, -1, undefined, 0);
  if (hasFile(spec)) {
    removeSocket(spec.path);
    // Created with its mode: until a chmod, the owner of the directory could replace it by a link.
    const mask = spec.mode === undefined ? null : process.umask(0o777 & ~spec.mode);
    try {
      const handle = factory(spec.path, -1, -1, undefined, 0);
      // The runtime reports "permission denied" for a missing directory.
      const isLost = typeof handle === 'number' && !existsSync(dirname(spec.path));
      return isLost ? -constants.errno.ENOENT : handle;
    } finally {
      if (mask !== null) process.umask(mask);
    }
  }
  const host = spec.host as string;
  const v6 = net.isIPv6(host);
  return factory(host, spec.port as number, v6 ? 6 : 4, undefined, v6 ? IPV6_ONLY : 0);
}

/** After the bind: stores the port chosen for port 0, sets owner and group of a path. */
function settle(spec: ListenerSpec, handle: BoundHandle): string | null {
  if (spec.path === undefined) {
    const out: { port?: number } = {};
    // A port in use does not fail the bind: the runtime keeps the error for the next call.
    const error = handle.getsockname?.(out) ?? 0;
    if (error !== 0) return `Could not get socket ${spec.text}: ${reasonOf(error)}`;
    if (out.port !== undefined) spec.port = out.port;
    return null;
  }
  if (!hasFile(spec)) return null;
  try {
    if (!lstatSync(spec.path).isSocket())
      return `Could not get socket ${spec.text}: something else took its place`;
    if (spec.user !== undefined || spec.group !== undefined) {
      const uid = spec.user === undefined ? -1 : (userId(spec.user) ?? -1);
      const gid = spec.group === undefined ? -1 : (groupId(spec.group) ?? -1);
      lchownSync(spec.path, uid, gid);
    }
    return null;
  } catch (cause) {
    return `Could not get socket ${spec.text}: ${systemText(cause)}`;
  }
}

/** The runtime unlinks the file of a Unix socket that it closes: a second name preserves it. */
function closeKeepingFile(handle: BoundHandle, path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    linkSync(path, aside);
  } catch {
    // The file was removed, or the directory accepts no new entry.
    handle.close();
    return;
  }
  handle.close();
  try {
    renameSync(aside, path);
  } catch {
    // The directory was removed.
  }
}

/** Removes a stale socket; any other file at the path stays, and the bind then fails. */
function removeSocket(path: string): void {
  try {
    if (lstatSync(path).isSocket()) unlinkSync(path);
  } catch {
    // Nothing to remove.
  }
}

function reasonOf(errno: number): string {
  const [code, message] = getSystemErrorMap().get(errno) ?? ['', `error ${errno}`];
  return systemText({ code, message });
}
