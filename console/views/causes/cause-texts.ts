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
  'If the response is the same for everybody, set beresp.ttl in vcl_backend_response and unset the headers that forbid caching, or have the backend send max-age.';
const PROGRAM = 'The program does this: the Programs view (5) shows where.';

/** How to make a response cacheable, by a word in the reason why it is not. */
const NOT_KEPT: readonly (readonly [RegExp, string])[] = [
  [
    /fetch failed|status is 5/,
    'Check the backend: the Backends view (4), or w on such a request. Grace serves the old response in the meantime.',
  ],
  [
    /status is/,
    'Responses with this status are not cached by default, whatever their headers say. Set beresp.ttl in vcl_backend_response to cache them.',
  ],
  [
    /Set-Cookie/,
    'Unset beresp.http.Set-Cookie in vcl_backend_response for responses that are the same for everybody.',
  ],
  [/Vary/, 'Have the backend list the headers it depends on in Vary, instead of *.'],
  [/retried/, 'The program returns retry for the backend’s response: press w on such a request.'],
  [
    /its fetch/,
    'The program aborts the fetch: the Programs view (5) shows where, w on such a request in the log shows why.',
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
      'In vcl_recv, remove cookies that do not affect the page: requests without a Cookie are looked up.',
  },
  authorization: {
    label: () => 'passed, with Authorization',
    change: 'Return hash for responses that are the same for every user, or hash the user.',
  },
  method: {
    label: () => 'passed: method is not cacheable',
    brief: () => 'passed: by its method',
    change: 'Nothing, unless these requests could be GET.',
  },
  'far-range': {
    label: () => 'passed: a range far ahead',
    change: 'Nothing, unless range_ahead is small.',
  },
  disk: { label: () => 'on disk', change: 'Nothing: these are hits. More memory means fewer of them.' },
  'disk-failed': {
    label: () => 'on disk, but not usable',
    change: 'The Storage view (8) shows the disk errors; storage.check verifies the whole disk.',
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
    change: (detail) => `Normalise ${detail} in vcl_recv to the values that matter.`,
  },
  expired: {
    label: () => 'expired',
    change: 'Use a longer max-age or beresp.ttl; grace serves the old response during the refetch.',
  },
  purged: {
    label: () => 'purged',
    change: 'Purge by narrower keys, or use soft purges: stale objects are served while they are refreshed.',
  },
  banned: {
    label: () => 'banned',
    change: 'Use narrower ban expressions, or soft bans (std.softban, ban.soft).',
  },
  removed: {
    label: () => 'evicted early, or a miss forced by the VCL',
    brief: () => 'evicted early, or forced miss',
    change:
      'The Storage view (8) counts evictions: add storage, or do not store objects that are requested only once. The ban lurker also removes objects, and req.hash_always_miss refetches cached ones.',
  },
  gone: {
    label: () => 'was cached earlier; expired or evicted since',
    brief: () => 'was cached; expired or evicted',
    change: 'Not enough history yet: check again later.',
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
    change: 'In vcl_recv, set req.http.Host to one name for hosts that serve the same content.',
  },
  busy: {
    label: () => 'another request was fetching it',
    change: 'Do not set req.hash_ignore_busy: without it, requests wait for the first fetch.',
  },
  'never-seen': {
    label: () => 'first time seen',
    sampled:
      'Only a sample of requests is analysed: another one may have fetched it before. w on such a request searches the whole log.',
    change:
      'Nothing to do for first requests. If every URL is requested only once, remove the part that makes it unique.',
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
