// Members of the objects that proxylog-json -g probe writes, one for each Backend_health record, and their facts.

import type { ObjectField } from './object-fields.ts';

/** Fields of the record, in its order. */
export interface ProbeFacts {
  readonly name: string;
  readonly event: string;
  readonly state: string;
  readonly bits: string;
  readonly good: number;
  readonly threshold: number;
  readonly window: number;
  readonly seconds: number;
  readonly average: number;
  readonly answer: string;
}

/** `name Went|Still|Back healthy|sick bits good threshold window seconds average answer`; null for anything else. */
export function probeFacts(text: string): ProbeFacts | null {
  const fields = text.split(' ');
  const [name = '', event = '', state = '', bits = '', ...rest] = fields;
  const [good = 0, threshold = 0, window = 0, seconds = 0, average = 0] = rest.slice(0, 5).map(Number);
  if (rest.length < 5 || rest.slice(0, 5).some((n) => n === '' || !Number.isFinite(Number(n)))) return null;
  const answer = rest
    .slice(5)
    .join(' ')
    .replace(/^"(.*)"$/, '$1');
  return { name, event, state, bits, good, threshold, window, seconds, average, answer };
}

const TAG = ['Backend_health'] as const;

export const PROBE_FIELDS: readonly ObjectField<ProbeFacts>[] = [
  {
    path: 'name',
    type: 'string',
    tags: TAG,
    always: true,
    help: 'Name of the backend.',
    value: (f) => f.name,
  },
  {
    path: 'event',
    type: 'string',
    tags: TAG,
    always: true,
    help: '`Went` when the state changed, `Back` when it did so for the better, `Still` when it did not.',
    value: (f) => f.event,
  },
  {
    path: 'state',
    type: 'string',
    tags: TAG,
    always: true,
    help: '`healthy` or `sick`.',
    value: (f) => f.state,
  },
  {
    path: 'window.bits',
    type: 'string',
    tags: TAG,
    always: true,
    help: 'What was good or wrong, a letter each: `4`, `6` or `U` connected, `X` sent, `R` received, `H` as expected; `x` and `r` are errors.',
    value: (f) => f.bits,
  },
  {
    path: 'window.good',
    type: 'number',
    tags: TAG,
    always: true,
    help: 'Good probes among the last ones.',
    value: (f) => f.good,
  },
  {
    path: 'window.threshold',
    type: 'number',
    tags: TAG,
    always: true,
    help: 'How many have to be good.',
    value: (f) => f.threshold,
  },
  {
    path: 'window.size',
    type: 'number',
    tags: TAG,
    always: true,
    help: 'How many count.',
    value: (f) => f.window,
  },
  {
    path: 'responseTime',
    type: 'number',
    tags: TAG,
    always: true,
    help: 'Seconds that this probe took.',
    value: (f) => f.seconds,
  },
  {
    path: 'averageTime',
    type: 'number',
    tags: TAG,
    always: true,
    help: 'Average of the good ones, in seconds.',
    value: (f) => f.average,
  },
  {
    path: 'answer',
    type: 'string',
    tags: TAG,
    always: true,
    help: 'First line of the answer, or the error.',
    value: (f) => f.answer,
  },
];
