// The content of a reader's cookie: spent views and their period, and the reader's entitlements with their expiry.
// The text is VERSION.CONTENT.SIGNATURE, signed with HMAC-SHA256 together with the cookie's name, so that a gate does
// not accept the cookie of another. The reader can read it, but not change it.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { ExtensionError } from '../../contract/failure.ts';

interface Entitlement {
  /** The user according to the service; '' if unknown. */
  user: string;
  /** The mark that the service was asked about. */
  protection: string;
  /** Epoch seconds. */
  until: number;
  /** Digest of the session that the service was asked about: another session is another reader. */
  session: string;
}

export interface ReaderToken {
  /** Random id, by which spent views are stored. */
  id: string;
  /** Time of the first spent view, in epoch seconds; 0 if there is none. */
  start: number;
  count: number;
  entitlement: Entitlement | null;
  /** Expiry of the cookie, in epoch seconds. */
  expires: number;
}

const VERSION = '1';
/** Longest cookie that is parsed, in characters (chosen; a token has some 300). */
const LONGEST = 2048;
/** Cookies of the same name that are checked; those of other paths and domains are sent, too. */
const MOST_COOKIES = 4;

/** Encodes and signs a token. */
export function sealToken(token: ReaderToken, name: string, key: Uint8Array): string {
  const { id, start, count, expires, entitlement: e } = token;
  const rows = [id, start, count, expires, ...(e === null ? [] : [e.user, e.protection, e.until, e.session])];
  const signed = `${VERSION}.${Buffer.from(JSON.stringify(rows)).toString('base64url')}`;
  return `${signed}.${signatureOf(signed, name, key).toString('base64url')}`;
}

/**
 * The first valid, unexpired token in a Cookie header with our signature; null if there is none.
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

/** A valid signature may come from another release. */
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

// The key that signs readers' cookies. Its file must be accessible to its owner only, since the key allows anyone to
// forge cookies; it is read once, when the program is loaded, and no message reveals it.

/** Size limits in bytes: at least the output of the hash; the maximum is chosen. */
const SHORTEST = 32;
const LARGEST_KEY = 4096;

/**
 * The bytes of a key file, without a trailing line end.
 * @throws ExtensionError if it cannot be read, is accessible to others, or is too short
 */
export function readSigningKey(path: string): Buffer {
  const refuse = (why: string): never => {
    throw new ExtensionError(`the key file "${path}" ${why}`);
  };
  let bytes: Buffer;
  try {
    const fd = openSync(path, 'r');
    try {
      // Checked on the open descriptor: the name may refer to another file by now.
      const stat = fstatSync(fd);
      if (!stat.isFile()) refuse('is not a regular file');
      if ((stat.mode & 0o077) !== 0) refuse('must be accessible to its owner only: chmod 600');
      if (stat.size > LARGEST_KEY) refuse(`has more than ${LARGEST_KEY} bytes`);
      bytes = Buffer.alloc(LARGEST_KEY);
      bytes = bytes.subarray(0, readSync(fd, bytes, 0, LARGEST_KEY, 0));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (error instanceof ExtensionError) throw error;
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end--;
  if (bytes[end - 1] === 0x0d) end--;
  if (end < SHORTEST) refuse(`must have at least ${SHORTEST} bytes`);
  return bytes.subarray(0, end);
}
