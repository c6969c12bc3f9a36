// Two responses for one page side by side: equal headers are counted, differing ones shown in columns, uncut. A
// synthetic response after a failed fetch is not compared: the error is shown.

import type { PageAnswer } from '../../client/page-client.ts';
import { type Handling, printable } from '../log/transaction.ts';
import { inParts } from './folded-lines.ts';
import { bytes, duration } from './numbers.ts';
import type { Tone, ToneLine } from './panel.ts';

export interface SeenPage {
  answer: PageAnswer;
  /** The log of the same request; null if it was not seen. */
  logged: LoggedPage | null;
}

export interface LoggedPage {
  handling: Handling;
  /** Seconds of its remaining lifetime; null of a response that is not stored. */
  ttl: number | null;
  /** Why the fetch failed; '' if it did not. */
  error: string;
}

/** Cells of a name with a blank: at least, and at most as a share of the width. */
const NAME = 15;
const NAMES_PART = 1 / 3;
/** Headers that differ between any two responses, or by the transfer alone: a body of unknown length comes in
 * chunks, from the cache with its length. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'date',
  'age',
  'x-varnish',
  'x-proxy-id',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'accept-ranges',
]);
const HASH = 16;

/** In lines of `width` cells. */
export function pageComparison(before: SeenPage, after: SeenPage, width: number): ToneLine[] {
  const [a, b] = [before.answer, after.answer];
  const headers = headerPairs(a, b);
  const differing = headers.filter(([, left, right]) => left !== right);
  const longest = Math.max(...differing.map(([name]) => name.length + 1), NAME);
  const names = Math.min(longest, Math.max(NAME, Math.floor(width * NAMES_PART)));
  const column = Math.max(8, Math.floor((width - names - 2) / 2));
  const rows = (name: string, left: string, right: string): ToneLine[] =>
    row(name, left, right, { names, column });
  const [left, right] = [errorOf(before), errorOf(after)];
  return [
    verdict(before, after, differing),
    ...row('', 'BEFORE', 'AFTER', { names, column, tone: 'title' }),
    ...rows('status', String(a.status), String(b.status)),
    ...(left === '' && right === '' ? [] : rows('fetch error', left || '–', right || '–')),
    ...rows('cache', cacheText(before), cacheText(after)),
    ...rows('time to live', ttlText(before), ttlText(after)),
    ...rows('first byte', duration(a.seconds), duration(b.seconds)),
    ...rows('body', bytes(a.bytes), bytes(b.bytes)),
    ...rows('sha256', a.sha256.slice(0, HASH), b.sha256.slice(0, HASH)),
    ...differing.flatMap(([name, old, now]) => rows(name, old, now)),
    [{ text: `${headers.length - differing.length} more headers are the same.`, tone: 'muted' }],
  ];
}

const errorOf = ({ logged }: SeenPage): string => logged?.error ?? '';

function verdict(
  before: SeenPage,
  after: SeenPage,
  differing: readonly [string, string, string][],
): ToneLine {
  const [a, b] = [before.answer, after.answer];
  const failed = errorOf(after);
  if (failed !== '') {
    const again = errorOf(before) === '' ? 'The fetch failed' : 'Both fetches failed';
    return [{ text: `${again}: ${failed}.`, tone: 'bad' }];
  }
  const telling = differing.filter(([name]) => !NO_CHANGE.has(name.toLowerCase())).length;
  const changed = [
    a.status === b.status ? '' : 'the status',
    a.sha256 === b.sha256 ? '' : 'the body',
    telling === 0 ? '' : telling === 1 ? 'a header' : `${telling} headers`,
  ].filter(Boolean);
  if (errorOf(before) !== '') return [{ text: 'The fetch failed before and succeeds now.', tone: 'good' }];
  return changed.length === 0
    ? [{ text: 'Nothing changed.', tone: 'good' }]
    : [{ text: `Changed: ${changed.join(', ')}.`, tone: 'warn' }];
}

/** Each header's name with its values, '–' without one. */
function headerPairs(a: PageAnswer, b: PageAnswer): [name: string, before: string, after: string][] {
  const values = ({ headers }: PageAnswer, name: string): string => {
    const found = headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
    return found.length === 0 ? '–' : printable(found.join(', '));
  };
  const names = new Map<string, string>();
  for (const [name] of [...a.headers, ...b.headers]) {
    const key = name.toLowerCase();
    if (!names.has(key)) names.set(key, printable(name));
  }
  return [...names].map(([key, name]) => [name, values(a, key), values(b, key)]);
}

function cacheText({ logged }: SeenPage): string {
  return logged === null ? 'not logged' : logged.handling === '' ? '–' : logged.handling;
}

function ttlText({ logged }: SeenPage): string {
  return logged?.ttl === undefined || logged.ttl === null ? '–' : duration(Math.max(0, logged.ttl));
}

interface Columns {
  names: number;
  column: number;
  tone?: Tone;
}

function row(name: string, before: string, after: string, { names, column, tone }: Columns): ToneLine[] {
  const same = before === after;
  const [left, right] = [broken(before, column, WORDS), broken(after, column, WORDS)];
  const label = broken(name, names - 1, NAME_PARTS);
  return Array.from({ length: Math.max(label.length, left.length, right.length) }, (_, i) => [
    { text: (label[i] ?? '').padEnd(names), tone: 'muted', fixed: true },
    { text: (left[i] ?? '').padEnd(column + 2), tone: tone ?? 'text' },
    { text: right[i] ?? '', tone: tone ?? (same ? 'text' : 'strong') },
  ]);
}

const WORDS = /\s*\S+/g;
const NAME_PARTS = /[^-]*-|[^-]+/g;

/** Lines of at most `width` cells that end between parts; a longer part continues after a mark. */
function broken(text: string, width: number, parts: RegExp): string[] {
  const lines = [''];
  for (const part of text.match(parts) ?? []) {
    const last = lines.at(-1) ?? '';
    if (last.length + part.length <= width) lines[lines.length - 1] = last + part;
    else lines.push(...inParts(part.trimStart(), width));
  }
  return lines[0] === '' && lines.length > 1 ? lines.slice(1) : lines;
}
