// The PROXY protocol's preamble (versions 1 and 2), sent before each request to a backend with .proxy_header: it names
// the request's client. A probe has no client: version 1 gives the connection's own address twice, version 2 says
// LOCAL. With `.via` a connection begins with one that names the destination, and no client.

import { addressBytes } from '../vcl/runtime/ip.ts';
import type { OriginAddress } from './address.ts';

/** The two ends that a preamble names: numeric addresses as text, and ports. */
export interface ProxyEnds {
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
}

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const PROXIED = 0x21;
const LOCAL = 0x20;
const TCP4 = 0x11;
const TCP6 = 0x21;
/** Type of the name of the destination (PROXY protocol, section 2.2.2). */
const AUTHORITY = 0x02;
/** Of type and length. */
const TLV_HEAD = 3;
const NOTHING = new Uint8Array(0);

/** The preamble of a request in `version` 1 or 2. */
export function proxyHeader(version: number, ends: ProxyEnds): Buffer {
  const { clientIp, clientPort, serverIp, serverPort } = ends;
  const six = clientIp.includes(':');
  if (version === 1) {
    const family = six ? 'TCP6' : 'TCP4';
    return Buffer.from(`PROXY ${family} ${clientIp} ${serverIp} ${clientPort} ${serverPort}\r\n`, 'latin1');
  }
  return version2(six, { address: clientIp, port: clientPort }, { address: serverIp, port: serverPort });
}

/**
 * The preamble that names where a connection through another backend is to go.
 * @param authority at most 255 bytes; '' for none
 */
export function destinationHeader(
  { address, port }: Extract<OriginAddress, { kind: 'tcp' }>,
  authority: string,
): Buffer {
  const name = Buffer.from(authority, 'latin1');
  const tlv = Buffer.alloc(name.length === 0 ? 0 : TLV_HEAD + name.length);
  if (name.length > 0) {
    tlv[0] = AUTHORITY;
    tlv.writeUInt16BE(name.length, 1);
    name.copy(tlv, TLV_HEAD);
  }
  const six = address.includes(':');
  return version2(six, { address: six ? '::' : '0.0.0.0', port: 0 }, { address, port }, tlv);
}

interface End {
  readonly address: string;
  readonly port: number;
}

function version2(six: boolean, from: End, to: End, more: Uint8Array = NOTHING): Buffer {
  const size = six ? 16 : 4;
  const addresses = 2 * size + 4;
  const out = Buffer.alloc(SIGNATURE.length + 4 + addresses + more.length);
  let at = SIGNATURE.copy(out);
  out[at++] = PROXIED;
  out[at++] = six ? TCP6 : TCP4;
  at = out.writeUInt16BE(addresses + more.length, at);
  out.set(sized(from.address, size), at);
  out.set(sized(to.address, size), at + size);
  at = out.writeUInt16BE(from.port, at + 2 * size);
  at = out.writeUInt16BE(to.port, at);
  out.set(more, at);
  return out;
}

/** The preamble of a connection without a client; `local` is its own end, null on a Unix socket. */
export function probeProxyHeader(version: number, local: { address: string; port: number } | null): Buffer {
  if (version !== 1) return Buffer.concat([SIGNATURE, Buffer.from([LOCAL, 0, 0, 0])]);
  if (local === null) return Buffer.from('PROXY UNKNOWN\r\n', 'latin1');
  const { address, port } = local;
  return proxyHeader(1, { clientIp: address, clientPort: port, serverIp: address, serverPort: port });
}

/** The address in `size` bytes; an IPv4 one is mapped into IPv6 where the two ends differ in kind. */
function sized(text: string, size: number): Uint8Array {
  const bytes = addressBytes(text) ?? [];
  const out = new Uint8Array(size);
  if (bytes.length === size) out.set(bytes);
  else if (bytes.length === 4) out.set([0xff, 0xff, ...bytes], size - 6);
  return out;
}
