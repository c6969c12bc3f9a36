// The PROXY protocol's preamble (versions 1 and 2), sent before each request to a backend with .proxy_header: it names
// the request's client. A probe has no client: version 1 gives the connection's own address twice, version 2 says
// LOCAL.

import { addressBytes } from '../vcl/runtime/ip.ts';

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

/** The preamble of a request in `version` 1 or 2. */
export function proxyHeader(version: number, ends: ProxyEnds): Buffer {
  const { clientIp, clientPort, serverIp, serverPort } = ends;
  const six = clientIp.includes(':');
  if (version === 1) {
    const family = six ? 'TCP6' : 'TCP4';
    return Buffer.from(`PROXY ${family} ${clientIp} ${serverIp} ${clientPort} ${serverPort}\r\n`, 'latin1');
  }
  const size = six ? 16 : 4;
  const out = Buffer.alloc(SIGNATURE.length + 4 + 2 * size + 4);
  let at = SIGNATURE.copy(out);
  out[at++] = PROXIED;
  out[at++] = six ? TCP6 : TCP4;
  at = out.writeUInt16BE(2 * size + 4, at);
  out.set(sized(clientIp, size), at);
  out.set(sized(serverIp, size), at + size);
  at = out.writeUInt16BE(clientPort, at + 2 * size);
  out.writeUInt16BE(serverPort, at);
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
