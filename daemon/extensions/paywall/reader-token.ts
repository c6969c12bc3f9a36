// What a reader's cookie carries: views that were spent, since when, and until when the reader is entitled to what.
// The text is VERSION.CONTENT.SIGNATURE, all of it signed with HMAC-SHA256 together with the cookie's name, so that
// the cookies of two gates are no good for each other. It can be read by the reader, and not be changed.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface Entitlement {
  /** Who the service says it is; '' when it does not. */
  user: string;
  /** The protection that the service was asked about. */
  protection: string;
  /** Epoch seconds. */
  until: number;
  /** Digest of the session that the service was asked about: another session is another reader. */
  session: string;
}

export interface ReaderToken {
  /** Chosen at random when the reader had none: by it spent views are remembered. */
  id: string;
  /** When the first of the spent views was, in epoch seconds; 0 while there is none. */
  start: number;
  count: number;
  entitlement: Entitlement | null;
  /** When the cookie is void, in epoch seconds. */
  expires: number;
}

const VERSION = '1';
/** Characters: more is not looked at (chosen; a token has some 300). */
const LONGEST = 2048;
/** Cookies of the same name that are looked at; those of other paths and domains come too. */
const MOST_COOKIES = 4;

/** The text of a token. */
export function sealToken(token: ReaderToken, name: string, key: Uint8Array): string {
  const { id, start, count, expires, entitlement: e } = token;
  const rows = [id, start, count, expires, ...(e === null ? [] : [e.user, e.protection, e.until, e.session])];
  const signed = `${VERSION}.${Buffer.from(JSON.stringify(rows)).toString('base64url')}`;
  return `${signed}.${signatureOf(signed, name, key).toString('base64url')}`;
}

/**
 * The first token of a Cookie header that is whole, ours and not expired; null when there is none.
 * @param now epoch seconds
 */
export function readToken(header: string, name: string, key: Uint8Array, now: number): ReaderToken | null {
  let looked = 0;
  for (const part of header.split(';')) {
    const cookie = part.trim();
    if (!cookie.startsWith(`${name}=`)) continue;
    if (++looked > MOST_COOKIES) break;
    const token = openToken(cookie.slice(name.length + 1), name, key);
    if (token !== null && token.expires > now) return token;
  }
  return null;
}

function openToken(text: string, name: string, key: Uint8Array): ReaderToken | null {
  if (text.length > LONGEST) return null;
  const [version, content, signature, more] = text.split('.');
  if (version !== VERSION || content === undefined || signature === undefined || more !== undefined)
    return null;
  const given = Buffer.from(signature, 'base64url');
  const wanted = signatureOf(`${version}.${content}`, name, key);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
  return tokenOf(Buffer.from(content, 'base64url').toString());
}

/** What was signed here once may still be of another release. */
function tokenOf(json: string): ReaderToken | null {
  let rows: unknown;
  try {
    rows = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Array.isArray(rows)) return null;
  const [id, start, count, expires, user, protection, until, session] = rows;
  if (typeof id !== 'string' || ![start, count, expires].every(Number.isFinite)) return null;
  if (rows.length === 4) return { id, start, count, expires, entitlement: null };
  if (![user, protection, session].every((s) => typeof s === 'string') || !Number.isFinite(until))
    return null;
  return { id, start, count, expires, entitlement: { user, protection, until, session } };
}

function signatureOf(text: string, name: string, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(`paywall ${name}\n${text}`).digest();
}
