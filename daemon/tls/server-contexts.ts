// The certificates of a worker's TLS listeners as OpenSSL's contexts: which one a client gets is decided by the name that
// it asks for. A context is made when the first client needs it, because reading a certificate and its key takes a
// millisecond and there may be thousands; it is kept when settings are replaced and its part of them is the same.

import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { keyName, signatureName } from './certificate-names.ts';
import { contextOptions } from './context-options.ts';
import { followTickets, type TicketKeys } from './session-tickets.ts';
import type { AcmeChallenges, TlsCertificate, TlsFrontend, TlsSettings } from './tls-settings.ts';

/** The context that a handshake presents, and its certificate. */
export interface ServerContext {
  readonly context: SecureContext;
  /** The leaf: its signature and key, as in `ecdsa-with-SHA256` and `EC256`. */
  readonly certSign: string;
  readonly certKey: string;
  /** A DER response to staple; null without one. */
  readonly ocsp: Buffer | null;
}

/** `none`: the listener has no certificate. `unknown name`: none for this name, and it takes no other. */
export type ContextChoice = ServerContext | 'none' | 'unknown name';

/** Certificates that go together: for the same name, of several kinds of keys. */
type Choice = readonly TlsCertificate[];

/** The certificates of one listener, by name. */
class NameTable {
  readonly all: TlsCertificate[] = [];
  private readonly names = new Map<string, TlsCertificate[]>();
  private fallback: TlsCertificate | null = null;
  private only: Choice = [];

  add(certificate: TlsCertificate): void {
    this.all.push(certificate);
    for (const name of certificate.names) {
      const same = this.names.get(name);
      if (same === undefined) this.names.set(name, [certificate]);
      else same.push(certificate);
    }
    if (certificate.isDefault && this.fallback === null) this.fallback = certificate;
    this.only = [this.fallback ?? (this.all[0] as TlsCertificate)];
  }

  /** Certificates for a name: exact ones, else of the wildcard one label up. */
  find(name: string): Choice | null {
    const exact = this.names.get(name);
    if (exact !== undefined) return exact;
    const dot = name.indexOf('.');
    return dot < 0 ? null : (this.names.get(`*${name.slice(dot)}`) ?? null);
  }

  get default(): Choice {
    return this.only;
  }
}

interface Listener {
  readonly frontend: TlsFrontend;
  readonly table: NameTable;
  /** Those that were needed. */
  readonly contexts: Map<Choice, ServerContext>;
}

export class ServerContexts {
  private readonly tickets: TicketKeys;
  private listeners = new Map<string, Listener>();
  /** By what they are made of; and those before the last change, which go with the next one. */
  private made = new Map<string, ServerContext>();
  private former = new Map<string, ServerContext>();
  /** Whether an http-01 request may come. */
  hasHttpChallenges = false;
  private challenges: AcmeChallenges = { http: {}, alpn: {} };

  constructor(tickets: TicketKeys) {
    this.tickets = tickets;
  }

  /** Replaces the settings. */
  set(settings: TlsSettings): void {
    const listeners = new Map<string, Listener>();
    for (const frontend of settings.frontends) {
      const table = new NameTable();
      for (const each of settings.certificates) {
        if (each.frontend === frontend.name || (each.frontend === null && frontend.matchGlobalCerts))
          table.add(each);
      }
      listeners.set(frontend.name, { frontend, table, contexts: new Map() });
    }
    this.listeners = listeners;
    this.former = this.made;
    this.made = new Map();
  }

  setChallenges(challenges: AcmeChallenges): void {
    this.challenges = challenges;
    this.hasHttpChallenges = Object.keys(challenges.http).length > 0;
  }

  /** The answer to an http-01 request for this token; null for an unknown one. */
  httpChallenge(token: string): string | null {
    const { http } = this.challenges;
    return Object.hasOwn(http, token) ? (http[token] as string) : null;
  }

  /** The context for tls-alpn-01 (RFC 8737); null when this name is not being validated. */
  alpnChallenge(name: string | null): SecureContext | null {
    const { alpn } = this.challenges;
    if (name === null || !Object.hasOwn(alpn, name)) return null;
    const { chain, key } = alpn[name] as { chain: string; key: string };
    return createSecureContext({ cert: chain, key, minVersion: 'TLSv1.2' });
  }

  frontend(listener: string): TlsFrontend | null {
    return this.listeners.get(listener)?.frontend ?? null;
  }

  /** @param name what the client asks for, in lower case; null for nothing */
  choose(listener: string, name: string | null): ContextChoice {
    const known = this.listeners.get(listener);
    if (known === undefined || known.table.all.length === 0) return 'none';
    const { frontend, table, contexts } = known;
    const found = name === null ? null : table.find(name);
    if (name !== null && found === null && frontend.sniNomatchAbort) return 'unknown name';
    const choice = found ?? table.default;
    let context = contexts.get(choice);
    if (context === undefined) {
      const key = keyOf(frontend, choice);
      context = this.made.get(key) ?? this.former.get(key) ?? makeContext(frontend, choice, this.tickets);
      this.made.set(key, context);
      contexts.set(choice, context);
    }
    return context;
  }
}

/** All that a context is made of; equal texts are equal contexts. */
function keyOf(frontend: TlsFrontend, certificates: Choice): string {
  const parts = certificates.map(({ fingerprint, ocsp, policy, chain }) => [
    fingerprint,
    ocsp,
    policy,
    chain.length,
  ]);
  const { name, policy, clientVerify, clientCa } = frontend;
  return JSON.stringify([name, policy, clientVerify, clientCa, parts]);
}

/** With several certificates for a name, the client gets the one whose kind of key it can use. */
function makeContext(frontend: TlsFrontend, certificates: Choice, tickets: TicketKeys): ServerContext {
  const first = certificates[0] as TlsCertificate;
  const leaf = new X509Certificate(first.chain);
  const kinds = new Set([leaf.publicKey.asymmetricKeyType]);
  const used = [first];
  for (const each of certificates.slice(1)) {
    const kind = new X509Certificate(each.chain).publicKey.asymmetricKeyType;
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    used.push(each);
  }
  const context = createSecureContext({
    ...contextOptions({ ...frontend.policy, ...first.policy }),
    cert: used.map(({ chain }) => chain),
    key: used.map(({ key }) => key),
    ...(frontend.clientCa === null ? {} : { ca: frontend.clientCa }),
    // A session is resumed only where what it proves is asked for in the same way (RFC 9325 section 3.4.1).
    sessionIdContext: createHash('sha256')
      .update(JSON.stringify([frontend.name, frontend.clientVerify, frontend.clientCa]))
      .digest('hex')
      .slice(0, 32),
  });
  followTickets(context, tickets);
  const ocsp = first.ocsp === null || used.length > 1 ? null : Buffer.from(first.ocsp, 'base64');
  return { context, ocsp, certSign: signatureName(leaf), certKey: keyName(leaf) };
}
