// The views of the console, one row each: name, key, titles. Header, Tab order, palette, help and documentation
// read it. A view of kind `list` has a definition in lists/ and needs nothing else: the list screen draws it.

export const VIEWS = [
  { name: 'dashboard', key: '1', title: 'Dashboard', short: 'Dash', brief: 'Dash', kind: 'own' },
  { name: 'log', key: '2', title: 'Log', short: 'Log', brief: 'Log', kind: 'own' },
  { name: 'stats', key: '3', title: 'Statistics', short: 'Stats', brief: 'Stats', kind: 'own' },
  { name: 'backends', key: '4', title: 'Backends', short: 'Backends', brief: 'Back', kind: 'list' },
  { name: 'programs', key: '5', title: 'Programs', short: 'Programs', brief: 'Prog', kind: 'list' },
  { name: 'parameters', key: '6', title: 'Parameters', short: 'Params', brief: 'Param', kind: 'list' },
  { name: 'bans', key: '7', title: 'Bans and tags', short: 'Bans', brief: 'Bans', kind: 'list' },
  { name: 'storage', key: '8', title: 'Storage', short: 'Storage', brief: 'Stor', kind: 'list' },
  { name: 'top', key: '9', title: 'Top', short: 'Top', brief: 'Top', kind: 'list' },
  { name: 'latency', key: '0', title: 'Latency', short: 'Latency', brief: 'Lat', kind: 'own' },
  { name: 'panics', key: '!', title: 'Panics', short: 'Panics', brief: 'Pan', kind: 'list' },
] as const satisfies readonly ViewRow[];

interface ViewRow {
  name: string;
  key: string;
  title: string;
  /** For narrow terminals. */
  short: string;
  /** For terminals of eighty cells. */
  brief: string;
  kind: 'own' | 'list';
}

export type ViewName = (typeof VIEWS)[number]['name'];
export type ListViewName = Extract<(typeof VIEWS)[number], { kind: 'list' }>['name'];

export const VIEW_NAMES: readonly ViewName[] = VIEWS.map((v) => v.name);

export function viewRow(name: ViewName): (typeof VIEWS)[number] {
  return VIEWS.find((v) => v.name === name) as (typeof VIEWS)[number];
}

export function isListView(name: ViewName): name is ListViewName {
  return viewRow(name).kind === 'list';
}
