// Settings of the worker's TLS listeners: plain data that the manager makes of files and commands, and
// sends to the worker, whole and already checked. Keys are in it: it is never logged, and no file has it.

export type TlsProtocol = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

/** How handshakes are made. Lists are OpenSSL's texts; null leaves the choice to the runtime. */
export interface TlsPolicy {
  readonly protocols: readonly TlsProtocol[];
  /** For TLS up to 1.2. */
  readonly ciphers: string | null;
  /** For TLS 1.3. */
  readonly ciphersuites: string | null;
  readonly preferServerCiphers: boolean;
  readonly ecdhCurve: string | null;
  /** PEM. */
  readonly dhparam: string | null;
}

export interface TlsCertificate {
  /** As in tls.cert.list; unique among the active ones. */
  readonly id: string;
  /** The listener that alone presents it; null for every listener that takes global certificates. */
  readonly frontend: string | null;
  /** PEM, the leaf first. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
  /** DNS names in lower case, also with `*.` in front, and IP addresses. */
  readonly names: readonly string[];
  /** Presented where no name matches; without any such one the first of the list is. */
  readonly isDefault: boolean;
  /** A DER response in base64, to be stapled. */
  readonly ocsp: string | null;
  readonly subject: string;
  /** Epoch seconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** SHA-256 of the leaf in hexadecimal. */
  readonly fingerprint: string;
  /** In the place of the listener's. */
  readonly policy: Partial<TlsPolicy>;
}

export type ClientVerify = 'none' | 'optional' | 'required';

/** A TLS listener. */
export interface TlsFrontend {
  /** The listener's name. */
  readonly name: string;
  readonly policy: TlsPolicy;
  /** Refuses names that no certificate of the listener has. */
  readonly sniNomatchAbort: boolean;
  /** Whether certificates without a frontend are presented here, too. */
  readonly matchGlobalCerts: boolean;
  readonly clientVerify: ClientVerify;
  /** PEM of the authorities that client certificates are to be from. */
  readonly clientCa: string | null;
}

export interface TlsSettings {
  readonly frontends: readonly TlsFrontend[];
  /** In the order in which they were loaded. */
  readonly certificates: readonly TlsCertificate[];
}

/** A key for session tickets; base64 of 16, 16 and 32 bytes. */
export interface TicketKey {
  readonly name: string;
  readonly aes: string;
  readonly hmac: string;
}

/** Challenges by which an authority validates names (RFC 8555 section 8). */
export interface AcmeChallenges {
  /** For http-01: what is answered below /.well-known/acme-challenge/, by token. */
  readonly http: Readonly<Record<string, string>>;
  /** For tls-alpn-01: the certificates to present to ALPN `acme-tls/1`, by name. */
  readonly alpn: Readonly<Record<string, { readonly chain: string; readonly key: string }>>;
}

export interface TlsState {
  readonly settings: TlsSettings;
  /** The newest first: it makes tickets, all of them are accepted. */
  readonly tickets: readonly TicketKey[];
  readonly challenges: AcmeChallenges;
}

export const NO_TLS: TlsState = {
  settings: { frontends: [], certificates: [] },
  tickets: [],
  challenges: { http: {}, alpn: {} },
};

/** Certificates that have fewer days left are reported (events, counter, dashboard). */
export const DAYS_BEFORE_EXPIRY = 14;
