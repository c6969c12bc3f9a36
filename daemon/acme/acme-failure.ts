// Failures of requests to an authority, with its own words where it has given any (RFC 7807, RFC 8555 section 6.7). The
// words come from outside and reach terminals and logs: they are cut to a length, and have no control characters.

export type FailureKind =
  /** The authority refused for a reason that only a change of the configuration removes. */
  | 'refused'
  /** Too many requests, by the authority or a limit of our own; `notBefore` is the time of the next one. */
  | 'limited'
  /** No answer, or none that makes sense: the request may have had its effect, and may succeed later. */
  | 'unavailable';

/** The prefix of the types of RFC 8555 section 6.7. */
const TYPES = 'urn:ietf:params:acme:error:';
/** Characters of the words of one failure (chosen). */
const LONGEST = 1000;
/** Problems of single names that are reported (chosen). */
const MOST_NAMES = 5;

export class AcmeFailure extends Error {
  readonly kind: FailureKind;
  /** The last word of the problem's type, such as `rateLimited`; '' for none. */
  readonly type: string;
  /** Epoch milliseconds before which the authority rejects further requests; null if unknown. */
  readonly notBefore: number | null;

  constructor(kind: FailureKind, words: string, type = '', notBefore: number | null = null) {
    super(printable(words, LONGEST));
    this.kind = kind;
    this.type = type;
    this.notBefore = notBefore;
  }
}

/** A failure from a problem document. @param status of the response; 0 for the error of an order or a challenge */
export function failureOf(document: unknown, status: number, notBefore: number | null): AcmeFailure {
  const type = typeOf(document);
  const words = problemText(document);
  const description = words === '' ? `HTTP status ${status}` : words;
  if (type === 'rateLimited' || status === 429)
    return new AcmeFailure('limited', description, type, notBefore);
  const unavailable = type === 'serverInternal' || status >= 500;
  return new AcmeFailure(unavailable ? 'unavailable' : 'refused', description, type, notBefore);
}

/** "rateLimited: too many certificates (a.example: …)"; '' if the document has no words. */
export function problemText(document: unknown): string {
  const problem = fields(document);
  const detail = text(problem.detail) || text(problem.title);
  const type = typeOf(document);
  const single = Array.isArray(problem.subproblems) ? problem.subproblems.slice(0, MOST_NAMES) : [];
  const names = single.map((each: unknown) => {
    const name = text(fields(fields(each).identifier).value);
    return [name, problemText({ ...fields(each), subproblems: [] })].filter((part) => part !== '').join(': ');
  });
  const whole = [type, detail].filter((part) => part !== '').join(': ');
  return printable(names.length === 0 ? whole : `${whole} (${names.join('; ')})`, LONGEST);
}

function typeOf(document: unknown): string {
  const type = text(fields(document).type);
  return type === 'about:blank' ? '' : type.startsWith(TYPES) ? type.slice(TYPES.length) : type;
}

/** The members of a JSON object; none for other values. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** '' for other values than texts. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function printable(words: string, most: number): string {
  const clean = words.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
  return clean.length <= most ? clean : `${clean.slice(0, most - 1)}…`;
}
