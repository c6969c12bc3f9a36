// Titles of causes of misses and passes, and how to fix each. Causes are named after the rules of "why?", plus those
// that judge.ts adds.

interface CauseText {
  /** `detail` distinguishes requests of the same rule. */
  label(detail: string): string;
  /** Short label: the part that differs between rows of one cause comes first. */
  brief?(detail: string): string;
  change: string | ((detail: string) => string);
  /** Used instead if an unsampled request may be the cause. */
  sampled?: string;
}

const KEEP =
  'In vcl_backend_response set beresp.ttl and unset what forbids to keep it, where the response is the same for everybody; else let the backend send max-age.';
const PROGRAM = 'The program requests it: the Programs view (5) shows where.';

/** How to make a response cacheable, by a word in the reason why it is not. */
const NOT_KEPT: readonly (readonly [RegExp, string])[] = [
  [
    /fetch failed|status is 5/,
    'Look after the backend: the Backends view, or w on such a request. Grace delivers an old response meanwhile.',
  ],
  [
    /status is/,
    'Nothing of this status is kept by default, whatever its headers say. Set beresp.ttl in vcl_backend_response to keep it.',
  ],
  [
    /Set-Cookie/,
    'Unset beresp.http.Set-Cookie in vcl_backend_response for responses that are the same for everybody.',
  ],
  [/Vary/, 'Let the backend name in Vary the headers that it looks at, instead of *.'],
  [/retried/, 'The program returns retry for the backend’s response: see w on such a request.'],
  [
    /its fetch/,
    'The program ends the fetch: the Programs view (5) shows where, and w on such a request in the log the reason.',
  ],
  [/program/, PROGRAM],
];

const notKept = (detail: string): string => NOT_KEPT.find(([reason]) => reason.test(detail))?.[1] ?? KEEP;

/** The distinguishing part of a reason, without its introduction. */
function word(detail: string): string {
  return detail
    .replace(/^it has an? /, '')
    .replace(/^its headers give it /, '')
    .replace(/^its Cache-Control says /, '')
    .replace(/^its /, '')
    .replace(/^the program marked it /, '');
}

const TEXTS: Readonly<Record<string, CauseText>> = {
  cookie: {
    label: () => 'passed, with a Cookie',
    change:
      'Unset in vcl_recv the cookies that do not change the page: a request without a Cookie is looked up.',
  },
  authorization: {
    label: () => 'passed, with Authorization',
    change: 'Return hash for responses that are the same for every user, or hash the user.',
  },
  method: {
    label: () => 'passed: its method is never cached',
    brief: () => 'passed: by its method',
    change: 'Nothing, unless these requests could be GET.',
  },
  'far-range': {
    label: () => 'passed: a range far ahead',
    change: 'Nothing, unless range_ahead is small.',
  },
  disk: { label: () => 'on disk', change: 'Nothing: it was a hit. More memory makes fewer of them.' },
  'disk-failed': {
    label: () => 'on disk, but not usable',
    change: 'Look at the errors of the disk in the Storage view; storage.check reads all of it.',
  },
  'return-pass': { label: () => 'passed by the VCL', change: PROGRAM },
  pipe: { label: () => 'piped', change: 'Return pass instead where the protocol is HTTP.' },
  'hit-for-pass': {
    label: () => 'hit-for-pass: the VCL passes the response',
    brief: () => 'hit-for-pass: by the program',
    change: PROGRAM,
  },
  'hit-for-miss': {
    label: (detail) => `hit-for-miss: ${detail === '' ? 'the response is not kept' : detail}`,
    brief: (detail) => `hit-for-miss: ${detail === '' ? 'not kept' : word(detail)}`,
    change: notKept,
  },
  'not-kept': {
    label: (detail) => `not kept the last time: ${detail}`,
    brief: (detail) => `not kept: ${word(detail)}`,
    change: notKept,
  },
  'other-variant': {
    label: (detail) => `another variant: Vary: ${detail}`,
    brief: (detail) => `variant: ${detail}`,
    change: (detail) => `Normalise ${detail} in vcl_recv to the few values that make a difference.`,
  },
  expired: {
    label: () => 'expired',
    change: 'A longer max-age or beresp.ttl; grace delivers the old response while it is fetched again.',
  },
  purged: {
    label: () => 'purged',
    change: 'Purge by narrower keys, or softly: stale objects are delivered while they are refreshed.',
  },
  banned: {
    label: () => 'banned',
    change: 'Ban by narrower expressions, or softly (std.softban, ban.soft).',
  },
  removed: {
    label: () => 'evicted early, or a miss forced by the VCL',
    brief: () => 'evicted early, or forced miss',
    change:
      'The Storage view (8) counts evictions: add storage, or store less that is never requested again. The ban lurker removes objects, too, and req.hash_always_miss fetches objects that are cached.',
  },
  gone: {
    label: () => 'was cached earlier; expired or evicted since',
    brief: () => 'was cached; expired or evicted',
    change: 'Look again when more has been seen.',
  },
  'other-query': {
    label: () => 'near miss: cached with another query string',
    brief: () => 'near miss: other query string',
    change:
      'Sort the query string and remove parameters that have no effect (import querystring, std.querysort).',
  },
  'other-host': {
    label: () => 'near miss: cached under another Host',
    brief: () => 'near miss: another Host',
    change: 'Set req.http.Host to one name in vcl_recv for hosts that serve the same.',
  },
  busy: {
    label: () => 'another request was fetching it',
    change: 'Do not set req.hash_ignore_busy: without it a request waits for the response of the first.',
  },
  'never-seen': {
    label: () => 'first time seen',
    sampled:
      'Only some of the requests are seen: another may have fetched it before. w on such a request in the log looks at all of them.',
    change:
      'Nothing, for the first request. If every URL is requested only once, remove the part that makes it unique.',
  },
};

export function causeLabel(cause: string, detail: string): string {
  return TEXTS[cause]?.label(detail) ?? 'no rule explains it';
}

export function causeBrief(cause: string, detail: string): string {
  return TEXTS[cause]?.brief?.(detail) ?? causeLabel(cause, detail);
}

/** `sampled`: not all requests were seen. */
export function causeChange(cause: string, detail: string, sampled: boolean): string {
  const text = TEXTS[cause];
  if (sampled && text?.sampled !== undefined) return text.sampled;
  const change = text?.change ?? 'w on such a request in the log shows its records.';
  return typeof change === 'string' ? change : change(detail);
}
