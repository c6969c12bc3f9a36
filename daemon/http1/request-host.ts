// The host of a request, and its normalised target: exactly one valid Host in HTTP/1.1, an absolute-form authority that
// replaces it, the asterisk and authority forms (RFC 9112 sections 3.2 and 3.3, RFC 3986 section 3.2). Runs once per
// request, after framing. It does not lower-case the host: the VCL program does.

import type { Refusal } from '../../protocol/tables/refusals.ts';
import type { HttpMessage } from './message.ts';

export type HostError = Extract<Refusal, 'host_missing' | 'host_many' | 'host_invalid' | 'target_invalid'>;

/** Text of the BogoHeader record for each error; '' where Varnish logs none. */
export const HOST_ERROR_TEXT: { readonly [error in HostError]: string } = {
  host_missing: '',
  host_many: 'Multiple Host: headers',
  host_invalid: 'Invalid Host: header',
  target_invalid: 'Invalid request target',
};

/** 1 for reg-name and IPv4 characters (RFC 3986 unreserved, sub-delims; '%' is checked separately). */
const REG_NAME = new Uint8Array(128);
for (const c of "-._~!$&'()*+,;=0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") {
  REG_NAME[c.charCodeAt(0)] = 1;
}

function isHex(c: number): boolean {
  return (c >= 48 && c <= 57) || ((c | 32) >= 97 && (c | 32) <= 102);
}

/** Whether text[start, end) is host[:port]: no user information, a port of digits up to 65535 or empty. */
export function validAuthority(text: string, start = 0, end = text.length): boolean {
  let p = start;
  if (p < end && text.charCodeAt(p) === 91) {
    // An IP literal: "[" hex digits, ":" and "." "]".
    const close = text.indexOf(']', p);
    if (close < 0 || close >= end || close - p < 3) return false;
    let colons = 0;
    for (let i = p + 1; i < close; i++) {
      const c = text.charCodeAt(i);
      if (c === 58) colons++;
      else if (!isHex(c) && c !== 46) return false;
    }
    if (colons < 2) return false;
    p = close + 1;
  } else {
    for (; p < end; p++) {
      const c = text.charCodeAt(p);
      if (c === 58) break;
      if (c === 37) {
        if (p + 2 >= end || !isHex(text.charCodeAt(p + 1)) || !isHex(text.charCodeAt(p + 2))) return false;
        p += 2;
      } else if (c > 127 || REG_NAME[c] !== 1) {
        return false;
      }
    }
    if (p === start) return false;
  }
  if (p === end) return true;
  if (text.charCodeAt(p) !== 58 || end - p > 6) return false;
  let port = 0;
  for (p++; p < end; p++) {
    const d = text.charCodeAt(p) - 48;
    if (d < 0 || d > 9) return false;
    port = port * 10 + d;
  }
  return port <= 65535;
}

/** Offset past "http://" or "https://" in any case, or 0. */
function schemeEnd(url: string): number {
  const colon = url.indexOf('://');
  if (colon !== 4 && colon !== 5) return 0;
  const scheme = url.slice(0, colon).toLowerCase();
  return scheme === 'http' || scheme === 'https' ? colon + 3 : 0;
}

/**
 * Checks and normalises target and Host of a parsed request, in place and without log records: it runs before the
 * request is logged. An absolute target becomes its path and query ("/" when empty), its authority the only Host.
 * @returns the error, or null
 */
export function normaliseTarget(msg: HttpMessage): HostError | null {
  let at = -1;
  for (let i = 0; i < msg.n; i++) {
    if (msg.keys[i] !== 'host') continue;
    if (at >= 0) return 'host_many';
    at = i;
  }
  if (at >= 0) {
    const host = msg.valueAt(at);
    if (!validAuthority(host)) return 'host_invalid';
  } else if (msg.proto !== 'HTTP/1.0' && msg.method !== 'PRI') {
    return 'host_missing';
  }
  const url = msg.url;
  if (url.charCodeAt(0) === 47) return null;
  // CONNECT and the asterisk have no path; a tunnel is refused later, by method.
  if (msg.method === 'CONNECT') return validAuthority(url) ? null : 'target_invalid';
  if (url === '*') return msg.method === 'OPTIONS' || msg.method === 'PRI' ? null : 'target_invalid';
  const authority = schemeEnd(url);
  if (authority === 0) return 'target_invalid';
  return settleAbsolute(msg, url, authority, at);
}

function settleAbsolute(msg: HttpMessage, url: string, authority: number, at: number): HostError | null {
  let end = authority;
  while (end < url.length) {
    const c = url.charCodeAt(end);
    if (c === 47 || c === 63 || c === 35) break;
    end++;
  }
  if (!validAuthority(url, authority, end)) return 'target_invalid';
  const line = `Host: ${url.slice(authority, end)}`;
  if (at >= 0) msg.lines[at] = line;
  else msg.push('host', line);
  const path = url.slice(end);
  // OPTIONS without a path is about the server itself (RFC 9112 section 3.2.4).
  if (path === '' && msg.method === 'OPTIONS') msg.url = '*';
  else msg.url = path.charCodeAt(0) === 47 ? path : `/${path}`;
  return null;
}
