// Which certificate a client gets, by the name that it asks for; and tickets, which all contexts share.

import { randomBytes, X509Certificate } from 'node:crypto';
import { type AddressInfo, connect as connectNet, createServer } from 'node:net';
import { connect, TLSSocket } from 'node:tls';
import { beforeAll, expect, it } from 'vitest';
import { ServerContexts } from '../../../daemon/tls/server-contexts.ts';
import { TicketKeys } from '../../../daemon/tls/session-tickets.ts';
import type { TicketKey, TlsCertificate, TlsFrontend } from '../../../daemon/tls/tls-settings.ts';
import { type Issued, issue } from '../../harness/certificates.ts';

const POLICY = {
  protocols: ['TLSv1.2', 'TLSv1.3'],
  ciphers: null,
  ciphersuites: null,
  preferServerCiphers: false,
  ecdhCurve: null,
  dhparam: null,
} as const;

function frontend(name: string, facts: Partial<TlsFrontend> = {}): TlsFrontend {
  return {
    name,
    policy: POLICY,
    sniNomatchAbort: false,
    matchGlobalCerts: true,
    clientVerify: 'none',
    clientCa: null,
    ...facts,
  };
}

let ec: Issued;
let rsa: Issued;
beforeAll(() => {
  ec = issue({ names: ['a.example'] });
  rsa = issue({ names: ['a.example'], kind: 'rsa' });
});

function certificate(
  id: string,
  names: readonly string[],
  facts: Partial<TlsCertificate> = {},
): TlsCertificate {
  return {
    id,
    frontend: null,
    chain: ec.cert,
    key: ec.key,
    names,
    isDefault: false,
    ocsp: null,
    subject: `CN=${id}`,
    notBefore: 0,
    notAfter: 2 ** 31,
    fingerprint: id,
    policy: {},
    ...facts,
  };
}

function key(): TicketKey {
  const text = (size: number): string => randomBytes(size).toString('base64');
  return { name: text(16), aes: text(16), hmac: text(32) };
}

it('chooses by exact name, then wildcard, then the default', () => {
  const contexts = new ServerContexts(new TicketKeys());
  const certificates = [
    certificate('first', ['first.example']),
    certificate('wild', ['*.example.com']),
    certificate('exact', ['www.example.com']),
    certificate('own', ['own.example'], { frontend: 'b' }),
  ];
  contexts.set({ frontends: [frontend('a'), frontend('b')], certificates });
  const of = (listener: string, name: string | null) => contexts.choose(listener, name);
  const exact = of('a', 'www.example.com');
  const wild = of('a', 'img.example.com');
  const first = of('a', 'first.example');
  expect(new Set([exact, wild, first]).size).toBe(3);
  expect(of('a', 'deep.img.example.com'), 'a wildcard is one label').toBe(first);
  expect(of('a', 'example.com')).toBe(first);
  expect(of('a', null)).toBe(first);
  expect(of('a', 'own.example'), 'of another listener').toBe(first);
  expect(of('b', 'own.example')).not.toBe(of('b', 'first.example'));
  expect(of('c', 'first.example')).toBe('none');

  const marked = certificates.map((each) => (each.id === 'exact' ? { ...each, isDefault: true } : each));
  contexts.set({
    frontends: [frontend('a', { sniNomatchAbort: true }), frontend('d', { matchGlobalCerts: false })],
    certificates: marked,
  });
  expect(of('a', null)).toBe(of('a', 'www.example.com'));
  expect(of('a', 'unknown.example')).toBe('unknown name');
  expect(of('a', ''), 'no name at all').toBe('unknown name');
  expect(of('d', null), 'takes no global ones').toBe('none');
});

it('keeps the contexts of what has not changed, and no other', () => {
  const contexts = new ServerContexts(new TicketKeys());
  const settings = (fingerprint: string) => ({
    frontends: [frontend('a')],
    certificates: [certificate('one', ['one.example']), certificate('two', ['two.example'], { fingerprint })],
  });
  contexts.set(settings('x'));
  const one = contexts.choose('a', 'one.example');
  const two = contexts.choose('a', 'two.example');
  contexts.set(settings('y'));
  expect(contexts.choose('a', 'one.example')).toBe(one);
  expect(contexts.choose('a', 'two.example')).not.toBe(two);
});

/** Connects through a context to a server that resumes by tickets; the client's session for the next one. */
async function handshake(
  contexts: ServerContexts,
  session: Buffer | undefined,
  options: { ciphers?: string; maxVersion?: 'TLSv1.2' } = {},
): Promise<{ resumed: boolean; session: Buffer; kind: string | undefined }> {
  const server = createServer((socket) => {
    const chosen = contexts.choose('a', 'a.example');
    if (typeof chosen === 'string') throw new Error(chosen);
    const secured = new TLSSocket(socket, { isServer: true, secureContext: chosen.context });
    secured.on('secure', () => secured.end('x'));
    secured.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve, reject) => {
      let last: Buffer = Buffer.alloc(0);
      const client = connect({
        socket: connectNet(port, '127.0.0.1'),
        servername: 'a.example',
        rejectUnauthorized: false,
        ...(session === undefined ? {} : { session }),
        ...options,
      });
      client.on('session', (each: Buffer) => {
        last = each;
      });
      client.on('error', reject);
      client.resume();
      let kind: string | undefined;
      let resumed = false;
      client.on('secureConnect', () => {
        resumed = client.isSessionReused();
        const raw = client.getPeerCertificate().raw as Buffer | undefined;
        kind = raw === undefined ? undefined : new X509Certificate(raw).publicKey.asymmetricKeyType;
      });
      client.on('close', () => resolve({ resumed, session: last, kind }));
    });
  } finally {
    server.close();
  }
}

it('resumes by tickets of all keys, in every context that has them', async () => {
  const old = key();
  const settings = { frontends: [frontend('a')], certificates: [certificate('c', ['a.example'])] };
  const make = (keys: TicketKey[]) => {
    const tickets = new TicketKeys();
    tickets.set(keys);
    const contexts = new ServerContexts(tickets);
    contexts.set(settings);
    return { tickets, contexts };
  };
  for (const options of [{}, { maxVersion: 'TLSv1.2' as const }]) {
    const one = make([old]);
    const first = await handshake(one.contexts, undefined, options);
    expect(first.resumed).toBe(false);
    expect((await handshake(one.contexts, first.session, options)).resumed).toBe(true);
    // Another thread or worker, after a change of keys.
    const other = make([key(), old]);
    const second = await handshake(other.contexts, first.session, options);
    expect(second.resumed).toBe(true);
    other.tickets.set([key()]);
    expect((await handshake(other.contexts, first.session, options)).resumed, 'the key is gone').toBe(false);
  }
});

it('gives each client the kind of certificate that it can use', async () => {
  const contexts = new ServerContexts(new TicketKeys());
  const both = [
    certificate('ec', ['a.example']),
    certificate('rsa', ['a.example'], { chain: rsa.cert, key: rsa.key }),
  ];
  contexts.set({ frontends: [frontend('a')], certificates: both });
  const rsaOnly = { maxVersion: 'TLSv1.2' as const, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' };
  expect((await handshake(contexts, undefined, rsaOnly)).kind).toBe('rsa');
  expect((await handshake(contexts, undefined)).kind).toBe('ec');
});

it('has challenges of authorities by token and name', () => {
  const contexts = new ServerContexts(new TicketKeys());
  expect(contexts.hasHttpChallenges).toBe(false);
  contexts.setChallenges({
    http: { token: 'token.thumb' },
    alpn: { 'a.example': { chain: ec.cert, key: ec.key } },
  });
  expect(contexts.hasHttpChallenges).toBe(true);
  expect(contexts.httpChallenge('token')).toBe('token.thumb');
  expect(contexts.httpChallenge('toString')).toBeNull();
  expect(contexts.alpnChallenge('a.example')).not.toBeNull();
  expect(contexts.alpnChallenge('b.example')).toBeNull();
  expect(contexts.alpnChallenge(null)).toBeNull();
});
