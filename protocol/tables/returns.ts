// The actions of `return (…)`: the states in which each is legal, and its arguments. A state's result is an index into
// this list, so rows are append only; row 0 is "no return", which a sub uses to continue in its caller.

export interface ReturnRow {
  name: string;
  /** States (without `vcl_`) that may return it. */
  states: readonly string[];
  /** Arguments: none, `(status [, reason])` with or without a default, `(duration)`, `(message)`, `(label)`. */
  args: 'none' | 'status' | 'optional-status' | 'optional-duration' | 'optional-message' | 'label';
  help: string;
}

const CLIENT = ['recv', 'pipe', 'pass', 'hash', 'purge', 'miss', 'hit', 'deliver', 'synth'] as const;
const BACKEND = ['backend_fetch', 'backend_response', 'backend_error'] as const;

export const RETURNS = [
  { name: '', states: [], args: 'none', help: 'No return: the calling sub continues.' },
  {
    name: 'abandon',
    states: BACKEND,
    args: 'none',
    help: 'Give up the fetch; the client gets a 503 unless the fetch ran in the background.',
  },
  {
    name: 'deliver',
    states: ['hit', 'deliver', 'synth', 'backend_response', 'backend_error'],
    args: 'none',
    help: 'Continue with the response at hand: towards the client, or from a fetch into the cache.',
  },
  {
    name: 'error',
    states: ['backend_fetch', 'backend_response'],
    args: 'optional-status',
    help: 'Continue in vcl_backend_error with this status and reason, 503 by default.',
  },
  {
    name: 'fail',
    states: [...CLIENT, ...BACKEND, 'init'],
    args: 'optional-message',
    help: 'Fail this transaction, or the load of the program in vcl_init.',
  },
  { name: 'fetch', states: ['miss', 'pass', 'backend_fetch'], args: 'none', help: 'Ask the backend.' },
  { name: 'hash', states: ['recv'], args: 'none', help: 'Look the object up in the cache.' },
  { name: 'lookup', states: ['hash'], args: 'none', help: 'The key is complete: look up.' },
  { name: 'ok', states: ['init', 'fini'], args: 'none', help: 'Loading or unloading may continue.' },
  {
    name: 'pass',
    states: ['recv', 'miss', 'hit', 'backend_response'],
    args: 'optional-duration',
    help: 'Fetch without the cache; from vcl_backend_response, keep a marker that makes requests pass for the given time.',
  },
  {
    name: 'pipe',
    states: ['recv', 'pipe'],
    args: 'none',
    help: 'Copy bytes both ways without reading them.',
  },
  { name: 'purge', states: ['recv'], args: 'none', help: 'Remove the object and its variants.' },
  {
    name: 'restart',
    states: ['pass', 'purge', 'miss', 'hit', 'deliver', 'synth', 'recv'],
    args: 'none',
    help: 'Begin again at vcl_recv, with the request as it is now.',
  },
  {
    name: 'retry',
    states: ['backend_response', 'backend_error'],
    args: 'none',
    help: 'Fetch again, from vcl_backend_fetch.',
  },
  {
    name: 'synth',
    states: ['recv', 'pipe', 'pass', 'purge', 'miss', 'hit', 'deliver'],
    args: 'status',
    help: 'Answer from vcl_synth with this status and reason.',
  },
  {
    name: 'vcl',
    states: ['recv'],
    args: 'label',
    help: 'Hand the request to the program that a label names.',
  },
] as const satisfies readonly ReturnRow[];

export type ReturnName = Exclude<(typeof RETURNS)[number]['name'], ''>;

/** Codes by name: `RETURN.hash`. */
export const RETURN: { readonly [N in ReturnName]: number } = Object.fromEntries(
  RETURNS.flatMap((row, code) => (row.name === '' ? [] : [[row.name, code]])),
) as Record<ReturnName, number>;
