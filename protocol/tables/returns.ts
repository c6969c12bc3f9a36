// The actions of `return (…)`: the states in which each is legal, and its arguments. A state's result is an index
// into this list, so rows are append only; row 0 is "no return", which a sub uses to continue in its caller.

export interface ReturnRow {
  name: string;
  /** States (without `vcl_`) that may return it. */
  states: readonly string[];
  /** Arguments: none, `(status [, reason])` with or without a default, `(duration)`, `(message)`, `(label)`. */
  args: 'none' | 'status' | 'optional-status' | 'optional-duration' | 'optional-message' | 'label';
  help: string;
}

const CLIENT = ['recv', 'pipe', 'pass', 'hash', 'purge', 'miss', 'hit', 'deliver', 'synth'] as const;
const BACKEND = ['backend_fetch', 'backend_refresh', 'backend_response', 'backend_error'] as const;

function row<const N extends string>(
  name: N,
  states: readonly string[],
  args: ReturnRow['args'],
  help: string,
): ReturnRow & { readonly name: N } {
  return { name, states, args, help };
}

// biome-ignore format: a row is a line
export const RETURNS = [
  row('', [], 'none', 'No return: the calling sub continues.'),
  row('abandon', BACKEND, 'none', 'Give up the fetch; the client gets a 503 unless the fetch ran in the background.'),
  row('deliver', ['hit', 'deliver', 'synth', 'backend_response', 'backend_error'], 'none',
    'Continue with the response at hand: towards the client, or from a fetch into the cache.'),
  row('error', ['backend_fetch', 'backend_refresh', 'backend_response'], 'optional-status', 'Continue in vcl_backend_error with this status and reason, 503 by default.'),
  row('fail', [...CLIENT, ...BACKEND, 'init'], 'optional-message', 'Fail this transaction, or the load of the program in vcl_init.'),
  row('fetch', ['miss', 'pass', 'backend_fetch'], 'none', 'Ask the backend.'),
  row('hash', ['recv'], 'none', 'Look the object up in the cache.'),
  row('lookup', ['hash'], 'none', 'The key is complete: look up.'),
  row('ok', ['init', 'fini'], 'none', 'Loading or unloading may continue.'),
  row('pass', ['recv', 'miss', 'hit', 'backend_response'], 'optional-duration',
    'Fetch without the cache; from vcl_backend_response, keep a marker that makes requests pass for the given time.'),
  row('pipe', ['recv', 'pipe'], 'none', 'Copy bytes both ways without reading them.'),
  row('purge', ['recv'], 'none', 'Remove the object and its variants.'),
  row('restart', ['pass', 'purge', 'miss', 'hit', 'deliver', 'synth', 'recv'], 'none', 'Begin again at vcl_recv, with the request as it is now.'),
  row('retry', ['backend_refresh', 'backend_response', 'backend_error'], 'none', 'Fetch again, from vcl_backend_fetch.'),
  row('synth', ['recv', 'pipe', 'pass', 'purge', 'miss', 'hit', 'deliver'], 'status', 'Answer from vcl_synth with this status and reason.'),
  row('vcl', ['recv'], 'label', 'Hand the request to the program that a label names.'),
  row('merge', ['backend_refresh'], 'none', 'The headers of the 304, and of the stale object those that the 304 lacks (RFC 9111 section 4.3.4).'),
  row('obj_stale', ['backend_refresh'], 'none', 'The headers of the stale object, and none of the 304.'),
  row('beresp', ['backend_refresh'], 'none',
    'The headers of beresp as they are; Content-Length and Content-Encoding are those of the stale object, and so are its ETag and Last-Modified if it has them.'),
] as const satisfies readonly ReturnRow[];

export type ReturnName = Exclude<(typeof RETURNS)[number]['name'], ''>;

/** Codes by name: `RETURN.hash`. */
export const RETURN: { readonly [N in ReturnName]: number } = Object.fromEntries(
  RETURNS.flatMap((row, code) => (row.name === '' ? [] : [[row.name, code]])),
) as Record<ReturnName, number>;
