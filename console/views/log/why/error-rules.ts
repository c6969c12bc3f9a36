// Rules for failures, which apply before the rules about the cache, and plain sentences for the texts of fetch errors.

import { refusalOf } from '../../../../protocol/tables/refusals.ts';
import type { Evidence, Facts } from './request-facts.ts';
import { explainTlsError } from './tls-errors.ts';
import type { Rule } from './why-case.ts';

type Refused = NonNullable<ReturnType<typeof refusalOf>> & { evidence: Evidence };

/** The first record with a reason for refusing the message. */
function refusalIn(facts: Facts): Refused | null {
  for (const evidence of facts.all('Error')) {
    const found = refusalOf(evidence.text);
    if (found !== null) return { ...found, evidence };
  }
  return null;
}

/** `text (place)` of a refusal. */
function refusalText({ row, place }: Refused): string {
  return place === '' ? row.text : `${row.text} (${place})`;
}

function present(...evidence: readonly (Evidence | undefined)[]): Evidence[] {
  return evidence.filter((e) => e !== undefined);
}

/** VCL_Error records of a failed program. */
const OWN = /^(?!ESI depth|Attempted ESI)/;

export const ERROR_RULES: readonly Rule[] = [
  {
    name: 'answer-refused',
    explains: 'The backend sent something that violates HTTP/1 beyond doubt.',
    try: ({ request, fetch }) => {
      const refused = fetch === null ? null : refusalIn(fetch);
      if (fetch === null || refused === null || refused.part !== 'response') return null;
      const backend = fetch.first('BackendOpen')?.text.split(' ')[1];
      const outcome = request.status === 0 ? '' : `; the client got ${request.status}`;
      return {
        sentence: `The answer${backend === undefined ? '' : ` of ${backend}`} was refused: ${refusalText(refused)}${outcome}.`,
        evidence: present(refused.evidence, fetch.first('FetchError'), request.first('RespStatus')),
        hint: refused.row.advice,
      };
    },
  },
  {
    name: 'bad-request',
    explains: 'The request or its body was invalid HTTP, or too large.',
    try: ({ request }) => {
      const refused = refusalIn(request);
      if (refused === null || refused.part === 'response') return null;
      const status = request.status === 0 ? '' : ` with ${request.status}`;
      const what =
        refused.part === 'request'
          ? `The request was refused${status}${request.step('RECV') === undefined ? ' before the program saw it' : ''}`
          : 'The body of the request was refused';
      return {
        sentence: `${what}: ${refusalText(refused)}.`,
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
    explains: 'The backend could not be reached, or its response was invalid.',
    try: ({ request, fetch }) => {
      const error = fetch?.first('FetchError');
      if (fetch === null || error === undefined) return null;
      const backend =
        fetch.first('BackendOpen')?.text.split(' ')[1] ?? /^backend (\S+): /.exec(error.text)?.[1] ?? '';
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
        sentence: `The backend${backend === undefined ? '' : ` ${backend}`} answered ${fetch.status} ${fetch.last('BerespReason')}: the backend’s own error, passed on.`,
        evidence: [status],
        hint: 'See the log of the backend.',
      };
    },
  },
  {
    name: 'program-error',
    explains: 'The program failed while it ran.',
    try: ({ request, fetch }) => {
      // Other rules handle too deep includes, which are no fault of the program, and a partial response to be parsed
      // for includes, which ends the fetch.
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

interface FetchErrorRow {
  pattern: RegExp;
  sentence: string;
  hint: string;
}

const FETCH_ERRORS: readonly FetchErrorRow[] = [
  {
    pattern: /unhealthy/i,
    sentence: 'the backend is sick',
    hint: 'The Backends view (4) shows its probes.',
  },
  {
    pattern: /busy/i,
    sentence: 'the backend has reached its connection limit',
    hint: 'See .max_connections.',
  },
  {
    pattern: /helddown/i,
    sentence: 'a connection was refused a moment ago; the next attempt is delayed',
    hint: 'See backend_remote_error_holddown.',
  },
  {
    pattern: /ECONNREFUSED|errno 111|refused/i,
    sentence: 'the backend refused the connection',
    hint: 'Is it running, on this address and port?',
  },
  {
    pattern: /ETIMEDOUT|errno 110|connect.*timeout/i,
    sentence: 'the connection timed out',
    hint: 'See connect_timeout; a firewall may drop packets instead of rejecting them.',
  },
  {
    pattern: /ENETUNREACH|EHOSTUNREACH/i,
    sentence: 'the network of the backend is unreachable',
    hint: '',
  },
  {
    pattern: /first byte timeout/i,
    sentence: 'no response from the backend in time',
    hint: 'See first_byte_timeout.',
  },
  {
    pattern: /between bytes timeout/i,
    sentence: 'the backend stopped sending in the middle of its response',
    hint: 'See between_bytes_timeout.',
  },
  {
    pattern: /HTC eof/i,
    sentence: 'the backend closed the connection instead of answering',
    hint: 'See the log of the backend: it may have crashed.',
  },
  {
    pattern: /HTC overflow/i,
    sentence: 'the response headers are too large',
    hint: 'See http_resp_size.',
  },
  {
    pattern: /Fetch filter esi\w* failed to open/,
    sentence: 'the program enables ESI for a partial response (206), which cannot be parsed without the rest',
    hint: 'Unset bereq.http.Range in vcl_backend_fetch, or leave do_esi off where beresp.status is 206.',
  },
  { pattern: /gunzip|gzip/i, sentence: 'the compressed body is damaged', hint: '' },
  {
    pattern: /http (format|read) error|bad chunk|malformed|Invalid/i,
    sentence: 'the response is not valid HTTP',
    hint: '',
  },
  {
    pattern: /No backend|no director|backend_hint/i,
    sentence: 'no backend was selected or available',
    hint: '',
  },
  {
    pattern: /storage|space/i,
    sentence: 'no storage space for the body',
    hint: 'The Storage view (8) shows what is full.',
  },
  { pattern: /straight insufficient|eof|truncated/i, sentence: 'the response ended early', hint: '' },
  {
    pattern: /resource|Resource temporarily/i,
    sentence: 'the connection broke during the response',
    hint: '',
  },
];

export function explainFetchError(text: string): { sentence: string; hint: string } {
  return (
    // First: names in certificates may be any words.
    explainTlsError(text) ??
    FETCH_ERRORS.find((row) => row.pattern.test(text)) ?? {
      sentence: `the fetch failed: ${text}`,
      hint: '',
    }
  );
}
