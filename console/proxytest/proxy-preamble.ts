// The PROXY protocol, versions 1 and 2, as a client sends it: "CLIENT:PORT SERVER:PORT", for version 2 with NAME=VALUE words.

import { isIPv6 } from 'node:net';
import { readHex, ScriptError } from './script.ts';
import { readAddress } from './socket-addresses.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const TYPES: Readonly<Record<string, number>> = {
  alpn: 1,
  authority: 2,
  crc32c: 3,
  noop: 4,
  unique_id: 5,
  netns: 0x30,
};

function uint16(value: number): Buffer {
  const out = Buffer.alloc(2);
  out.writeUInt16BE(value);
  return out;
}

function octets(host: string): Buffer {
  if (!isIPv6(host)) return Buffer.from(host.split('.').map(Number));
  const [head = '', tail] = host.split('::');
  const words = (text: string): number[] =>
    text
      .split(':')
      .filter((word) => word !== '')
      .map((word) => Number.parseInt(word, 16));
  const [first, last] = [words(head), words(tail ?? '')];
  const middle = new Array<number>(8 - first.length - last.length).fill(0);
  return Buffer.concat([...first, ...middle, ...last].map(uint16));
}

/** A further value: NAME=VALUE, each of which may be 0x…. */
function value(word: string): Buffer {
  const [name = '', ...rest] = word.split('=');
  const given = rest.join('=');
  const type = name.startsWith('0x') ? readHex(name.slice(2)) : Buffer.from([TYPES[name] ?? -1]);
  if (!name.startsWith('0x') && TYPES[name] === undefined)
    throw new ScriptError(`PROXY: unknown type '${name}'`);
  if (type.length !== 1) throw new ScriptError(`PROXY: type '${name}' has more than one byte`);
  if (given === '') throw new ScriptError(`PROXY: '${name}' has no value`);
  const data = given.startsWith('0x') ? readHex(given.slice(2)) : Buffer.from(given, 'latin1');
  return Buffer.concat([type, uint16(data.length), data]);
}

/** Throws ScriptError. */
export function proxyHeader(version: 1 | 2, text: string): Buffer {
  const [client = '', server = '', ...more] = text.trim().split(/\s+/);
  const [from, to] = [client, server].map((each) => readAddress(each));
  if (from?.kind !== 'tcp' || to?.kind !== 'tcp')
    throw new ScriptError(`PROXY: cannot resolve addresses ${text}`);
  const isNew = isIPv6(to.host);
  if (version === 1)
    return Buffer.from(`PROXY TCP${isNew ? 6 : 4} ${from.host} ${to.host} ${from.port} ${to.port}\r\n`);
  const addresses = [octets(from.host), octets(to.host), uint16(from.port), uint16(to.port)];
  const body = Buffer.concat([...addresses, ...more.map(value)]);
  return Buffer.concat([SIGNATURE, Buffer.from([0x21, isNew ? 0x21 : 0x11]), uint16(body.length), body]);
}
