// Addresses with ports as std.ip parses them, in the forms that getaddrinfo(3) accepts: numeric ones in every
// historical spelling, names and services from the machine's own tables (/etc/hosts, /etc/services). It never blocks:
// other names are resolved in the background (name-lookup.ts).

import { isIP } from 'node:net';
import { addressBytes, formatAddress, VclIp } from '../../vcl/runtime/ip.ts';

/** Resolution of names. */
export interface Names {
  /** Numeric address of a host, or null. */
  host(name: string): string | null;
  /** Port of a TCP service, or null. */
  service(name: string): number | null;
}

/** Resolves nothing: std.ip with resolve=false. */
export const NO_NAMES: Names = { host: () => null, service: () => null };

/** @param defaultPort port or service for addresses without one */
export function ipOf(text: string, defaultPort: string, names: Names): VclIp | null {
  const [host, port] = parts(text);
  if (host === '') return null;
  const number = portOf(port ?? defaultPort, names);
  if (number === null) return null;
  const numeric = numericAddress(host) ?? names.host(host);
  if (numeric === null) return null;
  return new VclIp(numeric, number, isIP(host) === 6 && isIP(numeric) === 4);
}

/** "[a]:p", "[a] p", "a:p" with a single colon, "a p" or "a". */
function parts(text: string): [host: string, port: string | null] {
  const bracketed = /^\[([^\]]*)\](?:[: ](.*))?$/s.exec(text);
  if (bracketed !== null) return [bracketed[1] as string, bracketed[2] ?? null];
  if (text.startsWith('[')) return ['', null];
  const blank = text.search(/[ \t\n\v\f\r]/);
  if (blank >= 0) return [text.slice(0, blank), text.slice(blank + 1)];
  const colon = text.indexOf(':');
  if (colon < 0 || text.indexOf(':', colon + 1) >= 0) return [text, null];
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** Truncated to 16 bits; an empty port is 0, as in the C library. */
function portOf(text: string, names: Names): number | null {
  const trimmed = text.replace(/^[ \t\n\v\f\r]+/, '');
  if (/^\d{0,18}$/.test(trimmed)) return Number(BigInt.asUintN(16, BigInt(trimmed === '' ? 0 : trimmed)));
  return names.service(trimmed);
}

function numericAddress(host: string): string | null {
  // An empty host is the loopback address of the first family, as in the C library.
  if (host === '*') return '::1';
  if (isIP(host) !== 6) return shortIpv4(host);
  const [address = '', zone] = host.split('%');
  const bytes = addressBytes(address);
  if (bytes === null) return null;
  return zone === undefined ? textOf(bytes) : `${textOf(bytes)}%${zone}`;
}

/** An address with only the last 32 bits set is written with dots. */
function textOf(bytes: readonly number[]): string {
  const embedded =
    bytes.length === 16 &&
    bytes.slice(0, 12).every((b) => b === 0) &&
    bytes.slice(12, 14).some((b) => b !== 0);
  return embedded ? `::${bytes.slice(12).join('.')}` : formatAddress(bytes);
}

/** One to four numbers, decimal, octal or hexadecimal; the last one fills the bytes that are left. */
function shortIpv4(host: string): string | null {
  const fields = host.split('.');
  if (fields.length > 4) return null;
  const numbers = fields.map((f) =>
    /^0x[0-9a-f]{1,8}$/i.test(f)
      ? Number(f)
      : /^0[0-7]*$/.test(f)
        ? Number.parseInt(f, 8)
        : /^[1-9]\d{0,9}$/.test(f)
          ? Number(f)
          : -1,
  );
  const last = numbers.pop() as number;
  if (last < 0 || last >= 256 ** (4 - numbers.length) || numbers.some((n) => n < 0 || n > 255)) return null;
  const tail: number[] = [];
  for (let shift = 3 - numbers.length; shift >= 0; shift--) tail.push(Math.floor(last / 256 ** shift) % 256);
  return [...numbers, ...tail].join('.');
}
