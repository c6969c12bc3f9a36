// The beginning of a TLS connection, from its first byte to the first request: the client's first message is read, a
// certificate chosen, and OpenSSL makes the handshake. How it ends is logged and counted once. A handshake costs as
// much as ten hits, so one begins within the budget of a turn, and those that find none left wait in order.

import { X509Certificate } from 'node:crypto';
import type { CloseReason } from '../../protocol/tables/close-reasons.ts';
import { Tag } from '../../protocol/tables/tags.ts';
import type { ClientCert, ClientTls } from '../contract/context.ts';
import type { TxLog } from '../log/tx-log.ts';
import {
  ALERT,
  alertRecord,
  type ClientHello,
  HelloProgress,
  ja3Hash,
  readClientHello,
} from '../tls/client-hello.ts';
import { type FailureCounter, failureOf } from '../tls/handshake-failures.ts';
import type { ContextChoice, ServerContext } from '../tls/server-contexts.ts';
import type { Core } from '../transaction/core.ts';
import type { HandshakeFacts, HandshakeUser, SecurableWire, TlsSetup } from './tls-wire.ts';

const HTTP_ALPN = ['http/1.1', 'http/1.0'];
const HTTP2_ALPN = ['h2', ...HTTP_ALPN];
/** RFC 8737 section 3. */
const ACME_ALPN = 'acme-tls/1';

/** The connection that begins. */
export interface HandshakeOwner {
  readonly core: Core;
  readonly log: TxLog;
  readonly endpointName: string;
  readonly isOpen: boolean;
  /** Nothing is read until the handshake begins. */
  pauseReading(): void;
  /** It begins: the connection hands over what it has kept. */
  handshakeBegins(): Buffer;
  handshakeDone(tls: ClientTls): void;
  /** An authority has seen what it wanted (RFC 8737): no request follows. */
  handshakeValidated(): void;
  /** It cannot become one: `answer` is the last that is sent, in clear before the handshake has begun. */
  handshakeRefused(answer: Buffer): void;
  /** OpenSSL has ended it. */
  handshakeFailed(): void;
}

const PLAIN_ANSWER = Buffer.from(
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n' +
    'This port speaks TLS, and this was a plain HTTP request: use https:// instead of http://\n',
);
const CERT_ANSWER = Buffer.from(
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n' +
    'A valid client certificate is required.\n',
);

export class Handshake implements HandshakeUser {
  private readonly owner: HandshakeOwner;
  private readonly wire: SecurableWire;
  private readonly progress = new HelloProgress();
  private hello: ClientHello | null = null;
  private chosen: ServerContext | null = null;
  private over = false;
  private validates = false;

  constructor(owner: HandshakeOwner, wire: SecurableWire) {
    this.owner = owner;
    this.wire = wire;
    owner.core.tls.counters.pending++;
  }

  /** Looks at what has come so far. */
  take(bytes: Buffer): void {
    if (this.hello !== null || this.over) return;
    const hello = readClientHello(bytes, this.progress);
    if (hello === 'more') return;
    if (hello === 'plain') {
      if (mayBecomeHttp(bytes)) return;
      if (looksLikeHttp(bytes)) this.refuse('failed_plain', 'a plain HTTP request', PLAIN_ANSWER);
      else this.refuse('failed_plain', 'no TLS', alertRecord(ALERT.unexpectedMessage));
    } else if (hello === 'too long') {
      this.refuse('failed_other', 'the first message is too long', alertRecord(ALERT.recordOverflow));
    } else if (hello === 'malformed') {
      this.refuse('failed_other', 'the first message is malformed', alertRecord(ALERT.decodeError));
    } else {
      this.hello = hello;
      const { turns } = this.owner.core;
      this.owner.pauseReading();
      turns.tookLong();
      if (turns.mayContinue()) this.begin();
      else turns.later(() => this.begin());
    }
  }

  /** The connection ends, perhaps before the handshake has: to be called while its log is open. Before the handshake
   * nothing of TLS has failed. */
  ended(reason: CloseReason, inPreamble: boolean): void {
    if (this.over) return;
    if (inPreamble) {
      this.over = true;
      this.owner.core.tls.counters.pending--;
    } else if (reason === 'RX_TIMEOUT') {
      this.note('failed_timeout', 'not completed within tls_handshake_timeout');
    } else if (reason === 'REM_CLOSE') this.note('failed_closed', 'the client went away');
    else this.note('failed_other', 'the daemon ended the connection');
  }

  secured(facts: HandshakeFacts): void {
    const { owner, hello, chosen } = this;
    if (this.over || hello === null) return;
    const { counters } = owner.core.tls;
    const name = hello.serverName || '-';
    if (this.validates || chosen === null) {
      this.over = true;
      counters.pending--;
      owner.log.put(Tag.TLS, `${facts.version} ${facts.cipher} ${name} ${ACME_ALPN} validated`);
      owner.handshakeValidated();
      return;
    }
    const { frontend } = this;
    const clientCert = clientCertOf(facts);
    const how = facts.resumed ? 'resumed' : 'full';
    owner.log.put(Tag.TLS, `${facts.version} ${facts.cipher} ${name} ${facts.alpn ?? '-'} ${how}`);
    if (clientCert !== null) {
      const verdict = clientCert.verified ? 'verified' : (facts.clientCertError ?? 'unverified');
      owner.log.put(Tag.TLS, `client certificate ${clientCert.subject || '-'} ${verdict}`);
    }
    if (frontend?.clientVerify === 'required' && clientCert?.verified !== true) {
      this.refuse('failed_client_cert', 'the certificate of the client is not valid', CERT_ANSWER);
      return;
    }
    this.over = true;
    counters.pending--;
    counters.handshakes++;
    if (facts.resumed) counters.resumed++;
    else counters.full++;
    if (facts.version === 'TLSv1.3') counters.tls13++;
    else counters.tls12++;
    // An idle connection keeps none of it.
    this.hello = null;
    this.chosen = null;
    owner.handshakeDone({
      version: facts.version,
      cipher: facts.cipher,
      resumed: facts.resumed,
      authority: hello.serverName || null,
      alpn: facts.alpn,
      ja3: owner.core.params.tls_ja3 !== 0 ? ja3Hash(hello) : null,
      certSign: chosen.certSign,
      certKey: chosen.certKey,
      clientCert,
    });
  }

  tlsFailed(error: Error): void {
    const { counter, words } = failureOf(error);
    const { owner } = this;
    // The log of a connection that is ending has ended.
    if (this.over) owner.isOpen && owner.log.put(Tag.TLS, `broken: ${words}`);
    else this.note(counter, words);
    owner.handshakeFailed();
  }

  private get frontend() {
    return this.owner.core.tls.contexts.frontend(this.owner.endpointName);
  }

  private begin(): void {
    const { owner } = this;
    if (!owner.isOpen || this.over) return;
    const { serverName, alpn, wantsStatus } = this.hello as ClientHello;
    const setup = this.setupFor(serverName, alpn.includes(ACME_ALPN), wantsStatus);
    if (setup !== null) this.wire.secure(setup, owner.handshakeBegins(), this);
  }

  /** Null when the connection was refused. */
  private setupFor(name: string | null, validates: boolean, wantsStatus: boolean): TlsSetup | null {
    const { owner } = this;
    const { contexts } = owner.core.tls;
    let chosen: ContextChoice;
    try {
      const validation = validates ? contexts.alpnChallenge(name) : null;
      if (validation !== null) {
        this.validates = true;
        return {
          context: validation,
          alpn: [ACME_ALPN],
          requestsCert: false,
          requiresCert: false,
          ocsp: null,
        };
      }
      chosen = contexts.choose(owner.endpointName, name);
    } catch (error) {
      // The manager has made the same context before: nothing is wrong with the certificate itself.
      const why = `the certificate cannot be used: ${(error as Error).message}`;
      return this.refuse('failed_other', why, alertRecord(ALERT.internalError));
    }
    if (chosen === 'none') {
      owner.core.tls.lacksCertificate(owner.endpointName);
      const why = 'the listener has no certificate: tls.cert.load brings one';
      return this.refuse('failed_no_cert', why, alertRecord(ALERT.handshakeFailure));
    }
    if (chosen === 'unknown name') {
      const why = `no certificate for ${name === '' ? 'an invalid host name' : name}`;
      return this.refuse('failed_name', why, alertRecord(ALERT.unrecognizedName));
    }
    this.chosen = chosen;
    const verify = this.frontend?.clientVerify ?? 'none';
    return {
      context: chosen.context,
      alpn: owner.core.http2Tls ? HTTP2_ALPN : HTTP_ALPN,
      requestsCert: verify !== 'none',
      requiresCert: verify === 'required',
      ocsp: wantsStatus ? chosen.ocsp : null,
    };
  }

  private refuse(counter: FailureCounter, words: string, answer: Buffer): null {
    this.note(counter, words);
    this.owner.handshakeRefused(answer);
    return null;
  }

  private note(counter: FailureCounter, words: string): void {
    const { owner, hello } = this;
    const { counters } = owner.core.tls;
    this.over = true;
    counters.pending--;
    counters.failed++;
    counters[counter]++;
    owner.log.put(Tag.TLS, `failed ${hello?.serverName || '-'} ${words}`);
  }
}

/** Enough for a method and the space after it. */
const LONGEST_METHOD = 11;

function looksLikeHttp(bytes: Buffer): boolean {
  return /^[A-Z]{3,10} /.test(bytes.toString('latin1', 0, LONGEST_METHOD));
}

/** A method of which only the beginning has come. */
function mayBecomeHttp(bytes: Buffer): boolean {
  return bytes.length < LONGEST_METHOD && /^[A-Z]+$/.test(bytes.toString('latin1'));
}

function clientCertOf({ clientCert, clientCertError }: HandshakeFacts): ClientCert | null {
  if (clientCert === null) return null;
  try {
    const certificate = new X509Certificate(clientCert);
    // A certificate may have alternative names alone.
    const subject: string = (certificate.subject as string | undefined) ?? '';
    return {
      verified: clientCertError === null,
      // As UTF-8, like all text of a head: a character beyond Latin-1 would otherwise be cut to its last byte, which
      // may be the end of a line.
      subject: Buffer.from(subject.split('\n').reverse().join(',')).toString('latin1'),
      fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    };
  } catch {
    // A certificate that the runtime cannot parse proves nothing.
    return { verified: false, subject: '', fingerprint: '' };
  }
}
