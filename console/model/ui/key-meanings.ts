// The meaning of each key in all views, and the exceptions with their reasons: the last part of a command's name is its
// meaning. A test holds the key tables to this, and the page of keys shows it.

export interface KeyMeaning {
  keys: readonly string[];
  means: string;
  commands: readonly string[];
}

/** Keys of several commands. */
export const KEY_MEANINGS: readonly KeyMeaning[] = [
  { keys: ['up', 'k', 'wheelup'], means: 'up', commands: ['up', 'previous'] },
  { keys: ['down', 'j', 'wheeldown'], means: 'down', commands: ['down', 'next'] },
  { keys: ['left', 'h'], means: 'left, or fold', commands: ['previous', 'fold', 'left'] },
  { keys: ['right', 'l'], means: 'right, or unfold', commands: ['next', 'unfold', 'right'] },
  { keys: ['enter'], means: 'open the row under the cursor', commands: ['open', 'detail', 'choose'] },
  { keys: ['/'], means: 'show only matches', commands: ['filter', 'query', 'search'] },
  { keys: ['e'], means: 'errors', commands: ['errors', 'next-error'] },
  { keys: ['q'], means: 'quit the console, or close the panel', commands: ['quit', 'back'] },
  { keys: ['?'], means: 'help, or close it', commands: ['help', 'back'] },
  { keys: ['s'], means: 'set: health, state, value', commands: ['sick', 'state', 'set'] },
  { keys: ['R'], means: 'repeat: refetch, retry', commands: ['refetch', 'retry'] },
  { keys: ['ctrl+t'], means: 'refresh from the daemon', commands: ['sample', 'refresh'] },
  {
    keys: ['delete', 'ctrl+d'],
    means: 'remove',
    commands: ['discard', 'reset', 'clear', 'drop'],
  },
];

export interface KeyException {
  keys: readonly string[];
  /** The command with another meaning. */
  command: string;
  reason: string;
}

const VARNISHSTAT = 'the statistics have the keys of varnishstat, which their users know by heart';

export const KEY_EXCEPTIONS: readonly KeyException[] = [
  { keys: ['0'], command: 'stats/stats.reset', reason: VARNISHSTAT },
  { keys: ['b'], command: 'stats/move.pageup', reason: VARNISHSTAT },
  { keys: ['d'], command: 'stats/stats.unseen', reason: VARNISHSTAT },
  { keys: ['e'], command: 'stats/stats.scale', reason: VARNISHSTAT },
  { keys: ['h'], command: 'stats/help', reason: VARNISHSTAT },
  { keys: ['r'], command: 'stats/stats.raw', reason: VARNISHSTAT },
  { keys: ['v'], command: 'stats/stats.more', reason: VARNISHSTAT },
  { keys: ['V'], command: 'stats/stats.less', reason: VARNISHSTAT },
  { keys: ['h'], command: 'panel/back', reason: 'closes the help that h opened' },
  {
    keys: ['h'],
    command: 'backends/backends.healthy',
    reason: 'healthy, beside s for sick and a for auto; a list has no left',
  },
  {
    keys: ['L'],
    command: 'storage/storage.largest',
    reason: 'the largest objects; a storage has no source to check',
  },
  { keys: ['a'], command: 'backends/backends.auto', reason: 'the third word of backend.set_health' },
  { keys: ['l'], command: 'programs/programs.load', reason: 'load, beside u for use; a list has no right' },
  {
    keys: ['e'],
    command: 'programs/programs.edit',
    reason: 'edit, as in other tools; a list of programs has no errors to go to',
  },
  {
    keys: ['space'],
    command: 'log/log.pause',
    reason: 'the log scrolls by itself: pausing it is the first need',
  },
  {
    keys: ['s'],
    command: 'log/log.search',
    reason: 'search, with n and N; a row of the log has nothing to set',
  },
  { keys: ['w'], command: 'log/log.why', reason: 'why? for one request; there is no period' },
  {
    keys: ['c'],
    command: 'log/log.columns',
    reason: 'columns, such as the client; rows are requests',
  },
  {
    keys: ['c'],
    command: 'parameters/parameters.changed',
    reason: 'only changed ones; parameters have no clients',
  },
  { keys: ['t'], command: 'log/log.unfold-all', reason: 'the whole tree; the log has one kind of rows' },
  { keys: ['T'], command: 'programs/programs.try', reason: 'try; the list has no rankings' },
  { keys: ['t'], command: 'bans/bans.tag', reason: 'tag; the list has one kind of rows' },
];
