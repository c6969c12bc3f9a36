// A Range request against a body of known length (RFC 9110 section 14). One range only; several ranges are
// answered with the whole body, which a server is free to do.

export type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: RangeAnswer = { kind: 'whole' };
const UNSATISFIABLE: RangeAnswer = { kind: 'unsatisfiable' };

/** `to` is exclusive. */
export function answerRange(value: string, length: number): RangeAnswer {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(value);
  if (match === null) return WHOLE;
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return WHOLE;
  if (first === '') {
    const suffix = Number(last);
    if (suffix === 0 || length === 0) return UNSATISFIABLE;
    return { kind: 'part', from: Math.max(0, length - suffix), to: length };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return WHOLE;
  if (from >= length) return UNSATISFIABLE;
  const to = last === '' ? length : Math.min(length, Number(last) + 1);
  return { kind: 'part', from, to };
}
