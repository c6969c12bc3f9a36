// The states of a request, of a fetch and of a program's life, each with a sub of the program. The id of a state is
// its position in this list: append only.

interface StateRow {
  /** Without `vcl_`. */
  name: string;
  /** Its group; null for the life of the program. */
  side: 'client' | 'backend' | null;
  /** When it runs, and its purpose. */
  help: string;
}

const row = <N extends string, S extends StateRow['side']>(name: N, side: S, help: string) => ({
  name,
  side,
  help,
});

// biome-ignore format: a row is a line
export const STATES = [
  row('recv', 'client',
    'A request has been read, or begins again after a restart. Clean it up, choose a backend, and decide whether it is looked up, passed, piped or answered at once.'),
  row('pipe', 'client', 'The request is about to become a tunnel of bytes between client and backend. Change what is sent to the backend in bereq.'),
  row('pass', 'client', 'The request goes to the backend, and its response is not kept.'),
  row('hash', 'client', 'Makes the key of the object: everything given to hash_data() is part of it. Runs after vcl_recv.'),
  row('purge', 'client', 'The object and its variants have been removed. Decides how the client is answered.'),
  row('miss', 'client', 'No usable object was found, and it is about to be fetched.'),
  row('hit', 'client', 'An object was found; obj describes it. It may be in grace.'),
  row('deliver', 'client', 'A response is about to be sent. Changes of resp are for this client only.'),
  row('synth', 'client', 'A response is made here, after return (synth(…)) or a failure. Fill resp.'),
  row('backend_fetch', 'backend', 'A request is about to be sent to a backend; bereq can be changed.'),
  row('backend_response', 'backend', 'The head of a response has arrived. Decides whether and for how long it is kept; changes of beresp are stored.'),
  row('backend_error', 'backend', 'No response could be fetched, or return (error(…)) asked for one. Fill beresp; it can be cached like a fetched one.'),
  row('init', null, 'The program has been loaded. Make objects with new; nothing can be fetched yet.'),
  row('fini', null, 'The program is being discarded, and no request uses it any more.'),
  row('backend_refresh', 'backend',
    'The origin has confirmed a stale object with a 304; obj_stale describes it. Decides which headers the object has from now on. Runs with varnish_release=9.0, and where a program has this sub or adds to those that the builtin one calls here.'),
] as const;
