// Bytes of connections before their first request: PROXY headers, heads that arrive a byte at a time.
import { connect } from 'node:net';
import { freePort } from '../../servers/start.js';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** Bytes of all TLVs of a header, of which the session's workspace holds a few hundred more. */
const ROOM = 400;

/** A header of version 2 with as many TLVs as have room, none of which anybody reads. */
function header() {
  const address = Buffer.alloc(12);
  const tlvs = Buffer.concat(Array.from({ length: ROOM / 4 }, () => Buffer.from([0xe0, 0, 1, 120])));
  const head = Buffer.alloc(4);
  head[0] = 0x21;
  head[1] = 0x11;
  head.writeUInt16BE(address.length + tlvs.length, 2);
  return Buffer.concat([SIGNATURE, head, address, tlvs]);
}

const REQUEST = 'GET /page HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Writes the parts, each after the one before has left, and waits for the end of the connection. */
function send(port, parts) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    socket.on('data', () => undefined);
    socket.on('close', resolve);
    let at = 0;
    const next = () => {
      if (at < parts.length && !socket.destroyed) socket.write(parts[at++], () => setImmediate(next));
    };
    socket.on('connect', next);
  });
}

const listener = await freePort();

/** @type {import('../row.d.ts').Row[]} */
export default [
  {
    name: 'connections with a PROXY header of a hundred TLVs',
    sizes: [20, 200, 2000],
    aim: 10,
    args: () => ['-a', `proxy=127.0.0.1:${listener},PROXY`],
    varnishArgs: () => ['-a', `proxy=127.0.0.1:${listener},PROXY`],
    varnish: true,
    load: ({ n }) => Promise.all(Array.from({ length: n }, () => send(listener, [header(), REQUEST]))),
  },
  {
    name: 'bytes of a head, one at a time',
    sizes: [300, 3000, 30_000],
    aim: 10,
    varnish: true,
    load: ({ port, n }) =>
      send(port, [
        ...`${REQUEST.slice(0, -4)}\r\n${Array.from({ length: n / 100 }, (_, i) => `X-${i}: ${'v'.repeat(90)}\r\n`).join('')}\r\n`,
      ]),
  },
];
