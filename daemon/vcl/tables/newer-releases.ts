// Parts of the language that newer releases of Varnish have removed or made read-only: the checker refuses them in
// programs that follow such a release, and lint rules name them in others.
// Sources: upgrade notes of 7.7, 8.0 and 9.0; "protected headers" in vcl-var(7) of 7.7.

import type { Changes } from '../../../protocol/tables/release-changes.ts';

/** Functions that are gone since 8.0, by extension and name: what to write in their place. */
export const REMOVED_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ['std.real2integer', 'std.integer(real=std.round(…), fallback=…)'],
  ['std.real2time', 'std.time(real=std.round(…), fallback=…)'],
  ['std.time2integer', 'std.integer(time=…, fallback=…)'],
  ['std.time2real', 'std.real(time=…, fallback=…)'],
  ['cookie.format_rfc1123', 'cookie.format_date(…)'],
]);

interface Removal {
  /** The change that takes it away. */
  readonly change: keyof Changes;
  readonly instead: string;
}

/** Variables that are gone. */
export const REMOVED_VARIABLES: ReadonlyMap<string, Removal> = new Map([
  ['beresp.storage_hint', { change: 'storageHint', instead: 'beresp.storage = storage.NAME' }],
] as const);

interface Narrowing extends Pick<Removal, 'change'> {
  /** Places in which it can still be read, as in protocol/tables/variables.ts. */
  readonly read: string;
}

/** Variables that can be read in fewer states. */
export const NARROWED_VARIABLES: ReadonlyMap<string, Narrowing> = new Map([
  ['req.is_hitmiss', { change: 'markerScopes', read: 'miss deliver pass synth' }],
  ['req.is_hitpass', { change: 'markerScopes', read: 'pass deliver synth' }],
] as const);

/** Headers that a program may not set or unset: core alone knows how a body is framed. */
export const PROTECTED_FIELDS: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
