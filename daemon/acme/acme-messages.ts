// The resources of an authority as this side reads them (RFC 8555 section 7.1, RFC 9773 section 4): JSON from outside,
// checked once, and reduced to the members that are used. A member that is missing or of another type is a failure of kind
// `unavailable`, which names it.

import { isIP } from 'node:net';
import { AcmeFailure, fields, text } from './acme-failure.ts';

export interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  /** Null: the authority has no renewal information. */
  readonly renewalInfo: string | null;
}

export type OrderStatus = 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';

export interface Order {
  readonly status: OrderStatus;
  readonly names: readonly string[];
  readonly authorizations: readonly string[];
  readonly finalize: string;
  /** Of a valid order. */
  readonly certificate: string | null;
  /** A problem document of an invalid order; else undefined. */
  readonly error: unknown;
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error: unknown;
}

export interface Authorization {
  readonly name: string;
  readonly status: string;
  readonly challenges: readonly Challenge[];
}

/** When the authority wants a certificate to be renewed. */
export interface RenewalWindow {
  /** Epoch milliseconds. */
  readonly start: number;
  readonly end: number;
  /** A page for operators; '' for none. */
  readonly explanation: string;
}

/** Names of one order, and challenges of one authorization, that are read (chosen). */
const MOST = 100;
const ORDER_STATUS: readonly string[] = ['pending', 'ready', 'processing', 'valid', 'invalid'];
/** RFC 8555 section 8.1: the base64url alphabet. */
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

export function readJson(body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new AcmeFailure('unavailable', `${what} is not JSON`);
  }
}

export function readDirectory(value: unknown): Directory {
  const { newNonce, newAccount, newOrder, renewalInfo } = fields(value);
  const what = 'the directory';
  return {
    newNonce: url(newNonce, what, 'newNonce'),
    newAccount: url(newAccount, what, 'newAccount'),
    newOrder: url(newOrder, what, 'newOrder'),
    renewalInfo: renewalInfo === undefined ? null : url(renewalInfo, what, 'renewalInfo'),
  };
}

export function readOrder(value: unknown): Order {
  const { status, identifiers, authorizations, finalize, certificate, error } = fields(value);
  const what = 'the order';
  if (!ORDER_STATUS.includes(text(status))) throw lacking(what, 'status');
  return {
    status: status as OrderStatus,
    names: list(identifiers, what, 'identifiers').map((each) => text(fields(each).value).toLowerCase()),
    authorizations: list(authorizations, what, 'authorizations').map((each) =>
      url(each, what, 'authorizations'),
    ),
    finalize: url(finalize, what, 'finalize'),
    certificate: certificate === undefined ? null : url(certificate, what, 'certificate'),
    error,
  };
}

export function readAuthorization(value: unknown): Authorization {
  const { identifier, status, challenges } = fields(value);
  const what = 'an authorization';
  const name = text(fields(identifier).value).toLowerCase();
  if (name === '') throw lacking(what, 'identifier');
  if (text(status) === '') throw lacking(what, 'status');
  return {
    name,
    status: text(status),
    challenges: list(challenges, what, 'challenges').flatMap((each) => {
      const challenge = fields(each);
      const token = text(challenge.token);
      // Other kinds of challenges need not have a token, nor an URL that is one.
      if (!TOKEN.test(token) || !isUrl(challenge.url)) return [];
      const { type, url, status, error } = challenge;
      return [{ type: text(type), url: text(url), token, status: text(status), error }];
    }),
  };
}

/** Null for a window that ends before it starts, which RFC 9773 section 4.2 makes the client ignore. */
export function readRenewalWindow(value: unknown): RenewalWindow | null {
  const { suggestedWindow, explanationURL } = fields(value);
  const start = Date.parse(text(fields(suggestedWindow).start));
  const end = Date.parse(text(fields(suggestedWindow).end));
  if (!(end > start)) return null;
  return { start, end, explanation: isUrl(explanationURL) ? text(explanationURL) : '' };
}

/** The URLs of a list of orders. */
export function readOrderList(value: unknown): string[] {
  return list(fields(value).orders, 'the list of orders', 'orders').filter(isUrl);
}

/** An identifier of RFC 8555 section 7.1.4 or RFC 8738. */
export function identifierOf(name: string): { type: 'dns' | 'ip'; value: string } {
  return { type: isIP(name) === 0 ? 'dns' : 'ip', value: name };
}

/** Epoch milliseconds of a Retry-After header; null if it has none that is valid. */
export function retryAfter(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return now + Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : at;
}

/** The target of a link of some relation (RFC 8288); null if there is none. */
export function linkTo(header: string | undefined, relation: string): string | null {
  for (const link of (header ?? '').split(/,(?=\s*<)/)) {
    const m = /^\s*<([^<>]*)>\s*;(.*)$/s.exec(link);
    if (m !== null && new RegExp(`\\brel="?${relation}"?(?:[;\\s]|$)`).test(m[2] ?? '')) return m[1] ?? null;
  }
  return null;
}

/** Over HTTPS, as RFC 8555 section 6.1 demands; in clear within one machine. */
export function isUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return (
    protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
  );
}

function url(value: unknown, what: string, member: string): string {
  if (isUrl(value)) return value;
  throw lacking(what, `URL as ${member}`);
}

function list(value: unknown, what: string, member: string): unknown[] {
  if (!Array.isArray(value)) throw lacking(what, member);
  if (value.length > MOST) throw new AcmeFailure('unavailable', `${what} has more than ${MOST} ${member}`);
  return value;
}

function lacking(what: string, member: string): AcmeFailure {
  return new AcmeFailure('unavailable', `${what} has no valid ${member}`);
}
