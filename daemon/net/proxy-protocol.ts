// The PROXY protocol's preamble, versions 1 and 2: bytes in, addresses and attributes out, with the texts that the log
// carries. Looks at a piece of at most MAX_PREAMBLE bytes from the connection's first byte on, and again from there
// when more has come; it holds no state and decides nothing about time.
//
// Caution: what cannot be used is not always wrong. Version 2 carries families that mean nothing here and the LOCAL
// command; the connection then stays what it is. Version 1 has no such way out: `UNKNOWN` is refused, as Varnish
// refuses it.

import { isIPv4, isIPv6 } from 'node:net';
import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { addressBytes, formatAddress } from '../vcl/runtime/ip.ts';
import { readAttributes } from './proxy-attributes.ts';

/** A preamble is shorter than this or refused (bytes). */
export const MAX_PREAMBLE = 1024;

/** One end of the connection as the preamble tells it. */
export interface ProxyAddress {
  /** As it was written, for the log. */
  text: string;
  /** In its shortest form; an IPv4 address mapped into IPv6 is an IPv4 one. */
  ip: string;
  port: number;
}

export interface ProxyPreamble {
  state: 'accepted' | 'refused';
  /** Bytes of the preamble; what follows is HTTP. 0 when refused. */
  length: number;
  /** Why the connection ends, when refused. */
  reason: CloseReason;
  /** Text of the Proxy record. */
  told: string | null;
  /** Text of the ProxyGarbage record. */
  garbage: string | null;
  client: ProxyAddress | null;
  server: ProxyAddress | null;
  /** Bytes behind the addresses of version 2. */
  attributeLength: number;
  attributes: ReadonlyMap<number, Uint8Array> | null;
}

const CR = 13;
const LF = 10;
const V1 = Buffer.from('PROXY', 'latin1');
const V2 = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** The longest line of version 1 with its CR LF. */
const V1_MAX = 108;
/** Signature, version and command, family, length. */
const V2_HEAD = 16;

/** What the bytes[start, end) of a connection begin with; null when that takes more of them to tell. */
export function parseProxyPreamble(bytes: Uint8Array, start: number, end: number): ProxyPreamble | null {
  if (end <= start) return null;
  const signature = bytes[start] === CR ? V2 : V1;
  const known = Math.min(signature.length, end - start);
  for (let i = 0; i < known; i++) if (bytes[start + i] !== signature[i]) return refused('RX_JUNK');
  const full = end - start >= MAX_PREAMBLE;
  if (known < signature.length) return null;
  const found = signature === V1 ? version1(bytes, start, end) : version2(bytes, start, end);
  return found === null && full ? refused('RX_OVERFLOW') : found;
}

function version1(bytes: Uint8Array, start: number, end: number): ProxyPreamble | null {
  const cr = bytes.indexOf(CR, start);
  if (cr < 0 || cr >= end) return null;
  if (cr - start > V1_MAX - 2) return refused('RX_OVERFLOW');
  if (cr + 1 === end) return null;
  if (bytes[cr + 1] !== LF) return refused('RX_JUNK');
  const line = Buffer.from(bytes.buffer, bytes.byteOffset + start, cr - start).toString('latin1');
  const [word, family, source = '', destination = '', sourcePort = '', port = '', ...surplus] =
    line.split(' ');
  if (surplus.length > 0) return refused('RX_JUNK', 'PROXY1: Too many fields');
  if (port === '' || line.includes('\0')) return refused('RX_JUNK', 'PROXY1: Too few fields');
  if (word !== 'PROXY') return refused('RX_JUNK');
  if (family !== 'TCP4' && family !== 'TCP6') return refused('RX_JUNK', 'PROXY1: Wrong TCP[46] field');
  const client = textAddress(family, source, sourcePort);
  if (client === null) return refused('RX_JUNK', 'PROXY1: Cannot resolve source address');
  const server = textAddress(family, destination, port);
  if (server === null) return refused('RX_JUNK', 'PROXY1: Cannot resolve destination address');
  return accepted(cr + 2 - start, {
    told: `1 ${source} ${sourcePort} ${destination} ${port}`,
    client,
    server,
  });
}

/** The address and port of a field each; null where they are not written the one way the protocol allows. */
function textAddress(family: 'TCP4' | 'TCP6', text: string, port: string): ProxyAddress | null {
  if (!/^(?:0|[1-9]\d{0,4})$/.test(port) || Number(port) > 65535) return null;
  const right = family === 'TCP4' ? isIPv4(text) : isIPv6(text) && !text.includes('%');
  if (!right) return null;
  return { text, ip: family === 'TCP4' ? text : addressText(addressBytes(text) ?? []), port: Number(port) };
}

function version2(bytes: Uint8Array, start: number, end: number): ProxyPreamble | null {
  if (end - start < V2_HEAD) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset + start);
  const room = view.getUint16(14);
  const length = V2_HEAD + room;
  if (length > MAX_PREAMBLE) return refused('RX_OVERFLOW');
  if (end - start < length) return null;
  const version = view.getUint8(12) >> 4;
  const command = view.getUint8(12) & 15;
  const family = view.getUint8(13);
  if (version !== 2) return refused('RX_JUNK', `PROXY2: bad version (${version})`);
  if (command === 0) return accepted(length, { told: '2 local local local local' });
  if (command !== 1) return refused('RX_JUNK', `PROXY2: bad command (${command})`);
  if (family === 0) return accepted(length, { garbage: 'PROXY2: Ignoring UNSPEC|UNSPEC addresses' });
  if (family !== 0x11 && family !== 0x21) {
    const hex = family.toString(16).padStart(2, '0');
    return accepted(length, { garbage: `PROXY2: Ignoring unsupported protocol (0x${hex})` });
  }
  const size = family === 0x11 ? 4 : 16;
  const addresses = size * 2 + 4;
  if (room < addresses) {
    const kind = size === 4 ? 'IPv4' : 'IPv6';
    return accepted(length, { garbage: `PROXY2: Ignoring short ${kind} addresses (${room})` });
  }
  const at = start + V2_HEAD;
  const client = binaryAddress(bytes, at, size, view.getUint16(V2_HEAD + size * 2));
  const server = binaryAddress(bytes, at + size, size, view.getUint16(V2_HEAD + size * 2 + 2));
  const told = `2 ${client.text} ${client.port} ${server.text} ${server.port}`;
  const attributes = readAttributes(bytes, start, at + addresses, start + length);
  if (typeof attributes === 'string') return { ...refused('RX_JUNK', `PROXY2: ${attributes}`), told };
  return accepted(length, { told, client, server, attributes, attributeLength: room - addresses });
}

function binaryAddress(bytes: Uint8Array, at: number, size: number, port: number): ProxyAddress {
  const text = addressText([...bytes.subarray(at, at + size)]);
  return { text, ip: text, port };
}

/** Text of 4 or 16 bytes, as inet_ntop(3) writes it; a mapped IPv4 address without its prefix. */
function addressText(bytes: readonly number[]): string {
  const zeros = bytes.findIndex((b) => b !== 0);
  const last = bytes.slice(12);
  if (bytes.length === 16 && zeros === 10 && bytes[10] === 255 && bytes[11] === 255) {
    return formatAddress(last);
  }
  if (bytes.length === 16 && (zeros === 12 || zeros === 13)) return `::${formatAddress(last)}`;
  return formatAddress(bytes);
}

function accepted(length: number, found: Partial<ProxyPreamble>): ProxyPreamble {
  return { ...refused('RX_JUNK'), state: 'accepted', length, ...found };
}

function refused(reason: CloseReason, garbage: string | null = null): ProxyPreamble {
  return {
    state: 'refused',
    length: 0,
    reason,
    told: null,
    garbage,
    client: null,
    server: null,
    attributeLength: 0,
    attributes: null,
  };
}
