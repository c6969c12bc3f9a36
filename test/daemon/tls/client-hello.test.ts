// The first message of TLS clients: real ones at every split, and what is none.

import { type AddressInfo, createServer } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type ClientHello,
  HelloProgress,
  ja3Hash,
  ja3Text,
  readClientHello,
} from '../../../daemon/tls/client-hello.ts';

/** The first bytes that the runtime's client sends. */
function helloOf(options: ConnectionOptions & { requestOCSP?: boolean }): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        resolve(bytes);
        socket.destroy();
        server.close();
      });
      socket.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      connect({ host: '127.0.0.1', port, ...options }).on('error', () => undefined);
    });
  });
}

function facts(bytes: Buffer): ClientHello {
  const hello = readClientHello(bytes);
  if (typeof hello === 'string') throw new Error(hello);
  return hello;
}

/** A record of the handshake. */
function record(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([22, 3, 1, payload.length >> 8, payload.length & 255]), payload]);
}

it('finds the name, the protocols and the version that a client offers', async () => {
  const bytes = await helloOf({
    servername: 'WWW.Example.com',
    ALPNProtocols: ['h2', 'http/1.1'],
    requestOCSP: true,
  });
  expect(facts(bytes)).toMatchObject({
    serverName: 'www.example.com',
    alpn: ['h2', 'http/1.1'],
    wantsStatus: true,
    version: 0x0304,
  });
  expect(ja3Hash(facts(bytes))).toMatch(/^[0-9a-f]{32}$/);
  const older = facts(await helloOf({ maxVersion: 'TLSv1.2' }));
  expect(older).toMatchObject({ serverName: null, alpn: [], version: 0x0303, wantsStatus: false });
});

it('has the fingerprint that JA3 defines', () => {
  // RFC 8446 layout by hand: TLS 1.2, two suites with a GREASE value, groups 29 and 23, formats 0.
  const groups = Buffer.from('000a00060004001d0017', 'hex');
  const formats = Buffer.from('000b00020100', 'hex');
  const extensions = Buffer.concat([groups, formats]);
  const body = Buffer.concat([
    Buffer.from('0303', 'hex'),
    Buffer.alloc(32),
    Buffer.from('00', 'hex'),
    Buffer.from('00060a0ac02bc02f', 'hex'),
    Buffer.from('0100', 'hex'),
    Buffer.from([0, extensions.length]),
    extensions,
  ]);
  const hello = facts(record(Buffer.concat([Buffer.from([1, 0, 0, body.length]), body])));
  expect(ja3Text(hello)).toBe('771,49195-49199,10-11,29-23,0');
});

it('reads it the same in pieces and in records of any size', async () => {
  const bytes = await helloOf({ servername: 'a.example', ALPNProtocols: ['http/1.1'] });
  const whole = facts(bytes);
  for (let n = 0; n < bytes.length; n++)
    expect(readClientHello(bytes.subarray(0, n)), `${n} bytes`).toBe('more');
  expect(facts(Buffer.concat([bytes, Buffer.from('more')]))).toEqual(whole);
  const message = bytes.subarray(5);
  for (const size of [1, 2, 3, 4, 5, 100, message.length - 1]) {
    const records: Buffer[] = [];
    for (let at = 0; at < message.length; at += size) records.push(record(message.subarray(at, at + size)));
    const cut = Buffer.concat(records);
    expect(facts(cut), `records of ${size}`).toEqual(whole);
    for (let n = 1; n < cut.length; n += 7) expect(readClientHello(cut.subarray(0, n))).toBe('more');
  }
});

it('knows what is no TLS from what is malformed or too long', async () => {
  expect(readClientHello(Buffer.from('GET / HTTP/1.1\r\n'))).toBe('plain');
  expect(readClientHello(Buffer.from([0x80, 0x2e, 1, 0, 2]))).toBe('plain');
  expect(readClientHello(Buffer.from([22, 2, 0]))).toBe('plain');
  expect(readClientHello(Buffer.from([22, 3, 1, 0, 0]))).toBe('malformed');
  expect(readClientHello(Buffer.from([22, 3, 1, 0x40, 1]))).toBe('too long');
  expect(readClientHello(record(Buffer.from([2, 0, 0, 1, 0])))).toBe('malformed');
  expect(readClientHello(record(Buffer.from([1, 1, 0, 0])))).toBe('too long');
  const bytes = await helloOf({});
  const longer = Buffer.from(bytes);
  longer.writeUIntBE(longer.readUIntBE(6, 3) - 1, 6, 3);
  expect(readClientHello(longer)).toBe('malformed');
});

it('ends with a verdict for any bytes', async () => {
  const bytes = await helloOf({ servername: 'a.example', ALPNProtocols: ['http/1.1'] });
  fc.assert(
    fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(bytes.length), (at, value, length) => {
      const changed = Buffer.from(bytes.subarray(0, length));
      if (at < length) changed[at] = value;
      const hello = readClientHello(changed);
      if (typeof hello !== 'string' && hello.serverName) expect(hello.serverName).toMatch(/^[\w.-]+$/);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (payload) => {
      readClientHello(record(Buffer.concat([Buffer.from([1, 0, 0, payload.length]), payload])));
    }),
  );
});

it('looks at no record twice, however many there are and however they come', async () => {
  const whole = await helloOf({ servername: 'a.example' });
  const tiny = Buffer.concat([...whole.subarray(5)].map((byte) => record(Buffer.from([byte]))));
  const progress = new HelloProgress();
  const last = tiny.length - 6;
  for (let n = 1; n <= last; n++) {
    const come = Buffer.from(tiny.subarray(0, n));
    // Bytes read before are gone; but the head of the message is looked at when all of it is there.
    if (progress.wanted >= 0) come.fill(0, 0, progress.at);
    expect([n, readClientHello(come, progress)]).toEqual([n, 'more']);
  }
  expect(readClientHello(tiny, progress)).toMatchObject({ serverName: 'a.example' });
});
