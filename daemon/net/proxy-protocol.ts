// The PROXY protocol's preamble, versions 1 and 2: bytes in, addresses and attributes out, with the texts that the log
// carries; receivePreamble() logs it and applies it to the session, which reads, waits and closes. Parsing looks at a
// piece of at most MAX_PREAMBLE bytes from the connection's first byte on, and again from there when more has come.
//
// Caution: what cannot be used is not always wrong. Version 2 carries families that mean nothing here and the LOCAL
// command; the connection then stays what it is. Version 1 has no such way out: `UNKNOWN` is refused, as Varnish
// refuses it. Varnish keeps the attributes in the session's workspace and refuses a preamble that does not fit there, so
// workspace_session bounds them here too. The SSL attribute holds five bytes of its own and then attributes again, which
// are collected beside the outer ones: their types do not clash, and nothing nests further.

import { isIPv4, isIPv6 } from 'node:net';
import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { TxLog } from '../log/tx-log.ts';
import type { MainCounters } from '../stats/counter-fields.ts';
import { noteRefusal } from '../transaction/note-refusal.ts';
import { addressBytes, formatAddress } from '../vcl/runtime/ip.ts';

const POLYNOMIAL = 0x82f63b78;

const TABLE = new Uint32Array(256);
for (let n = 0; n < 256; n++) {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? (c >>> 1) ^ POLYNOMIAL : c >>> 1;
  TABLE[n] = c;
}

/** Checksum of bytes[start, end) as an unsigned number, those from `hole` to `hole + 4` taken as zero. */
export function crc32c(bytes: Uint8Array, start: number, end: number, hole = -1): number {
  let c = 0xffffffff;
  for (let i = start; i < end; i++) {
    const byte = hole >= 0 && i >= hole && i < hole + 4 ? 0 : (bytes[i] as number);
    c = (TABLE[(c ^ byte) & 255] as number) ^ (c >>> 8);
  }
  return ~c >>> 0;
}

/** Types of attributes, by the PROXY protocol's specification. */
const ProxyAttribute = {
  alpn: 0x01,
  authority: 0x02,
  crc32c: 0x03,
  ssl: 0x20,
  sslVersion: 0x21,
  sslCommonName: 0x22,
  sslCipher: 0x23,
  sslSignature: 0x24,
  sslKey: 0x25,
} as const;

/** Type and length. */
const HEAD = 3;
/** Flags and verify result of the SSL attribute. */
const SSL_HEAD = 5;

/** The fault, in the log's words. */
export type AttributeError = 'TLV Dribble bytes' | 'TLV Length Error' | 'CRC error';

/**
 * The attributes in bytes[start, end) of a header that begins at byte `from`; the first of a type counts. Values are
 * copies.
 */
function readAttributes(
  bytes: Uint8Array,
  from: number,
  start: number,
  end: number,
): ReadonlyMap<number, Uint8Array> | AttributeError {
  const found = new Map<number, Uint8Array>();
  const keep = (type: number, a: number, b: number): void => {
    if (!found.has(type)) found.set(type, bytes.slice(a, b));
  };
  const checksum = (a: number, b: number): boolean => {
    if (b - a !== 4) return false;
    const stated = new DataView(bytes.buffer, bytes.byteOffset).getUint32(a);
    return stated === crc32c(bytes, from, end, a);
  };
  const outer = walk(bytes, start, end, (type, a, b) => {
    if (type === ProxyAttribute.crc32c) return checksum(a, b) ? null : 'CRC error';
    if (type !== ProxyAttribute.ssl) {
      keep(type, a, b);
      return null;
    }
    if (b - a < SSL_HEAD) return 'TLV Length Error';
    keep(type, a, a + SSL_HEAD);
    return walk(bytes, a + SSL_HEAD, b, (inner, c, d) => {
      keep(inner, c, d);
      return null;
    });
  });
  return outer ?? found;
}

type Visit = (type: number, start: number, end: number) => AttributeError | null;

function walk(bytes: Uint8Array, start: number, end: number, visit: Visit): AttributeError | null {
  let at = start;
  while (at < end) {
    if (end - at < HEAD) return 'TLV Dribble bytes';
    const value = at + HEAD;
    const length = ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    if (length > end - value) return 'TLV Length Error';
    const error = visit(bytes[at] as number, value, value + length);
    if (error !== null) return error;
    at = value + length;
  }
  return null;
}

/** A preamble is shorter than this or refused (bytes). */
export const MAX_PREAMBLE = 1024;

/** One end of the connection as stated by the preamble. */
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
  text: string | null;
  /** Text of the ProxyGarbage record. */
  garbage: string | null;
  client: ProxyAddress | null;
  server: ProxyAddress | null;
  /** Bytes after the addresses of version 2. */
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

/** The preamble that bytes[start, end) of a connection begin with; null while more bytes are needed. */
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
    text: `1 ${source} ${sourcePort} ${destination} ${port}`,
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
  if (command === 0) return accepted(length, { text: '2 local local local local' });
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
  const text = `2 ${client.text} ${client.port} ${server.text} ${server.port}`;
  const attributes = readAttributes(bytes, start, at + addresses, start + length);
  if (typeof attributes === 'string') return { ...refused('RX_JUNK', `PROXY2: ${attributes}`), text };
  return accepted(length, { text, client, server, attributes, attributeLength: room - addresses });
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
    text: null,
    garbage,
    client: null,
    server: null,
    attributeLength: 0,
    attributes: null,
  };
}

/** A session, as far as a preamble may change it. */
export interface PreambleTarget {
  readonly log: TxLog;
  setAddresses(client: ProxyAddress, server: ProxyAddress): void;
  proxyAttributes: ReadonlyMap<number, Uint8Array> | null;
}

/** Bytes of the session's workspace that its addresses take, and those that come with IPv6. */
const WORKSPACE_ADDRESSES = 384;
const WORKSPACE_IPV6 = 8;
/** Bytes for the place where the attributes are remembered. */
const WORKSPACE_PLACE = 8;

/**
 * Reads the preamble at the start of `bytes` into the session. Returns its length, null when more bytes are needed, or
 * why the connection must be closed.
 *
 * @param workspace the parameter workspace_session, in bytes
 */
export function receivePreamble(
  session: PreambleTarget,
  bytes: Uint8Array,
  workspace: number,
  stats: MainCounters,
): number | null | CloseReason {
  const found = parseProxyPreamble(bytes, 0, bytes.length);
  if (found === null) return null;
  const { log } = session;
  if (found.text !== null) log.put(Tag.Proxy, found.text);
  if (found.garbage !== null) log.put(Tag.ProxyGarbage, found.garbage);
  if (found.state === 'refused') {
    noteRefusal(log, stats, 'connection', 'preamble', '');
    return found.reason;
  }
  const overflow = workspaceError(found, workspace);
  if (overflow !== null) {
    log.put(Tag.Error, overflow);
    return 'RX_JUNK';
  }
  if (found.client !== null && found.server !== null) session.setAddresses(found.client, found.server);
  if (found.attributes !== null && found.attributes.size > 0) session.proxyAttributes = found.attributes;
  return found.length;
}

function workspaceError(found: ProxyPreamble, workspace: number): string | null {
  if (found.attributeLength === 0) return null;
  const ipv6 = found.client?.text.includes(':') === true ? WORKSPACE_IPV6 : 0;
  const free = workspace - WORKSPACE_ADDRESSES - ipv6;
  const wanted = Math.ceil(found.attributeLength / 8) * 8;
  if (wanted > free + WORKSPACE_PLACE) return 'insufficient workspace';
  return wanted > free ? 'insufficient workspace (proto_priv)' : null;
}
