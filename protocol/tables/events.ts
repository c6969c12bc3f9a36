// Kinds of events of a daemon besides its traffic, one row each. The manager keeps the last ones of each kind, and a
// console marks them on its charts.

export interface EventKindRow {
  readonly name: string;
  /** One letter, for a chart. */
  readonly mark: string;
  readonly help: string;
}

function row<const N extends string>(
  name: N,
  mark: string,
  help: string,
): EventKindRow & { readonly name: N } {
  return { name, mark, help };
}

// biome-ignore format: a row is a line
const ROWS = [
  row('worker', 'W', 'A worker started, stopped or died'),
  row('panic', '!', 'A worker panicked'),
  row('program', 'P', 'A program was loaded, used, labelled or discarded'),
  row('parameter', 'S', 'A parameter was set'),
  row('health', 'H', 'A backend went sick (down) or healthy (up), by its probe or by an operator'),
  row('ban', 'B', 'A ban was added'),
  row('purges', 'X', 'Purges at a high rate, or of many objects, began or ended'),
  row('evictions', 'E', 'Evictions of objects to make room began or ended'),
  row('hit-rate', '%', 'The hit rate dropped'),
  row('passes', 'F', 'The share of requests that pass the cache by rose'),
  row('tls', 'C', 'Certificates were loaded, could not be loaded, or expire'),
  row('turn', 'L', 'A thread, or the manager, did one thing for a quarter of a second or longer'),
  row('trouble', 'T', 'Something that operators should see'),
] as const satisfies readonly EventKindRow[];

export type EventKind = (typeof ROWS)[number]['name'];

export const EVENT_KINDS: readonly (EventKindRow & { readonly name: EventKind })[] = ROWS;

/** Events of a kind that the manager keeps (chosen): the oldest go first. */
export const KEPT_OF_A_KIND = 200;

/** One event. */
export interface NotedEvent {
  /** Epoch seconds. */
  readonly at: number;
  readonly kind: EventKind;
  readonly text: string;
}
