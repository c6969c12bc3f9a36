// All that outlives a process about the certificate of one set of names: the certificate in force, the order under way, and
// when to try again. It is one JSON value, so that each step from one state to the next is one write.

import { type FailureKind, fields, text } from './acme-failure.ts';

export interface StoredCertificate {
  /** PEM, as the authority gave it. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** For renewal information and for the order that replaces it; null for none. */
  readonly renewalId: string | null;
}

export interface OpenOrder {
  /** PEM: the key that the certificate will have. */
  readonly key: string;
  /** Null: the order was asked for, and its URL has not been stored; the authority may have it or not. */
  readonly url: string | null;
}

/** A choice within the authority's window. */
export interface RenewalChoice {
  /** Epoch milliseconds of the window. */
  readonly start: number;
  readonly end: number;
  /** Chosen at random within it. */
  readonly at: number;
}

/** Of the last attempt that failed. */
export interface LastError {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: FailureKind;
  readonly text: string;
}

export interface EntryState {
  readonly directory: string;
  readonly names: readonly string[];
  readonly certificate: StoredCertificate | null;
  readonly order: OpenOrder | null;
  /** Epoch milliseconds at which orders were asked for, within the last day. */
  readonly orders: readonly number[];
  /** Attempts that failed since the last success. */
  readonly failures: number;
  /** Those of them in which a name could not be validated: each takes the next kind of challenge. */
  readonly refusals: number;
  /** Epoch milliseconds before which nothing is asked of the authority for these names. */
  readonly notBefore: number;
  readonly lastError: LastError | null;
  readonly renewal: RenewalChoice | null;
  /** Epoch milliseconds at which the renewal information is to be read again. */
  readonly renewalCheckAt: number;
}

const FORMAT = 1;
/** Times of orders that are read (chosen): schedule.ts allows far fewer a day unless certificates live for minutes. */
const MOST_ORDERS = 1000;

export function newEntryState(directory: string, names: readonly string[]): EntryState {
  return {
    directory,
    names,
    certificate: null,
    order: null,
    orders: [],
    failures: 0,
    refusals: 0,
    notBefore: 0,
    lastError: null,
    renewal: null,
    renewalCheckAt: 0,
  };
}

export function writeEntryState(state: EntryState): string {
  return `${JSON.stringify({ v: FORMAT, ...state })}\n`;
}

/** Null if the text is not a state that this version understands. */
export function readEntryState(json: string): EntryState | null {
  let value: Readonly<Record<string, unknown>>;
  try {
    value = fields(JSON.parse(json));
  } catch {
    return null;
  }
  const { v, directory, names, certificate, order, lastError, renewal } = value;
  if (v !== FORMAT || typeof directory !== 'string' || !Array.isArray(names)) return null;
  if (!names.every((name) => typeof name === 'string')) return null;
  return {
    directory,
    names,
    certificate: readCertificate(certificate),
    order: readOpenOrder(order),
    orders: Array.isArray(value.orders) ? value.orders.map(count).slice(-MOST_ORDERS) : [],
    failures: count(value.failures),
    refusals: count(value.refusals),
    notBefore: count(value.notBefore),
    lastError: readLastError(lastError),
    renewal: readRenewal(renewal),
    renewalCheckAt: count(value.renewalCheckAt),
  };
}

function readCertificate(value: unknown): StoredCertificate | null {
  const { chain, key, notBefore, notAfter, renewalId } = fields(value);
  if (text(chain) === '' || text(key) === '') return null;
  return {
    chain: text(chain),
    key: text(key),
    notBefore: count(notBefore),
    notAfter: count(notAfter),
    renewalId: text(renewalId) || null,
  };
}

function readOpenOrder(value: unknown): OpenOrder | null {
  const { key, url } = fields(value);
  return text(key) === '' ? null : { key: text(key), url: text(url) || null };
}

function readLastError(value: unknown): LastError | null {
  const { at, kind, text: words } = fields(value);
  if (kind !== 'refused' && kind !== 'limited' && kind !== 'unavailable') return null;
  return { at: count(at), kind, text: text(words) };
}

function readRenewal(value: unknown): RenewalChoice | null {
  const { start, end, at } = fields(value);
  return typeof at === 'number' ? { start: count(start), end: count(end), at: count(at) } : null;
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}
