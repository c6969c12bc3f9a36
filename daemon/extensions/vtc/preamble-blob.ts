// PROXY preambles as values of a program (the PROXY protocol, sections 2.1 and 2.2).

import type { VclContext } from '../../contract/context.ts';
import { addressBytes, type VclIp } from '../../vcl/runtime/ip.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2 and the command PROXY; TCP over IPv4 and over IPv6; the type of the authority. */
const PROXIED = 0x21;
const TCP4 = 0x11;
const TCP6 = 0x21;
const AUTHORITY = 0x02;

/** An address in 4 or 16 bytes; one of IPv4 is mapped where the other is of IPv6. */
function sized(text: string, size: number): Buffer {
  const bytes = Buffer.from(addressBytes(text) ?? []);
  if (bytes.length === size) return bytes;
  return Buffer.concat([Buffer.alloc(10), Buffer.from([0xff, 0xff]), bytes]);
}

export function preambleBlob(
  _ctx: VclContext,
  version: 'v1' | 'v2',
  client: VclIp,
  server: VclIp,
  authority: string | null = null,
): Uint8Array {
  const isSix = client.text.includes(':') || server.text.includes(':');
  if (version === 'v1') {
    const family = isSix ? 'TCP6' : 'TCP4';
    return Buffer.from(
      `PROXY ${family} ${client.text} ${server.text} ${client.port} ${server.port}\r\n`,
      'latin1',
    );
  }
  const size = isSix ? 16 : 4;
  const name = Buffer.from(authority ?? '', 'latin1').subarray(0, 0xffff);
  const more = Buffer.alloc(authority === null ? 0 : 3 + name.length);
  if (authority !== null) {
    more[0] = AUTHORITY;
    more.writeUInt16BE(name.length, 1);
    name.copy(more, 3);
  }
  const head = Buffer.from([PROXIED, isSix ? TCP6 : TCP4, 0, 0]);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(client.port, 0);
  ports.writeUInt16BE(server.port, 2);
  const rest = Buffer.concat([sized(client.text, size), sized(server.text, size), ports, more]);
  head.writeUInt16BE(rest.length & 0xffff, 2);
  return Buffer.concat([SIGNATURE, head, rest]);
}
