// A Range request for a body of known length (RFC 9110 section 14). Malformed ranges are refused with 416, and so are several
// ranges as in Varnish, unless http_multi_range allows them; unknown units are ignored.

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeAnswer = { kind: 'whole' };
const UNSATISFIABLE: RangeAnswer = { kind: 'unsatisfiable' };

/** In the result `to` is exclusive. */
export function answerRange(value: string, length: number): RangeAnswer {
  if (!/^bytes=/i.test(value)) return value.includes('=') ? WHOLE : UNSATISFIABLE;
  const match = /^bytes=(\d*)-(\d*)[ \t]*$/i.exec(value);
  if (match === null) return UNSATISFIABLE;
  const [, first = '', last = ''] = match;
  if ((first === '' && last === '') || isTooBig(first) || isTooBig(last)) return UNSATISFIABLE;
  if (first === '') {
    const suffix = Number(last);
    if (suffix === 0 || length === 0) return UNSATISFIABLE;
    return { kind: 'part', from: Math.max(0, length - suffix), to: length };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return UNSATISFIABLE;
  if (from >= length) return UNSATISFIABLE;
  const to = last === '' ? length : Math.min(length, Number(last) + 1);
  return { kind: 'part', from, to };
}

const MOST = '9223372036854775807';

/** Whether it is above 2^63 - 1, Varnish's limit. That number itself is the end that some clients write who want everything. */
function isTooBig(digits: string): boolean {
  const number = digits.replace(/^0+/, '');
  return number.length > MOST.length || (number.length === MOST.length && number > MOST);
}

/** Bytes of a body, `to` exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Whether a Range asks for several ranges. */
export function hasSeveral(value: string): boolean {
  return value.includes(',');
}

/** Most ranges of one request: those of a client that looks for the parts of a large document are fewer. */
export const MOST_RANGES = 64;
/** Ranges that lie closer to each other than the head of a part is long are sent as one. */
const NEAR = 80;

/**
 * The parts that several ranges ask for: those that overlap or nearly touch are joined, so that no byte is sent twice; in
 * the order in which they were asked for. None when nothing can be had of it, or when there are too many.
 */
export function answerRanges(value: string, length: number): readonly Span[] {
  const asked = value.slice(value.indexOf('=') + 1).split(',', MOST_RANGES + 1);
  if (asked.length > MOST_RANGES) return [];
  const spans: (Span & { readonly place: number })[] = [];
  for (const [place, member] of asked.entries()) {
    const text = member.trim();
    if (text === '') continue;
    const range = `bytes=${text}`;
    if (isMalformed(range)) return [];
    const answer = answerRange(range, length);
    if (answer.kind === 'part') spans.push({ place, from: answer.from, to: answer.to });
  }
  spans.sort((a, b) => a.from - b.from);
  const joined: typeof spans = [];
  for (const span of spans) {
    const last = joined.at(-1);
    if (last === undefined || span.from - last.to >= NEAR) joined.push(span);
    else {
      const place = Math.min(last.place, span.place);
      joined[joined.length - 1] = { place, from: last.from, to: Math.max(last.to, span.to) };
    }
  }
  return joined.sort((a, b) => a.place - b.place).map(({ from, to }) => ({ from, to }));
}

/** Whether it is no range at all, whatever the length; the last bytes of which there are to be none are one. */
function isMalformed(range: string): boolean {
  const fault = rangeFault(range);
  return fault !== null && !/^bytes=-0+$/.test(range);
}

/** First and last byte of a Range with one part; -1 for an open end. Null for any other Range. */
export function requestedRange(value: string): { low: number; high: number } | null {
  if (rangeFault(value) !== null) return null;
  const [, low = '', high = ''] = /^bytes=(\d*)-(\d*)/i.exec(value) ?? [];
  return { low: low === '' ? -1 : Number(low), high: high === '' ? -1 : Number(high) };
}

/** A Content-Range: `low` and `high` are the first and last byte, -1 without a range; `total` is -1 if unknown. */
export interface ContentRange {
  readonly low: number;
  readonly high: number;
  readonly total: number;
}

/** Parses a Content-Range in bytes (RFC 9110 section 14.4); null if it contradicts itself or is malformed. */
export function parseContentRange(value: string): ContentRange | null {
  const match = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(?:(\d{1,15})|\*)$/i.exec(value);
  if (match === null) return null;
  const number = (text: string | undefined): number => (text === undefined ? -1 : Number(text));
  const range = { low: number(match[1]), high: number(match[2]), total: number(match[3]) };
  if (range.low < 0) return range.total < 0 ? null : range;
  if (range.high < range.low || (range.total >= 0 && range.high >= range.total)) return null;
  return range;
}

/** Why a Range is refused whatever the body's length, in Varnish's log text; null for one range in bytes. */
export function rangeFault(value: string): string | null {
  if (!value.includes('=')) return "Missing '='";
  const [, unit = '', low = '', hyphen = '', high = '', rest = ''] =
    /^([^=]*)=(\d*)(-?)(\d*)(.*)$/s.exec(value) ?? [];
  if (unit.toLowerCase() !== 'bytes') return 'Not Bytes';
  if (isTooBig(low)) return 'Low number too big';
  if (hyphen !== '-') return 'Missing hyphen';
  if (isTooBig(high)) return 'High number too big';
  if (rest.trim() !== '') return 'Trailing stuff';
  if (low === '' && high === '') return 'Neither high nor low';
  if (low === '' && Number(high) === 0) return 'No low, high is zero';
  return low !== '' && high !== '' && Number(high) < Number(low) ? 'high smaller than low' : null;
}
