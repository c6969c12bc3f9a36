// Statuses of responses that are stored without explicit headers (http_profile=classic, as in Varnish): used by the
// daemon to decide, and by the console to explain why a response was not stored.

/** Stored for default_ttl if the headers give no lifetime. */
export const HEURISTIC_STATUSES: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 304, 404, 410, 414]);

/** Stored only if the headers give a lifetime. */
export const EXPLICIT_STATUSES: ReadonlySet<number> = new Set([302, 307]);
