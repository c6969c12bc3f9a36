// A Range request for a body of known length (RFC 9110 section 14). One range only: several ranges and malformed ones
// are refused with 416 as in Varnish, which section 14.2 allows; unknown units are ignored.

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeAnswer = { kind: 'whole' };
const UNSATISFIABLE: RangeAnswer = { kind: 'unsatisfiable' };

/** In the result `to` is exclusive. */
export function answerRange(value: string, length: number): RangeAnswer {
  if (!/^bytes=/i.test(value)) return WHOLE;
  const match = /^bytes=(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(value);
  if (match === null) return UNSATISFIABLE;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return UNSATISFIABLE;
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
  if (low.length > 15) return 'Low number too big';
  if (hyphen !== '-') return 'Missing hyphen';
  if (high.length > 15) return 'High number too big';
  if (rest.trim() !== '') return 'Trailing stuff';
  if (low === '' && high === '') return 'Neither high nor low';
  if (low === '' && Number(high) === 0) return 'No low, high is zero';
  return low !== '' && high !== '' && Number(high) < Number(low) ? 'high smaller than low' : null;
}
