// The manager of certificates as its host sees it: what it is asked for, what it needs, and what it reports.

/** The kinds of challenges that can be answered (RFC 8555 section 8.3, RFC 8737). */
export type ChallengeType = 'http-01' | 'tls-alpn-01';

/** A certificate that is wanted. */
export interface AcmeEntry {
  /** As in tls.cert.list; null: made of the names. */
  readonly id: string | null;
  /** The listener that alone presents it; null for all. */
  readonly frontend: string | null;
  /** As acmeNames() returns them. */
  readonly names: readonly string[];
}

export interface AcmeCertificate {
  readonly entry: AcmeEntry;
  /** As in tls.cert.list. */
  readonly id: string;
  /** PEM, the leaf first. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

export interface AcmeHost {
  /** Resolves when workers present the certificate, in place of the one of its id. */
  install(certificate: AcmeCertificate): Promise<void>;
  /** The kinds of challenges that can be answered, those that are likely to be reached first. */
  challengeTypes(): readonly ChallengeType[];
  /** Whether a worker runs that can answer challenges. */
  isServing(): boolean;
  /** Reports an event. @param problem something that operators should see */
  happened(text: string, problem: boolean): void;
}

export interface AcmeTime {
  /** Epoch milliseconds. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Calls back once; returns a function that prevents it. */
  after(milliseconds: number, run: () => void): () => void;
}

/** A line of tls.acme.list. */
export interface AcmeStatus {
  readonly id: string;
  readonly frontend: string | null;
  readonly names: readonly string[];
  /** `valid`: workers present a certificate; `ordering`: an order is under way; `waiting`: until the next attempt; `refused`: the
   * authority refused the last one. */
  readonly state: 'valid' | 'ordering' | 'waiting' | 'refused';
  /** Epoch seconds; null without a certificate. */
  readonly notAfter: number | null;
  /** Epoch seconds of the next attempt, or of the renewal; now while one is under way. */
  readonly next: number;
  /** The reason of the last failure since the last success; null for none. */
  readonly problem: string | null;
}
