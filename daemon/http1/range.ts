// A Range request against a body of known length (RFC 9110 section 14). One range only: several ranges, and what is no
// range at all, are refused with 416 as the field does, which section 14.2 allows; unknown units are ignored.

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeAnswer = { kind: 'whole' };
const UNSATISFIABLE: RangeAnswer = { kind: 'unsatisfiable' };

/** `to` is exclusive. */
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

/** Why a range in bytes is refused, in the words of the field's log. */
export function rangeFault(value: string): string {
  const [, low = '', hyphen, high = '', rest = ''] = /^bytes=(\d*)(-?)(\d*)(.*)$/is.exec(value) ?? [];
  if (low.length > 15) return 'Low number too big';
  if (hyphen !== '-') return 'Missing hyphen';
  if (high.length > 15) return 'High number too big';
  if (rest.trim() !== '') return 'Trailing stuff';
  if (low === '') return high === '' ? 'Neither high nor low' : 'No low, high is zero';
  return high !== '' && Number(high) < Number(low) ? 'high smaller than low' : 'low range beyond object';
}
