// -a arguments: a name, an address (host and port, or the path of a Unix socket, or an abstract one) and options. Validates what the text
// alone allows, before anything is bound; listeners.ts has the sockets.

import net from 'node:net';
import type { ListenerSpec } from '../../link.ts';
import { groupId, linesOf, userId } from '../process/accounts.ts';
import { OptionError } from './option-error.ts';

/** The -a argument that is used where there is none. */
export const DEFAULT_LISTENER = ':80';

const MAX_PORT = 65_535;

/** Maximum length of a Unix socket path in bytes. */
const LONGEST_PATH = 107;

/** Parses all -a arguments. Unnamed ones are called a0, a1 … Throws OptionError. */
export function parseListeners(texts: readonly string[]): ListenerSpec[] {
  const specs = new Map<string, ListenerSpec>();
  let unnamed = 0;
  for (const text of texts) {
    const parsed = parseListener(text, unnamed);
    if (!/^[^,]*=/.test(text)) unnamed++;
    for (const spec of parsed) {
      const place = spec.port === 0 ? `${placeOf(spec)} ${specs.size}` : placeOf(spec);
      const same = specs.get(place);
      if (same !== undefined) {
        throw new OptionError(`-a arguments ${same.text} and ${text} have same address`);
      }
      specs.set(place, spec);
    }
  }
  return [...specs.values()];
}

/** Whether two listeners have the same address. Port 0 is another one each time. */
export function isSamePlace(one: ListenerSpec, other: ListenerSpec): boolean {
  return placeOf(one) === placeOf(other) && one.port !== 0;
}

function placeOf({ path, host, port }: ListenerSpec): string {
  return path ?? `${host} ${port}`;
}

/** Parses one -a argument into a listener for each port; `index` makes the default name. Throws OptionError. */
function parseListener(text: string, index: number): ListenerSpec[] {
  const [place = '', ...options] = text.trim().split(/\s*,\s*|\s+/);
  const [name, address] = splitName(text, place);
  const spec: ListenerSpec = { name: name ?? `a${index}`, text, proto: 'HTTP' };
  const isTls = options.some((option) => option.toUpperCase() === 'HTTPS');
  const ports = parsePlace(spec, address, isTls ? 443 : 80);
  const seen = new Set<string>();
  for (const option of options) setOption(spec, option, seen);
  if (isTls && seen.has('protocol') && spec.proto === 'HTTP')
    throw new OptionError(`Either HTTP or HTTPS in -a (${text})`);
  if (ports === null) return [spec];
  return Array.from({ length: ports.last - ports.first + 1 }, (_, i) => ({ ...spec, port: ports.first + i }));
}

function splitName(text: string, place: string): [name: string | null, address: string] {
  const at = place.indexOf('=');
  if (at < 0) return [null, place];
  const name = place.slice(0, at);
  if (!/^[A-Za-z][A-Za-z0-9_-]*$/.test(name)) throw new OptionError(`invalid -a name "${name}"=[...]`);
  if (at + 1 === place.length) throw new OptionError(`Empty named -a argument "${text}"`);
  return [name, place.slice(at + 1)];
}

function setOption(spec: ListenerSpec, option: string, seen: Set<string>): void {
  const at = option.indexOf('=');
  if (at < 0) {
    const proto = option.toUpperCase();
    if (proto === 'HTTPS') {
      once('HTTPS', option, seen);
      spec.tls = true;
      return;
    }
    if (proto !== 'HTTP' && proto !== 'PROXY') throw new OptionError(`Unknown protocol '${option}'`);
    once('protocol', option, seen);
    spec.proto = proto;
    return;
  }
  const kind = option.slice(0, at);
  const value = option.slice(at + 1);
  if (spec.path === undefined) throw new OptionError(`Invalid sub-arg ${option} for IP addresses in -a`);
  // An abstract socket has no file.
  if (spec.path.startsWith('@')) throw new OptionError(`Invalid sub-arg ${option} in -a`);
  switch (kind) {
    case 'user':
      once(kind, option, seen);
      if (userId(value) === null) throw new OptionError(`Unknown user ${value} in -a`);
      spec.user = value;
      return;
    case 'group':
      once(kind, option, seen);
      if (groupId(value) === null) throw new OptionError(`Unknown group ${value} in -a`);
      spec.group = value;
      return;
    case 'mode':
      once(kind, option, seen);
      spec.mode = parseMode(value);
      return;
    default:
      throw new OptionError(`Invalid sub-arg ${option} in -a`);
  }
}

function once(kind: string, option: string, seen: Set<string>): void {
  if (seen.has(kind)) throw new OptionError(`Too many ${kind} sub-args in -a (${option})`);
  seen.add(kind);
}

function parseMode(value: string): number {
  if (value === '') throw new OptionError('Empty mode sub-arg in -a');
  if (!/^-?[0-7]+$/.test(value)) throw new OptionError(`Invalid mode sub-arg ${value} in -a`);
  const mode = Number.parseInt(value, 8);
  if (mode < 0 || mode > 0o777) throw new OptionError(`Mode sub-arg ${value} out of range in -a`);
  return mode;
}

interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Sets the address; null for a Unix socket, which has no ports. Throws OptionError. */
function parsePlace(spec: ListenerSpec, place: string, defaultPort: number): PortRange | null {
  if (/^[^/:[@]*\//.test(place) && !place.startsWith('/')) {
    throw new OptionError(`Unix domain socket addresses must be absolute paths in -a (${place})`);
  }
  if (place === '@')
    throw new OptionError(`Got no socket(s) for ${place} (The empty abstract socket name is not supported)`);
  if (place.startsWith('/') || place.startsWith('@')) {
    if (Buffer.byteLength(place) > LONGEST_PATH) throw new OptionError(`Got no socket(s) for ${place}`);
    spec.path = place;
    return null;
  }
  // An IPv6 address without brackets contains colons and has no port.
  const bare = net.isIPv6(place);
  const m = bare ? null : /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(place);
  const host = bare ? place : (m?.[1] ?? m?.[2]);
  const ports = parsePorts(place, m?.[3] ?? '', defaultPort);
  const wrong =
    place === '' ||
    host === undefined ||
    host.includes('@') ||
    ports === null ||
    (/^\d+(\.\d+){3}$/.test(host) && !net.isIPv4(host));
  if (wrong) throw new OptionError(`Got no socket(s) for ${place}`);
  spec.host = host === '*' ? '' : host;
  spec.port = ports.first;
  return ports;
}

/** One port, or all from one to another (`80-89`); null if it is neither. Throws OptionError. */
function parsePorts(place: string, text: string, defaultPort: number): PortRange | null {
  const range = /^(\d+)-(\d+)$/.exec(text);
  if (range === null) {
    const port = portNumber(text, defaultPort);
    return port === null ? null : { first: port, last: port };
  }
  const [first, last] = [Number(range[1]), Number(range[2])];
  const why =
    last > MAX_PORT
      ? 'Range end higher than 65535'
      : first === 0
        ? 'Range start cannot be 0'
        : first > last
          ? 'Range start higher than range end'
          : null;
  if (why !== null) throw new OptionError(`Got no socket(s) for ${place} (${why})`);
  return { first, last };
}

/** A port number, or the port of a service name; the default for '', null for an unknown name. */
function portNumber(text: string, defaultPort: number): number | null {
  if (text === '') return defaultPort;
  if (/^\d+$/.test(text)) return Number(text) <= MAX_PORT ? Number(text) : null;
  for (const line of linesOf('/etc/services')) {
    const [name, port = '', ...others] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (port.endsWith('/tcp') && (name === text || others.includes(text))) return Number.parseInt(port, 10);
  }
  return { http: 80, https: 443 }[text] ?? null;
}
