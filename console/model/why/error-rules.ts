// Rules for what failed: these speak before the rules about the cache.

import { explainFetchError } from './fetch-errors.ts';
import type { Rule } from './why.ts';

export const ERROR_RULES: readonly Rule[] = [
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
      const error = request.first('VCL_Error') ?? fetch?.first('VCL_Error');
      if (error === undefined) return null;
      return {
        sentence: `The program failed: ${error.text}.`,
        evidence: [error],
        hint: 'The Programs view (5) shows its source.',
      };
    },
  },
  {
    name: 'bad-request',
    explains: 'The request was not valid HTTP, or larger than it may be.',
    try: ({ request }) => {
      if (request.status < 400 || request.status > 499 || request.step('RECV') !== undefined) return null;
      const bogus = request.first('BogoHeader') ?? request.first('HttpGarbage') ?? request.first('Error');
      const status = request.first('RespStatus');
      if (status === undefined) return null;
      return {
        sentence: `The request was refused with ${request.status} before the program saw it${bogus === undefined ? '' : `: ${bogus.text}`}.`,
        evidence: bogus === undefined ? [status] : [bogus, status],
        hint: '',
      };
    },
  },
];
