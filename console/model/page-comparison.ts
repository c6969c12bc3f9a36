// Two answers for one page side by side: what is the same is counted, what differs stands in columns, and nothing is cut.

import type { PageAnswer } from '../client/page-client.ts';
import { bytes, duration } from './numbers.ts';
import type { Tone, ToneLine } from './panel.ts';
import { type Handling, printable } from './transaction.ts';

export interface SeenPage {
  answer: PageAnswer;
  /** What the log says of the same request; null where it was not seen there. */
  logged: LoggedPage | null;
}

export interface LoggedPage {
  handling: Handling;
  /** Seconds that the object had left; null of a response that is not kept. */
  ttl: number | null;
}

const NAME = 15;
/** They differ between any two answers. */
const ALWAYS: ReadonlySet<string> = new Set(['date', 'age', 'x-varnish', 'x-proxy-id']);
const HASH = 16;

/** In lines of `width` cells. */
export function pageComparison(before: SeenPage, after: SeenPage, width: number): ToneLine[] {
  const column = Math.max(8, Math.floor((width - NAME - 2) / 2));
  const rows = (name: string, a: string, b: string): ToneLine[] => row(name, a, b, column);
  const [a, b] = [before.answer, after.answer];
  const headers = headerPairs(a, b);
  const differing = headers.filter(([, left, right]) => left !== right);
  const telling = differing.filter(([name]) => !ALWAYS.has(name.toLowerCase()));
  const changed = [
    a.status === b.status ? '' : 'the status',
    a.sha256 === b.sha256 ? '' : 'the body',
    telling.length === 0 ? '' : telling.length === 1 ? 'a header' : `${telling.length} headers`,
  ].filter(Boolean);
  const verdict = changed.length === 0 ? 'Nothing changed.' : `Changed: ${changed.join(', ')}.`;
  return [
    [{ text: verdict, tone: changed.length === 0 ? 'good' : 'warn' }],
    ...row('', 'BEFORE', 'AFTER', column, 'title'),
    ...rows('status', String(a.status), String(b.status)),
    ...rows('cache', cacheText(before), cacheText(after)),
    ...rows('time to live', ttlText(before), ttlText(after)),
    ...rows('first byte', duration(a.seconds), duration(b.seconds)),
    ...rows('body', bytes(a.bytes), bytes(b.bytes)),
    ...rows('sha256', a.sha256.slice(0, HASH), b.sha256.slice(0, HASH)),
    ...differing.flatMap(([name, left, right]) => rows(name, left, right)),
    [{ text: `${headers.length - differing.length} more headers are the same.`, tone: 'muted' }],
  ];
}

/** Each header's name with its values, '–' where there is none. */
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

function row(name: string, before: string, after: string, column: number, tone?: Tone): ToneLine[] {
  const same = before === after;
  const [left, right] = [pieces(before, column), pieces(after, column)];
  const label = pieces(name, NAME - 1);
  return Array.from({ length: Math.max(label.length, left.length, right.length) }, (_, i) => [
    { text: (label[i] ?? '').padEnd(NAME), tone: 'muted', fixed: true },
    { text: (left[i] ?? '').padEnd(column + 2), tone: tone ?? 'text' },
    { text: right[i] ?? '', tone: tone ?? (same ? 'text' : 'strong') },
  ]);
}

function pieces(text: string, width: number): string[] {
  return text === '' ? [''] : (text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? []);
}
