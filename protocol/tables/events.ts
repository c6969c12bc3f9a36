// What happens to a daemon besides its traffic, by kinds, one row each. The manager keeps the last of each kind, and a
// console marks them on its charts.

export interface EventKindRow {
  readonly name: string;
  /** One letter, for a chart. */
  readonly mark: string;
  readonly help: string;
}

const ROWS = [
  { name: 'worker', mark: 'W', help: 'A worker started, stopped or died' },
  { name: 'panic', mark: '!', help: 'A worker panicked' },
  { name: 'program', mark: 'P', help: 'A program was loaded, used, labelled or discarded' },
  { name: 'parameter', mark: 'S', help: 'A parameter was set' },
  {
    name: 'health',
    mark: 'H',
    help: 'A backend went sick (down) or healthy (up), by its probe or by an operator',
  },
  { name: 'ban', mark: 'B', help: 'A ban was added' },
  { name: 'purges', mark: 'X', help: 'Purges at a high rate, or of many objects, began or ended' },
  { name: 'hit-rate', mark: '%', help: 'The hit rate dropped' },
  {
    name: 'turn',
    mark: 'L',
    help: 'A thread, or the manager, did one thing for a quarter of a second or longer',
  },
  { name: 'trouble', mark: 'T', help: 'Something that operators should see' },
] as const satisfies readonly EventKindRow[];

export type EventKind = (typeof ROWS)[number]['name'];

export const EVENT_KINDS: readonly (EventKindRow & { readonly name: EventKind })[] = ROWS;

/** One of them. */
export interface NotedEvent {
  /** Epoch seconds. */
  readonly at: number;
  readonly kind: EventKind;
  readonly text: string;
}
