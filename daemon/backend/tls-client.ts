// One way of speaking TLS to origins: authorities, client certificate, name, and the sessions to resume. Backends with the
// same settings share it, also those of a program and the next. It opens no connections.
//
// Sessions are kept by address, one each, only of connections that were accepted, and no longer than their certificates:
// a resumed handshake shows none.

import { createHash, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import type { BackendTls } from '../contract/program.ts';
import { addAuthority, verificationText } from '../runtime-handles.ts';
import type { SystemError } from '../system-error.ts';
import type { Turns } from '../turns/turns.ts';
import { chainFailure, nameFailure, tlsFailure } from './tls-failures.ts';

/** Addresses of which sessions are kept (chosen): more than a name has. */
const MOST_SESSIONS = 64;

export interface KeptSession {
  readonly session: Buffer;
  /** The certificate that it was begun with: a resumed handshake has none. */
  readonly leaf: X509Certificate | null;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

export class TlsClient {
  readonly settings: BackendTls;
  /** Part of the key under which connections are pooled. */
  readonly key: string;
  private readonly context: SecureContext;
  private readonly sessions = new Map<string, KeptSession>();

  constructor(settings: BackendTls, key: string, context: SecureContext) {
    this.settings = settings;
    this.key = key;
    this.context = context;
  }

  /** The same authorities and client certificate, to a peer of another name. */
  named(name: string): TlsClient {
    const { settings } = this;
    // A backend that is named by its address says nothing about asking for names.
    const asks = settings.sni || isIP(settings.name) !== 0;
    const other = { ...settings, name, sni: asks && isIP(name) === 0 };
    return new TlsClient(other, keyOf(other), this.context);
  }

  /** The session to resume with this address (its key); null without one. */
  session(address: string): KeptSession | null {
    const kept = this.sessions.get(address);
    return kept !== undefined && kept.until > Date.now() ? kept : null;
  }

  options(offered: KeptSession | null): ConnectionOptions {
    const { settings } = this;
    return {
      secureContext: this.context,
      ...(settings.sni ? { servername: settings.name } : {}),
      ALPNProtocols: ['http/1.1'],
      // Verified here, where the certificate can still be named: the runtime would close the connection first.
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
      ...(offered === null ? {} : { session: offered.session }),
    };
  }

  /** Why the peer of a completed handshake is not accepted; null if it is. */
  verify(socket: TLSSocket, leaf: X509Certificate | null): SystemError | null {
    const { verifyPeer, verifyHost, name } = this.settings;
    if (verifyPeer && !socket.authorized)
      return chainFailure(String(socket.authorizationError ?? ''), verificationText(socket), leaf);
    if (!verifyHost) return null;
    if (leaf === null) return tlsFailure('the origin shows no certificate');
    return hasName(leaf, name) ? null : nameFailure(name, leaf);
  }

  /** Keeps a session of an accepted connection for the next one to this address. */
  keep(address: string, session: Buffer, leaf: X509Certificate | null): void {
    const { sessions } = this;
    sessions.delete(address);
    const until = leaf === null ? Number.POSITIVE_INFINITY : Date.parse(leaf.validTo);
    sessions.set(address, { session, leaf, until });
    if (sessions.size <= MOST_SESSIONS) return;
    const [oldest = ''] = sessions.keys();
    sessions.delete(oldest);
  }

  /** A handshake with the session failed: it may be the reason. */
  forget(address: string): void {
    this.sessions.delete(address);
  }
}

function keyOf(settings: BackendTls): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}

/** RFC 9525 section 6.3: names of the subject do not count, and a wildcard is a whole label. */
function hasName(leaf: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return leaf.checkIP(name) !== undefined;
  return leaf.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined;
}

/** The clients of this thread, one for the same settings. */
export class TlsClients {
  private readonly clients = new Map<string, WeakRef<TlsClient>>();
  private readonly contexts = new Map<string, WeakRef<SecureContext>>();

  /**
   * The client for a backend's settings.
   * @param pem texts by digest, as in the program
   * @throws Error if OpenSSL does not accept a certificate or key; the message quotes neither
   */
  async of(settings: BackendTls, pem: Readonly<Record<string, string>>, turns: Turns): Promise<TlsClient> {
    const key = keyOf(settings);
    const known = this.clients.get(key)?.deref();
    if (known !== undefined) return known;
    const context = await this.context(settings, pem, turns);
    const client = this.clients.get(key)?.deref() ?? new TlsClient(settings, key, context);
    keepIn(this.clients, key, client);
    return client;
  }

  private async context(
    settings: BackendTls,
    pem: Readonly<Record<string, string>>,
    turns: Turns,
  ): Promise<SecureContext> {
    const { ca, cert, key, systemCa } = settings;
    const id = JSON.stringify([ca, cert, key, systemCa]);
    const known = this.contexts.get(id)?.deref();
    if (known !== undefined) return known;
    const text = (digest: string): string => {
      const found = pem[digest];
      if (found === undefined) throw new Error('a program names a certificate that it does not have');
      return found;
    };
    const authorities = ca === null ? [] : blocks(text(ca));
    const rest = {
      minVersion: 'TLSv1.2',
      // An authority that the operator names is trusted also if another one has signed it.
      allowPartialTrustChain: ca !== null && !systemCa,
      ...(cert === null || key === null ? {} : { cert: text(cert), key: text(key) }),
    } as const;
    // Without authorities nothing is verified: the runtime's own are never used.
    const [first, ...others] = authorities;
    let context = createSecureContext({ ...rest, ca: first ?? [] });
    const isWhole = await turns.through(addAll(context, others));
    if (isWhole !== true) context = createSecureContext({ ...rest, ca: authorities });
    keepIn(this.contexts, id, context);
    return context;
  }
}

/** Adds authorities one by one, since each takes as long as several requests; returns false if the runtime cannot. */
function* addAll(context: SecureContext, authorities: readonly string[]): Generator<true, boolean> {
  for (const each of authorities) {
    if (!addAuthority(context, each)) return false;
    yield true;
  }
  return true;
}

function blocks(pem: string): string[] {
  return pem.split(/(?<=-----END CERTIFICATE-----)\n/).filter((each) => each !== '');
}

/** Keeps a value for as long as it is in use. */
function keepIn<T extends object>(map: Map<string, WeakRef<T>>, key: string, value: T): void {
  for (const [each, ref] of map) if (ref.deref() === undefined) map.delete(each);
  map.set(key, new WeakRef(value));
}
