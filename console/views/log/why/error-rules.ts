// Rules for what failed: these speak before the rules about the cache.

import { refusalOf } from '../../../../protocol/tables/refusals.ts';
import { explainFetchError } from './fetch-errors.ts';
import type { Evidence, Facts } from './request-facts.ts';
import type { Rule } from './why.ts';

type Refused = NonNullable<ReturnType<typeof refusalOf>> & { evidence: Evidence };

/** The first record of a transaction that says why a message was refused. */
function refusalIn(facts: Facts): Refused | null {
  for (const evidence of facts.all('Error')) {
    const found = refusalOf(evidence.text);
    if (found !== null) return { ...found, evidence };
  }
  return null;
}

/** `the text (the place)` of a refusal. */
function told({ row, place }: Refused): string {
  return place === '' ? row.text : `${row.text} (${place})`;
}

function present(...evidence: readonly (Evidence | undefined)[]): Evidence[] {
  return evidence.filter((e) => e !== undefined);
}

/** What is logged of a program that failed. */
const OWN = /^(?!ESI depth|Attempted ESI)/;

export const ERROR_RULES: readonly Rule[] = [
  {
    name: 'answer-refused',
    explains: 'What the backend sent breaks a rule of HTTP/1 that has no second reading.',
    try: ({ request, fetch }) => {
      const refused = fetch === null ? null : refusalIn(fetch);
      if (fetch === null || refused === null || refused.part !== 'response') return null;
      const backend = fetch.first('BackendOpen')?.text.split(' ')[1];
      const outcome = request.status === 0 ? '' : `; the client got ${request.status}`;
      return {
        sentence: `The answer${backend === undefined ? '' : ` of ${backend}`} was refused: ${told(refused)}${outcome}.`,
        evidence: present(refused.evidence, fetch.first('FetchError'), request.first('RespStatus')),
        hint: refused.row.advice,
      };
    },
  },
  {
    name: 'bad-request',
    explains: 'The request, or its body, was not valid HTTP, or larger than it may be.',
    try: ({ request }) => {
      const refused = refusalIn(request);
      if (refused === null || refused.part === 'response') return null;
      const status = request.status === 0 ? '' : ` with ${request.status}`;
      const what =
        refused.part === 'request'
          ? `The request was refused${status}${request.step('RECV') === undefined ? ' before the program saw it' : ''}`
          : 'The body of the request was refused';
      return {
        sentence: `${what}: ${told(refused)}.`,
        evidence: present(
          refused.evidence,
          request.first('BogoHeader') ?? request.first('HttpGarbage'),
          request.first('RespStatus'),
        ),
        hint: refused.row.advice,
      };
    },
  },
  {
    name: 'fetch-error',
    explains: 'The backend could not be asked, or its answer was no good.',
    try: ({ request, fetch }) => {
      const error = fetch?.first('FetchError');
      if (fetch === null || error === undefined) return null;
      const backend = fetch.first('BackendOpen')?.text.split(' ')[1] ?? '';
      const { sentence, hint } = explainFetchError(error.text);
      const again = fetch.all('FetchError').length > 1 ? ', twice' : '';
      const outcome = request.status === 0 ? '' : `; the client got ${request.status}`;
      const evidence = [
        error,
        ...(request.first('RespStatus') === undefined ? [] : [request.first('RespStatus') as typeof error]),
      ];
      return {
        sentence: `The fetch${backend === '' ? '' : ` from ${backend}`} failed${again}: ${sentence}${outcome}.`,
        evidence,
        hint,
      };
    },
  },
  {
    name: 'backend-error',
    explains: 'The backend itself answered with an error.',
    try: ({ fetch }) => {
      if (fetch === null || fetch.status < 500 || fetch.step('BACKEND_ERROR') !== undefined) return null;
      const status = fetch.first('BerespStatus');
      if (status === undefined) return null;
      const backend = fetch.first('BackendOpen')?.text.split(' ')[1];
      return {
        sentence: `The backend${backend === undefined ? '' : ` ${backend}`} answered ${fetch.status} ${fetch.last('BerespReason')}: this is its own error, passed on.`,
        evidence: [status],
        hint: 'Its own log tells more.',
      };
    },
  },
  {
    name: 'program-error',
    explains: 'The program failed while it ran.',
    try: ({ request, fetch }) => {
      // What was included too deep is no fault of the program, and a part that is to be read for includes ends the
      // fetch: rules of their own say it.
      const error = request.first('VCL_Error', OWN) ?? fetch?.first('VCL_Error', OWN);
      if (error === undefined) return null;
      return {
        sentence: `The program failed: ${error.text}.`,
        evidence: [error],
        hint: 'The Programs view (5) shows its source.',
      };
    },
  },
];
