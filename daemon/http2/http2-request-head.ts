// Makes a request of the fields of one header block (RFC 9113 sections 8.1 to 8.3.1 and 8.5), held to everything that
// the HTTP/1 parser holds a head to: the message can be written as HTTP/1 and has one reading (SAFETY rules 6 and 7).
// Whether host and target are valid is for the request's own steps (http1/request-host.ts), as for any other request.
//
// Special case: a head that exceeds a limit. Its fields are still judged, because a malformed head must not get an
// answer; the message holds those that fit.

import { parseLength } from '../http1/framing.ts';
import type { HeadLimits } from '../http1/head-parser.ts';
import { type HttpMessage, nameBit } from '../http1/message.ts';
import type { FieldRule, HeadRuleName } from './head-rules.ts';
import {
  AUTHORITY,
  COOKIE,
  type HeaderField,
  HOST,
  isPseudo,
  LENGTH,
  METHOD,
  PATH,
  PLAIN,
  SCHEME,
} from './header-field.ts';

/** A broken rule (HEAD_RULES), and for the log the field that breaks it; '' when something is missing. */
export interface HeadFault {
  readonly rule: HeadRuleName;
  readonly place: string;
}

const PROTOCOL = 'HTTP/2.0';
/** Octets of HTTP/1's request line beside its parts, and of the blank line. */
const START_LINE_REST = 6;
const COOKIE_KEY = 'cookie';
const HOST_KEY = 'host';
const SCHEME_KEY = 'scheme';
const SCHEME_BIT = nameBit(SCHEME_KEY);
const HOST_BIT = nameBit(HOST_KEY);
/** Between crumbs (RFC 9113 section 8.2.3). */
const CRUMB_BREAK = '; ';
/** Characters of a field that the log quotes, as framing.ts does. */
const QUOTED = 60;

export class Http2RequestHead {
  /** Octets of the head as HTTP/1 would write it: request line, lines and blank line, also those beyond a limit. For
   * accounts. */
  bytes = 0;
  /** `http` or `https`; '' for CONNECT. */
  scheme = '';
  /** The one Content-Length, to be held against DATA, or -1. */
  contentLength = -1;

  private msg: HttpMessage | null = null;
  private limits: HeadLimits | null = null;
  private fault: HeadFault | null = null;
  /** A pseudo-header behind another field. */
  private late: HeadFault | null = null;
  private exceeded: HeadFault | null = null;
  /** 1 << role of each pseudo-header so far, and of PLAIN after the first other field. */
  private seen = 0;
  private n = 0;
  private names = 0;
  /** The field that names the host. */
  private host: HeaderField | null = null;
  /** Line of the first crumb, or -1 when it was beyond a limit. */
  private cookieAt = -1;
  private crumbs: HeaderField[] = [];
  /** Characters of the crumbs in one line. Entries of a table are named for a byte each: what they make together is known
   * before it is made. */
  private crumbed = 0;
  /** The crumbs that were joined last, and their line: requests of one client repeat them. */
  private joinedCrumbs: HeaderField[] = [];
  private joinedLine = '';

  /** @param msg an empty message, which has the request after end() */
  begin(msg: HttpMessage, limits: HeadLimits): void {
    this.msg = msg;
    this.limits = limits;
    this.bytes = 0;
    this.scheme = '';
    this.contentLength = -1;
    this.fault = null;
    this.late = null;
    this.exceeded = null;
    this.seen = 0;
    this.n = 0;
    this.names = 0;
    this.host = null;
    if (this.crumbs.length > 0) this.crumbs = [];
  }

  /** Takes the next field; bound, so that a decoder can call it. */
  readonly take = (field: HeaderField): void => {
    if (this.fault !== null) return;
    if (field.fault !== 0) {
      this.fail(field.fault, field);
      return;
    }
    const { role } = field;
    if (role === METHOD || role === SCHEME || role === AUTHORITY || role === PATH) {
      this.takePseudo(field);
      return;
    }
    this.seen |= 1 << PLAIN;
    if (role === PLAIN) this.store(field, field.name, field.bit);
    else if (role === COOKIE) this.takeCookie(field);
    else if (role === HOST) this.takeHost(field);
    else if (role === LENGTH) this.takeLength(field);
  };

  /** Completes the message; returns null, or the rule that was broken. */
  end(): HeadFault | null {
    const { msg } = this;
    if (msg === null) return null;
    msg.proto = PROTOCOL;
    const fault = this.fault ?? this.lateFault() ?? this.pseudoFault(msg);
    if (fault === null) this.joinCrumbs(msg);
    this.bytes += msg.method.length + msg.url.length + PROTOCOL.length + START_LINE_REST;
    msg.filled(this.n, this.names);
    this.msg = null;
    if (fault !== null || this.exceeded !== null) return fault ?? this.exceeded;
    const most = this.limits?.maxSize ?? 0;
    return this.bytes > most ? { rule: 'overflow', place: '' } : null;
  }

  private fail(rule: HeadRuleName, field: HeaderField): void {
    this.fault ??= { rule, place: quoteField(field) };
  }

  private exceed(rule: HeadRuleName, field: HeaderField): void {
    this.exceeded ??= { rule, place: quoteField(field) };
  }

  private takePseudo(field: HeaderField): void {
    const { msg } = this;
    if (msg === null) return;
    const { role, value } = field;
    if ((this.seen & (1 << PLAIN)) !== 0) this.late ??= { rule: 'pseudo_late', place: quoteField(field) };
    if ((this.seen & (1 << role)) !== 0) this.fail('pseudo_repeated', field);
    if (this.fault !== null) return;
    this.seen |= 1 << role;
    if (role === METHOD) msg.method = value;
    else if (role === PATH) msg.url = value;
    else if (role === SCHEME) {
      // Programs know it by this name, as in Varnish.
      this.scheme = value;
      this.store(field, SCHEME_KEY, SCHEME_BIT);
    } else {
      this.host = field;
      this.store(field, HOST_KEY, HOST_BIT);
    }
  }

  private store(field: HeaderField, key: string, bit: number): void {
    const { msg, limits, n } = this;
    if (msg === null || limits === null) return;
    const { line } = field;
    this.bytes += line.length + 2;
    if (n >= limits.maxFields) this.exceed('fields_many', field);
    else if (line.length > limits.maxLine) this.exceed('line_long', field);
    else {
      msg.keys[n] = key;
      msg.lines[n] = line;
      this.names |= bit;
      this.n = n + 1;
    }
  }

  /** A second host must be the first one, and is left out. */
  private takeHost(field: HeaderField): void {
    const { host } = this;
    if (host === null) {
      this.host = field;
      this.store(field, field.name, field.bit);
    } else if (host.value !== field.value && !isSameHost(host.value, field.value, this.scheme)) {
      this.fail('host_differs', field);
    }
  }

  private takeLength(field: HeaderField): void {
    const length = parseLength(field.value);
    if (length < 0) this.fail('length_invalid', field);
    else if (this.contentLength < 0) {
      this.contentLength = length;
      this.store(field, field.name, field.bit);
    } else if (length !== this.contentLength) this.fail('length_conflict', field);
  }

  private takeCookie(field: HeaderField): void {
    if (this.crumbs.length === 0) {
      const at = this.n;
      this.crumbed = field.line.length;
      this.store(field, field.name, field.bit);
      this.cookieAt = this.n > at ? at : -1;
    } else {
      const more = CRUMB_BREAK.length + field.value.length;
      this.bytes += more;
      this.crumbed += more;
      if (this.crumbed > (this.limits?.maxLine ?? 0)) {
        this.exceed('line_long', field);
        return;
      }
    }
    this.crumbs.push(field);
  }

  private joinCrumbs(msg: HttpMessage): void {
    const { crumbs, limits, cookieAt } = this;
    const first = crumbs[0];
    if (first === undefined || crumbs.length < 2 || cookieAt < 0 || limits === null) return;
    if (!isSameList(crumbs, this.joinedCrumbs)) {
      // Behind an empty last crumb the break would end the line with a space, which HTTP/1 drops.
      const line = `${COOKIE_KEY}: ${crumbs.map((crumb) => crumb.value).join(CRUMB_BREAK)}`;
      this.joinedLine = line.replace(/ $/, '');
      this.joinedCrumbs = crumbs;
    }
    msg.lines[cookieAt] = this.joinedLine;
  }

  /** Pseudo-headers come first (RFC 9113 section 8.3). A head without :authority may have them in any place: the clients of
   * vtc(7) write such, Varnish takes them, and nothing in them can be read in two ways. */
  private lateFault(): HeadFault | null {
    return (this.seen & (1 << AUTHORITY)) === 0 ? null : this.late;
  }

  private pseudoFault(msg: HttpMessage): HeadFault | null {
    const { seen } = this;
    if ((seen & (1 << METHOD)) === 0) return missing('method_missing');
    if (msg.method === 'CONNECT') {
      if ((seen & ((1 << SCHEME) | (1 << PATH))) !== 0 || (seen & (1 << AUTHORITY)) === 0)
        return missing('connect');
      // The authority form of HTTP/1.
      msg.url = this.host?.value ?? '';
      return null;
    }
    if ((seen & (1 << SCHEME)) === 0) return missing('scheme_missing');
    if ((seen & (1 << PATH)) === 0) return missing('path_missing');
    return msg.url === '*' && msg.method !== 'OPTIONS' ? missing('path_asterisk') : null;
  }
}

/** The rule that a field of a trailer block breaks, or null: trailers are judged and then dropped. */
export function trailerFault(field: HeaderField): FieldRule | 'pseudo_trailer' | null {
  if (isPseudo(field.name)) return 'pseudo_trailer';
  return field.fault === 0 ? null : field.fault;
}

function missing(rule: HeadRuleName): HeadFault {
  return { rule, place: '' };
}

function isSameList(a: readonly HeaderField[], b: readonly HeaderField[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Whether two hosts are one: case and the scheme's own port do not matter (RFC 3986 sections 6.2.2.1 and 6.2.3). */
function isSameHost(a: string, b: string, scheme: string): boolean {
  return comparable(a, scheme) === comparable(b, scheme);
}

function comparable(host: string, scheme: string): string {
  const port = scheme === 'https' ? ':443' : ':80';
  const lower = host.toLowerCase();
  if (lower.endsWith(port)) return lower.slice(0, -port.length);
  return lower.endsWith(':') ? lower.slice(0, -1) : lower;
}

/** The beginning of a field in quotes, control characters as \xNN. */
export function quoteField(field: HeaderField): string {
  const { name, value } = field;
  const text = `${name.slice(0, QUOTED)}: ${value.slice(0, QUOTED)}`.slice(0, QUOTED);
  const rest = name.length + 2 + value.length > text.length ? '...' : '';
  const shown = text.replaceAll(
    /[\x00-\x1f\x7f]/g,
    (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `"${shown}${rest}"`;
}
