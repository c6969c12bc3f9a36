// Rules for what happens next: is the response kept, so that the next request is a hit?

import { duration } from '../../../model/numbers.ts';
import { uncacheable } from './uncacheable.ts';
import type { Rule } from './why.ts';

export const STORAGE_RULES: readonly Rule[] = [
  {
    name: 'restarted',
    explains: 'The program started the request again.',
    try: ({ request, restarts }) =>
      restarts === 0
        ? null
        : {
            sentence: `The program restarted the request ${restarts === 1 ? 'once' : `${restarts} times`}; this is the last life of it.`,
            evidence: [request.first('Begin')].filter((e) => e !== undefined),
            hint: '',
          },
  },
  {
    name: 'next-is-no-hit',
    explains: 'The response is not kept.',
    try: ({ request, fetch }) => {
      if (fetch === null || fetch.reason === 'pass' || fetch.reason === 'pipe' || request === fetch)
        return null;
      if (fetch.first('FetchError') !== undefined) return null;
      const cause = uncacheable(fetch);
      if (cause === null) return null;
      return {
        sentence: `The next request will be no hit either: the response is not kept, because ${cause.because}.`,
        evidence: cause.evidence,
        hint: '',
      };
    },
  },
  {
    name: 'next-is-hit',
    explains: 'The response is kept.',
    try: ({ request, fetch }) => {
      const last = fetch?.lifetimes.at(-1);
      if (fetch === null || last === undefined || request === fetch || fetch.reason === 'pass') return null;
      if (uncacheable(fetch) !== null) return null;
      return {
        sentence:
          last.ttl > 0
            ? `The response is kept for ${duration(last.ttl)}${last.grace > 0 ? `, and ${duration(last.grace)} of grace` : ''}: the next request is a hit.`
            : `The response is stale at once, but kept for ${duration(last.grace + last.keep)} of grace and keep, to be revalidated.`,
        evidence: [last.evidence],
        hint: '',
      };
    },
  },
];
