// Of which statuses a response is kept where nothing but its headers says so (http_profile=classic, as in Varnish): the
// daemon judges by it, and the console explains by it what was not kept. Short, so that both have one list.

/** Kept for default_ttl where the headers give no lifetime. */
export const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 304, 404, 410, 414]);

/** Kept only where the headers give a lifetime. */
export const EXPLICIT_STATUSES: ReadonlySet<number> = new Set([302, 307]);
