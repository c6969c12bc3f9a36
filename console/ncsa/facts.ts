// Facts about one transaction for an access log line, collected in one pass over its records. Malformed records leave
// their fact unset. Of some records the first counts, of others the last; a restarted request has no line of its own,
// only its last round does.

import { payloadLength, RECORD_HEAD, RecordCursor, recordText } from '../../protocol/log-record.ts';
import type { LogTransaction } from '../../protocol/messages.ts';
import { TAGS, Tag } from '../../protocol/tables/tags.ts';
import type { FactName } from './specifiers.ts';
import type { HeaderWatch, Template } from './template.ts';

export interface Facts {
  side: 'c' | 'b';
  vxid: number;
  values: Partial<Record<FactName, string | undefined>>;
  host: string | undefined;
  /** The text after `Basic` in Authorization. */
  authorization: string | undefined;
  /** Epoch seconds as text. */
  start: string | undefined;
  end: string | undefined;
  hitmiss: string;
  handling: string;
  /** In the order of the template's watches. */
  requestHeaders: (string | undefined)[];
  responseHeaders: (string | undefined)[];
  logKeys: (string | undefined)[];
  records: (string | undefined)[];
  /** The kind of marker that a lookup found, for the handling. */
  marker: 'hitmiss' | 'hitpass' | null;
  /** The program may change a request from now on; a response of a backend. */
  requestSeen: boolean;
  responseSeen: boolean;
}

/** Tags whose payload is not text. */
const SKIPPED: ReadonlySet<number> = new Set(
  TAGS.flatMap((row, i) => ((row.flags as readonly string[]).includes('binary') ? [i + 1] : [])),
);

/**
 * The facts of a request or fetch, null if it has no line.
 * @param json includes binary payloads
 * @param newer headers and handling as since Varnish 7.7
 */
export function gatherFacts(
  tx: LogTransaction,
  template: Template,
  json: boolean,
  newer: boolean,
): Facts | null {
  const facts: Facts = {
    side: tx.type === 'bereq' ? 'b' : 'c',
    vxid: tx.vxid,
    values: {},
    host: undefined,
    authorization: undefined,
    start: undefined,
    end: undefined,
    hitmiss: '-',
    handling: '-',
    requestHeaders: template.requestHeaders.map(() => undefined),
    responseHeaders: template.responseHeaders.map(() => undefined),
    logKeys: template.logKeys.map(() => undefined),
    records: template.records.map(() => undefined),
    marker: null,
    requestSeen: false,
    responseSeen: false,
  };
  const b = tx.records;
  const cursor = new RecordCursor(b);
  while (cursor.next()) {
    const { at, tag } = cursor;
    if (!json && SKIPPED.has(tag)) continue;
    if (!take(facts, template, tag, b, at, newer)) return null;
    for (const [i, w] of template.records.entries()) {
      if (w.tag !== tag || facts.records[i] !== undefined) continue;
      const text = payloadText(tag, b, at);
      const rest = w.prefix === '' ? text : afterPrefix(text, w.prefix);
      if (rest === undefined) continue;
      facts.records[i] = w.field === 0 ? rest : fieldOf(rest, w.field);
    }
  }
  return facts;
}

/** False if the transaction has no line. */
function take(
  facts: Facts,
  template: Template,
  tag: number,
  b: Uint8Array,
  at: number,
  newer: boolean,
): boolean {
  const { values } = facts;
  switch (tag) {
    case Tag.ReqStart:
      values.h ??= fieldOf(recordText(b, at), 1);
      break;
    case Tag.BackendOpen:
      values.h = fieldOf(recordText(b, at), 3) ?? values.h;
      break;
    case Tag.ReqMethod:
    case Tag.BereqMethod:
      values.m ??= recordText(b, at);
      break;
    case Tag.ReqURL:
    case Tag.BereqURL: {
      const url = recordText(b, at);
      const mark = url.indexOf('?');
      values.U ??= mark < 0 ? url : url.slice(0, mark);
      values.q ??= mark < 0 ? '' : url.slice(mark);
      break;
    }
    case Tag.ReqProtocol:
    case Tag.BereqProtocol:
      values.H ??= recordText(b, at);
      break;
    case Tag.RespStatus:
    case Tag.BerespStatus:
      values.s = recordText(b, at);
      break;
    case Tag.ReqAcct:
    case Tag.BereqAcct:
    case Tag.PipeAcct:
      account(facts, tag, recordText(b, at));
      break;
    case Tag.Timestamp:
      timestamp(facts, recordText(b, at));
      break;
    case Tag.ReqHeader:
    case Tag.BereqHeader: {
      const text = recordText(b, at);
      const order = !newer ? 'last' : facts.requestSeen ? 'none' : facts.side === 'c' ? 'first' : 'last';
      header(facts.requestHeaders, template.requestHeaders, text, order);
      const authorization = afterPrefix(text, 'authorization');
      if (authorization !== undefined && /^basic /i.test(authorization)) {
        facts.authorization ??= authorization.slice(6).trimStart();
      }
      facts.host ??= afterPrefix(text, 'host');
      break;
    }
    case Tag.RespHeader:
    case Tag.BerespHeader:
      header(facts.responseHeaders, template.responseHeaders, recordText(b, at), responseOrder(facts, newer));
      break;
    case Tag.ReqUnset:
    case Tag.BereqUnset:
      if (newer && !facts.requestSeen)
        removed(facts.requestHeaders, template.requestHeaders, recordText(b, at));
      break;
    case Tag.RespUnset:
    case Tag.BerespUnset:
      if (newer && !facts.responseSeen)
        removed(facts.responseHeaders, template.responseHeaders, recordText(b, at));
      break;
    case Tag.HitMiss:
      facts.marker = 'hitmiss';
      break;
    case Tag.HitPass:
      facts.marker = 'hitpass';
      break;
    case Tag.VCL_call:
      called(facts, recordText(b, at), newer);
      break;
    case Tag.VCL_return: {
      const action = recordText(b, at).toLowerCase();
      if (action === 'restart') return false;
      if (action === 'pipe') {
        facts.hitmiss = 'miss';
        facts.handling = action;
      }
      break;
    }
    case Tag.HttpGarbage:
      // Only with JSON: varnishncsa prints no line here; text formats print one without a request.
      return false;
    case Tag.VCL_Log:
      logKey(facts.logKeys, template.logKeys, recordText(b, at));
      break;
    default:
      break;
  }
  return true;
}

function account(facts: Facts, tag: number, text: string): void {
  const { values } = facts;
  if (tag === Tag.PipeAcct) {
    values.I ??= fieldOf(text, 3);
    values.O ??= fieldOf(text, 4);
    return;
  }
  values.I ??= fieldOf(text, 3);
  values.b ??= fieldOf(text, 5);
  values.O ??= fieldOf(text, 6);
}

function timestamp(facts: Facts, text: string): void {
  const colon = text.indexOf(':');
  const rest = text.slice(colon + 1);
  switch (text.slice(0, Math.max(colon, 0)).toLowerCase()) {
    case 'start':
      facts.start ??= fieldOf(rest, 1);
      break;
    case 'resp':
    case 'pipesess':
    case 'berespbody':
      facts.end ??= fieldOf(rest, 1);
      break;
    case 'process':
    case 'pipe':
    case 'beresp':
      facts.values.firstByte ??= fieldOf(rest, 2);
      break;
    default:
      break;
  }
}

function called(facts: Facts, method: string, newer: boolean): void {
  const handling = method.toLowerCase();
  if (facts.side === 'c') facts.requestSeen = true;
  else if (handling === 'backend_response') {
    facts.requestSeen = true;
    facts.responseSeen = true;
  }
  if (handling === 'recv') {
    facts.hitmiss = '-';
    facts.handling = '-';
    facts.marker = null;
    return;
  }
  if (handling !== 'hit' && handling !== 'miss' && handling !== 'pass' && handling !== 'synth') return;
  facts.hitmiss = handling === 'hit' ? 'hit' : 'miss';
  const { marker } = facts;
  const isMarked = newer && marker !== null && (handling === 'miss' || handling === 'pass');
  facts.handling = isMarked ? marker : handling;
}

/** Which response header of several counts. */
function responseOrder({ side, responseSeen }: Facts, newer: boolean): 'first' | 'last' | 'none' {
  if (!newer || side === 'c') return 'last';
  return responseSeen ? 'none' : 'first';
}

/** The first occurrence counts; keys are case-sensitive. */
function logKey(into: (string | undefined)[], keys: readonly string[], text: string): void {
  for (const [i, key] of keys.entries()) {
    if (text.startsWith(key)) into[i] ??= afterPrefix(text, key);
  }
}

/** @param order which of several counts, unless the watch says it; `none` where this one does not */
function header(
  into: (string | undefined)[],
  watches: readonly HeaderWatch[],
  text: string,
  order: 'first' | 'last' | 'none',
): void {
  for (const [i, { name, of }] of watches.entries()) {
    const which = of === 'usual' ? order : of;
    if (which === 'none' || (which === 'first' && into[i] !== undefined)) continue;
    const value = afterPrefix(text, name);
    if (value !== undefined) into[i] = value;
  }
}

/** A header that was removed before anybody got it. */
function removed(into: (string | undefined)[], watches: readonly HeaderWatch[], text: string): void {
  for (const [i, { name, of }] of watches.entries()) {
    if (of === 'usual' && into[i] !== undefined && afterPrefix(text, name) === into[i]) into[i] = undefined;
  }
}

/** The text after `prefix:` and blanks; the prefix ignores case. */
function afterPrefix(text: string, prefix: string): string | undefined {
  if (text[prefix.length] !== ':') return undefined;
  if (text.slice(0, prefix.length).toLowerCase() !== prefix.toLowerCase()) return undefined;
  return text.slice(prefix.length + 1).replace(/^[ \t]+/, '');
}

/** Field `n`, from 1, separated by blanks. */
function fieldOf(text: string, n: number): string | undefined {
  return text.split(/[ \t\n\v\f\r]+/).filter((part) => part !== '')[n - 1];
}

function payloadText(tag: number, b: Uint8Array, at: number): string {
  if (!SKIPPED.has(tag)) return recordText(b, at).replace(/[ \t\n\v\f\r]+$/, '');
  const from = at + RECORD_HEAD;
  return Buffer.from(b.buffer, b.byteOffset, b.byteLength).toString(
    'latin1',
    from,
    from + payloadLength(b, at),
  );
}
