// Both kinds of TLS connections of clients: bytes, backpressure, who holds them and how they end.

import { type AddressInfo, connect as connectNet, createServer, type Server } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Piece } from '../../../daemon/flow/piece.ts';
import { keep, type LentBytes } from '../../../daemon/http1/lent-bytes.ts';
import { TlsHandleWires } from '../../../daemon/net/tls-handle.ts';
import { TlsSocketWire } from '../../../daemon/net/tls-socket-wire.ts';
import type { HandshakeFacts, SecurableWire, TlsSetup } from '../../../daemon/net/tls-wire.ts';
import { listenHandleOf, runtimeHandles } from '../../../daemon/runtime-handles.ts';
import { type Issued, issue } from '../../harness/certificates.ts';

let certificate: Issued;
beforeAll(() => {
  certificate = issue({ names: ['a.example'] });
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A wire's user that begins the handshake with the first bytes, and keeps what follows. */
class Peer {
  readonly wire: SecurableWire;
  readonly received: Buffer[] = [];
  facts: HandshakeFacts | null = null;
  failed: Error | null = null;
  ended = false;
  lost = false;
  private secured = false;
  private readonly setup: TlsSetup;
  private readonly ready: (peer: Peer) => void;

  constructor(wire: SecurableWire, setup: TlsSetup, ready: (peer: Peer) => void) {
    this.wire = wire;
    this.setup = setup;
    this.ready = ready;
    wire.begin({
      receive: (buf, start, end) => this.receive(buf, start, end),
      receivedEnd: () => {
        this.ended = true;
      },
      lost: () => {
        this.lost = true;
      },
    });
    wire.resume();
  }

  private receive(buf: LentBytes, start: number, end: number): void {
    if (this.secured) {
      this.received.push(keep(buf, start, end));
      return;
    }
    this.secured = true;
    this.wire.secure(this.setup, keep(buf, start, end), {
      secured: (facts) => {
        this.facts = facts;
        this.ready(this);
      },
      tlsFailed: (error) => {
        this.failed = error;
        this.ready(this);
      },
    });
  }
}

/** A piece that counts who holds it. */
class Counted {
  held = 0;
  readonly piece: Piece;

  constructor(...parts: Buffer[]) {
    this.piece = new Piece(parts, { hold: () => this.held++, release: () => this.held-- });
  }
}

function flushed(wire: SecurableWire): Promise<void> {
  return new Promise((resolve) => wire.flushed(resolve));
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`not within 10 s: ${what}`);
}

const kinds = [
  ...(runtimeHandles()?.tls_wrap === null || runtimeHandles() === null ? [] : ['handles' as const]),
  'sockets' as const,
];

describe.each(kinds)('a TLS connection over %s', (kind) => {
  async function pair(
    setup: Partial<TlsSetup> = {},
    options: ConnectionOptions = {},
  ): Promise<{ peer: Peer; client: TLSSocket }> {
    const context = createSecureContext({ cert: certificate.cert, key: certificate.key });
    const whole = {
      context,
      alpn: ['http/1.1'],
      requestsCert: false,
      requiresCert: false,
      ocsp: null,
      ...setup,
    };
    const reads = {
      bytes: Buffer.alloc(64 * 1024),
      turnOver: (length: number) => void reads.bytes.fill(0xee, 0, length),
    };
    const server = createServer({ pauseOnConnect: true, noDelay: true, allowHalfOpen: true });
    servers.push(server);
    const opened = new Promise<Peer>((resolve) => {
      server.on('connection', (socket) => new Peer(new TlsSocketWire(socket), whole, resolve));
      server.listen(0, '127.0.0.1', () => {
        const runtime = runtimeHandles();
        const listener = listenHandleOf(server);
        if (kind === 'sockets' || runtime === null || runtime.tls_wrap === null || listener === null) return;
        const wires = new TlsHandleWires(runtime, runtime.tls_wrap, reads);
        listener.onconnection = (_status, handle) => {
          if (handle !== undefined) new Peer(wires.of(handle), whole, resolve);
        };
      });
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const client = connect({
      socket: connectNet({ port, host: '127.0.0.1', allowHalfOpen: true }),
      servername: 'a.example',
      ca: certificate.cert,
      ALPNProtocols: ['http/1.1'],
      ...options,
    });
    client.on('error', () => undefined);
    return { peer: await opened, client };
  }

  it('agrees on what it was set up with', async () => {
    const { peer, client } = await pair();
    expect(peer.facts).toMatchObject({
      version: 'TLSv1.3',
      resumed: false,
      alpn: 'http/1.1',
      clientCert: null,
    });
    expect(peer.wire.remote).toEqual({ address: '127.0.0.1', port: client.localPort });
    client.destroy();
    await until('its end is seen', () => peer.ended);
    peer.wire.end();
    await until('the connection is lost', () => peer.lost);
  });

  it('carries both directions byte by byte, in pieces of any size, and holds none for longer than it needs it', async () => {
    const { peer, client } = await pair();
    const got: Buffer[] = [];
    client.on('data', (bytes: Buffer) => got.push(bytes));
    const sent: Buffer[] = [];
    const all: Counted[] = [];
    for (const sizes of [
      [1],
      [0, 3],
      [70_000],
      [16_384, 16_384, 1],
      [300_000, 5],
      [1_000_000, 0, 2_000_000],
    ]) {
      const parts = sizes.map((size, i) => Buffer.alloc(size, (all.length * 7 + i + 1) & 255));
      const counted = new Counted(...parts);
      all.push(counted);
      // Copies: what is lent is overwritten once nobody holds it.
      sent.push(...parts.map((part) => Buffer.from(part)));
      peer.wire.write(counted.piece);
    }
    await flushed(peer.wire);
    await until('all is given back', () => all.every(({ held }) => held === 0));
    const whole = Buffer.concat(sent);
    await until('all has come', () => got.reduce((sum, each) => sum + each.length, 0) === whole.length);
    expect(Buffer.concat(got).equals(whole)).toBe(true);
    const up = Buffer.alloc(3_000_000, 'upload ');
    client.write(up);
    await until(
      'the upload has come',
      () => peer.received.reduce((sum, each) => sum + each.length, 0) === up.length,
    );
    expect(Buffer.concat(peer.received).equals(up)).toBe(true);
    client.destroy();
  });

  it('may be written to while a write is under way, and in the callback of one', async () => {
    const { peer, client } = await pair();
    let text = '';
    client.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
    });
    let expected = '';
    const write = (i: number): void => {
      expected += `<${i}>`;
      peer.wire.write(new Counted(Buffer.from(`<${i}>`)).piece);
    };
    for (let i = 0; i < 300; i++) write(i);
    for (let i = 300; i < 320; i++) {
      await new Promise<void>((resolve) =>
        peer.wire.flushed(() => {
          write(i);
          resolve();
        }),
      );
    }
    await until('all has come', () => text.length === expected.length);
    expect(text).toBe(expected);
    client.destroy();
  });

  it('waits for a client that does not read, and gives everything back when the connection goes', async () => {
    const { peer, client } = await pair();
    client.pause();
    const all = Array.from({ length: 40 }, () => new Counted(Buffer.alloc(1_000_000)));
    let last = 'more';
    for (const { piece } of all) last = peer.wire.write(piece);
    expect(last).toBe('wait');
    expect(peer.wire.isSending).toBe(true);
    expect(peer.wire.isFull).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(all.filter(({ held }) => held > 0).length).toBeGreaterThan(10);
    expect(peer.wire.queued).toBeGreaterThan(10_000_000);
    let called = false;
    peer.wire.flushed(() => {
      called = true;
    });
    peer.wire.destroy();
    await until('the connection is lost', () => peer.lost);
    await until('all is given back', () => all.every(({ held }) => held === 0));
    expect(called).toBe(false);
    client.destroy();
  });

  it.runIf(kind === 'handles')('reports it with the first write that the kernel does not take', async () => {
    const { peer, client } = await pair();
    client.pause();
    let last = new Counted();
    let isStalled = false;
    for (let i = 0; i < 1000 && !isStalled; i++) {
      last = new Counted(Buffer.alloc(60_000));
      const room = peer.wire.write(last.piece);
      // A write that was taken completes in a later turn.
      await new Promise((resolve) => setTimeout(resolve, 2));
      if (room === 'more') continue;
      const later = new Promise<'later'>((resolve) => setTimeout(resolve, 150, 'later'));
      isStalled = (await Promise.race([flushed(peer.wire), later])) === 'later';
    }
    expect(isStalled).toBe(true);
    expect(peer.wire.isSending).toBe(true);
    // It is encrypted; had the one before it been the first, it would wait for its turn, and be held.
    expect(last.held).toBe(0);
    client.destroy();
  });

  it('still answers a client that has ended its side, and ends with close_notify', async () => {
    const { peer, client } = await pair();
    let text = '';
    client.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
    const ended = new Promise((resolve) => client.once('end', resolve));
    client.end('question');
    await until('its end is seen', () => peer.ended);
    expect(Buffer.concat(peer.received).toString()).toBe('question');
    peer.wire.write(new Counted(Buffer.from('answer')).piece);
    peer.wire.end();
    await ended;
    expect(text).toBe('answer');
    await until('the connection is lost', () => peer.lost);
  });

  it('ends after what was written, however much that is', async () => {
    const { peer, client } = await pair();
    let length = 0;
    client.on('data', (bytes: Buffer) => {
      length += bytes.length;
    });
    const ended = new Promise((resolve) => client.once('end', resolve));
    peer.wire.write(new Counted(Buffer.alloc(5_000_000)).piece);
    peer.wire.end();
    await ended;
    expect(length).toBe(5_000_000);
    client.end();
    await until('the connection is lost', () => peer.lost);
  });

  it('stops reading while it is paused', async () => {
    const { peer, client } = await pair();
    peer.wire.pause();
    client.write('later');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(peer.received).toEqual([]);
    peer.wire.resume();
    await until('it is read', () => peer.received.length > 0);
    client.destroy();
  });

  it('can be reset', async () => {
    const { peer, client } = await pair();
    const gone = new Promise((resolve) => client.once('end', resolve).once('close', resolve).resume());
    peer.wire.reset();
    await gone;
    await until('the connection is lost', () => peer.lost);
  });

  it('reports a broken handshake and a broken record', async () => {
    const { peer } = await pair({}, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
    expect(peer.facts).toBeNull();
    expect((peer.failed as Error & { code?: string }).code).toMatch(/^ERR_SSL_/);
    await until('the connection is lost', () => peer.lost);
  });

  it('says whether a client certificate can be trusted', async () => {
    const ca = issue({ subject: 'clients', isAuthority: true });
    const context = createSecureContext({ cert: certificate.cert, key: certificate.key, ca: ca.cert });
    const asked = { context, requestsCert: true };
    const own = issue({ subject: 'alice' }, ca);
    const trusted = await pair(asked, { cert: own.cert, key: own.key });
    expect(trusted.peer.facts?.clientCert).not.toBeNull();
    expect(trusted.peer.facts?.clientCertError).toBeNull();
    const stranger = issue({ subject: 'mallory' });
    const other = await pair(asked, { cert: stranger.cert, key: stranger.key });
    expect(other.peer.facts?.clientCertError).toMatch(/SELF_SIGNED|UNABLE/);
    const none = await pair(asked);
    expect(none.peer.facts).toMatchObject({ clientCert: null, clientCertError: null });
    const refused = await pair({ ...asked, requiresCert: true });
    expect((refused.peer.failed as Error & { code?: string }).code).toMatch(/CERTIFICATE/);
    for (const { client } of [trusted, other, none, refused]) client.destroy();
  });
});
