// A client of RFC 8555: directory, nonces, account, orders, authorizations, certificates, and renewal information (RFC
// 9773). It keeps nonces and the directory in memory, and nothing else: what is to survive is its callers'.
//
// Rejects with an AcmeFailure for all that comes from the authority or the network.

import { AcmeFailure, failureOf, fields, text } from './acme-failure.ts';
import type { AcmeFetch, AcmeRequest, AcmeResponse } from './acme-fetch.ts';
import {
  type Authorization,
  type Directory,
  identifierOf,
  isUrl,
  linkTo,
  type Order,
  type RenewalWindow,
  readAuthorization,
  readDirectory,
  readJson,
  readOrder,
  readOrderList,
  readRenewalWindow,
  retryAfter,
} from './acme-messages.ts';
import type { AccountKey, ExternalAccount } from './jws.ts';

export interface AcmeClientParts {
  readonly fetch: AcmeFetch;
  readonly key: AccountKey;
  /** The directory's URL. */
  readonly directory: string;
  readonly userAgent: string;
  /** Epoch milliseconds. */
  now(): number;
}

/** A resource with the time before which the authority does not want it to be read again; null if it does not say. */
export interface Polled<T> {
  readonly value: T;
  readonly notBefore: number | null;
}

/** Attempts with a fresh nonce before the authority counts as unavailable (chosen). */
const MOST_NONCES = 5;
/** Unused nonces that are kept (chosen): as many requests may be under way at a time. */
const KEPT_NONCES = 8;
/** Milliseconds for which a directory is used (chosen). */
const DIRECTORY_LIFE = 3_600_000;
/** Pages of a list of orders, and orders, that are read (chosen). */
const MOST_PAGES = 5;
const MOST_ORDERS = 50;
const JSON_TYPE = 'application/json';

export class AcmeClient {
  private readonly parts: AcmeClientParts;
  private readonly nonces: string[] = [];
  private directory: Directory | null = null;
  private directoryAt = 0;
  /** The account's URL; null before it is known. */
  account: string | null = null;

  constructor(parts: AcmeClientParts) {
    this.parts = parts;
  }

  /** Finds the account of the key, or creates it. Resolves with its URL. Agrees to the terms of service.
   * @param contact a mail address; null for none */
  async register(contact: string | null, external: ExternalAccount | null): Promise<string> {
    const { newAccount } = await this.resources();
    const response = await this.post(newAccount, {
      termsOfServiceAgreed: true,
      ...(contact === null ? {} : { contact: [`mailto:${contact}`] }),
      ...(external === null ? {} : { externalAccountBinding: this.parts.key.binding(external, newAccount) }),
    });
    const { status } = fields(readJson(response.body, 'the account'));
    if (status !== undefined && status !== 'valid')
      throw new AcmeFailure('refused', `the account is ${text(status)}`);
    this.account = locationOf(response, 'the account');
    return this.account;
  }

  /** Orders a certificate; resolves with the order's URL.
   * @param replaces the id of the certificate that it replaces (RFC 9773 section 5); null for none */
  async newOrder(names: readonly string[], replaces: string | null): Promise<string> {
    const { newOrder, renewalInfo } = await this.resources();
    const order = { identifiers: names.map(identifierOf) };
    const whole = replaces === null || renewalInfo === null ? order : { ...order, replaces };
    return locationOf(await this.post(newOrder, whole), 'the order');
  }

  /** The URL of an order of these names that can still be carried out, from the account's list; null if there is none,
   * and where the authority keeps no such list. */
  async openOrder(names: readonly string[]): Promise<string | null> {
    const { account } = this;
    if (account === null) return null;
    const { value } = await this.read(account, 'the account', fields);
    const wanted = [...names].sort().join(' ');
    let seen = 0;
    let page: string | null = isUrl(value.orders) ? value.orders : null;
    for (let pages = 0; page !== null && pages < MOST_PAGES; pages++) {
      const response = await this.post(page, null);
      for (const url of readOrderList(readJson(response.body, 'the list of orders'))) {
        if (seen++ >= MOST_ORDERS) return null;
        const { value: order } = await this.order(url);
        const open = order.status !== 'invalid' && order.status !== 'valid';
        if (open && [...order.names].sort().join(' ') === wanted) return url;
      }
      const next = linkTo(response.headers.link, 'next');
      page = isUrl(next) ? next : null;
    }
    return null;
  }

  order(url: string): Promise<Polled<Order>> {
    return this.read(url, 'the order', readOrder);
  }

  authorization(url: string): Promise<Polled<Authorization>> {
    return this.read(url, 'an authorization', readAuthorization);
  }

  /** Asks the authority to validate. */
  async respond(challenge: string): Promise<void> {
    await this.post(challenge, {});
  }

  /** @param request DER */
  async finalize(url: string, request: Buffer): Promise<void> {
    await this.post(url, { csr: request.toString('base64url') });
  }

  /** A chain as PEM, as it came. */
  async certificate(url: string): Promise<string> {
    return (await this.post(url, null, 'application/pem-certificate-chain')).body;
  }

  /** Null where the authority has no renewal information, or none of this certificate.
   * @param id as in RFC 9773 section 4.1 */
  async renewal(id: string): Promise<Polled<RenewalWindow | null> | null> {
    const { renewalInfo } = await this.resources();
    if (renewalInfo === null) return null;
    const response = await this.request('GET', `${renewalInfo.replace(/\/$/, '')}/${id}`, null, JSON_TYPE);
    if (response.status === 404) return null;
    if (response.status !== 200) throw this.failure(response);
    return {
      value: readRenewalWindow(readJson(response.body, 'the renewal information')),
      notBefore: this.notBefore(response),
    };
  }

  private async resources(): Promise<Directory> {
    const { parts } = this;
    if (this.directory === null || parts.now() - this.directoryAt > DIRECTORY_LIFE) {
      const response = await this.request('GET', parts.directory, null, JSON_TYPE);
      if (response.status !== 200) throw this.failure(response);
      this.directory = readDirectory(readJson(response.body, 'the directory'));
      this.directoryAt = parts.now();
    }
    return this.directory;
  }

  private async read<T>(url: string, what: string, reader: (value: unknown) => T): Promise<Polled<T>> {
    const response = await this.post(url, null);
    return { value: reader(readJson(response.body, what)), notBefore: this.notBefore(response) };
  }

  /** A signed request; with a payload of null it reads a resource. */
  private async post(url: string, payload: unknown, accept = JSON_TYPE): Promise<AcmeResponse> {
    const { key } = this.parts;
    const directory = await this.resources();
    const kid = url === directory.newAccount ? null : this.account;
    for (let attempt = 1; ; attempt++) {
      const nonce = this.nonces.pop() ?? (await this.newNonce(directory));
      const response = await this.request('POST', url, key.signed(url, nonce, kid, payload), accept);
      if (response.status >= 200 && response.status < 300) return response;
      const failure = this.failure(response);
      // RFC 8555 section 6.5: with the nonce that came with the error.
      if (failure.type !== 'badNonce') throw failure;
      if (attempt === MOST_NONCES)
        throw new AcmeFailure(
          'unavailable',
          `${attempt} nonces were refused: ${failure.message}`,
          failure.type,
        );
    }
  }

  private async newNonce({ newNonce }: Directory): Promise<string> {
    const response = await this.exchange('HEAD', newNonce, null, '*/*');
    const nonce = nonceOf(response);
    if (nonce !== null) return nonce;
    throw response.status >= 400
      ? this.failure(response)
      : new AcmeFailure('unavailable', 'the authority gave no nonce');
  }

  /** An exchange whose nonce is kept for the next one. */
  private async request(
    method: AcmeRequest['method'],
    url: string,
    body: string | null,
    accept: string,
  ): Promise<AcmeResponse> {
    const response = await this.exchange(method, url, body, accept);
    const nonce = nonceOf(response);
    if (nonce !== null) this.nonces.push(nonce);
    // The oldest are the first to be refused.
    if (this.nonces.length > KEPT_NONCES) this.nonces.shift();
    return response;
  }

  private exchange(
    method: AcmeRequest['method'],
    url: string,
    body: string | null,
    accept: string,
  ): Promise<AcmeResponse> {
    const { fetch, userAgent } = this.parts;
    const type = body === null ? {} : { 'Content-Type': 'application/jose+json' };
    return fetch({ method, url, headers: { 'User-Agent': userAgent, Accept: accept, ...type }, body });
  }

  private notBefore({ headers }: AcmeResponse): number | null {
    return retryAfter(headers['retry-after'], this.parts.now());
  }

  private failure(response: AcmeResponse): AcmeFailure {
    let document: unknown = null;
    try {
      document = JSON.parse(response.body);
    } catch {
      // The status is sufficient.
    }
    if (response.status >= 300 && response.status < 400)
      return new AcmeFailure('unavailable', `HTTP status ${response.status}: redirections are not followed`);
    return failureOf(document, response.status, this.notBefore(response));
  }
}

function locationOf({ headers }: AcmeResponse, what: string): string {
  if (isUrl(headers.location)) return headers.location;
  throw new AcmeFailure('unavailable', `${what} came without a valid Location`);
}

/** RFC 8555 section 6.5.1: the base64url alphabet. */
function nonceOf({ headers }: AcmeResponse): string | null {
  const nonce = headers['replay-nonce'] ?? '';
  return /^[A-Za-z0-9_-]{1,512}$/.test(nonce) ? nonce : null;
}
