import type { FieldKind } from '../../model/ui/field.ts';
import { EMPTY_LINE } from '../../model/ui/line-editor.ts';
import { type KeyRow, steps, type ViewContext } from '../../model/ui/view.ts';
import {
  actOnLog,
  chooseColumns,
  explain,
  followLink,
  nextGrouping,
  nextMatch,
  scroll,
  searchText,
} from './log-actions.ts';
import { chooseLikeThis, chooseSaved, editQuery } from './log-query.ts';
import type { LogAction } from './log-state.ts';
import { chooseBookmark, promptTime, showHistogram, toggleBookmark } from './log-times.ts';

/** Rows per scroll step of the detail pane. */
const SCROLL = 4;
/** Cells per horizontal scroll step. */
const SHIFT = 20;

/** Matches are highlighted while typing; Enter goes to the next one. */
const searchField = (c: ViewContext): FieldKind => ({
  kind: 'search',
  follow: (text) => actOnLog(c, { type: 'search', text }),
  accept: (text) => {
    if (text !== '') searchText(c, text);
  },
});

function search(c: ViewContext): void {
  actOnLog(c, { type: 'move', rows: 0 });
  c.fields.open(searchField(c), EMPTY_LINE);
}

function clear(c: ViewContext): void {
  c.session.log.clear();
  actOnLog(c, { type: 'end' });
}

const acts = (action: LogAction) => (c: ViewContext) => actOnLog(c, action);

export const LOG_KEYS: readonly KeyRow[] = [
  {
    keys: ['/'],
    command: 'log.query',
    help: 'Edit the query (vsl-query language)',
    hint: 'query',
    run: editQuery,
  },
  {
    keys: ['space'],
    command: 'log.pause',
    help: 'Pause or resume',
    hint: 'pause',
    run: acts({ type: 'pause' }),
  },
  {
    keys: ['F', 'f'],
    command: 'log.follow',
    spare: 'follow',
    help: 'Follow the newest',
    run: acts({ type: 'end' }),
  },
  { keys: ['up', 'k', 'wheelup'], command: 'move.up', help: 'One row up', run: steps('up') },
  { keys: ['down', 'j', 'wheeldown'], command: 'move.down', help: 'One row down', run: steps('down') },
  { keys: ['pageup', 'ctrl+b'], command: 'move.pageup', help: 'One page up', run: steps('pageup') },
  { keys: ['pagedown', 'ctrl+f'], command: 'move.pagedown', help: 'One page down', run: steps('pagedown') },
  { keys: ['home', 'g'], command: 'move.home', help: 'Oldest', run: steps('home') },
  { keys: ['end', 'G'], command: 'move.end', help: 'Newest, and follow', run: steps('end') },
  {
    keys: ['enter'],
    command: 'log.detail',
    help: 'Detail pane: why, timeline, records',
    hint: 'detail',
    ofRow: true,
    run: acts({ type: 'detail' }),
  },
  {
    keys: ['w'],
    command: 'log.why',
    help: 'Why was it a miss, a pass, an error?',
    hint: 'why',
    ofRow: true,
    run: explain,
  },
  {
    keys: ['right', 'l'],
    command: 'log.unfold',
    help: 'Unfold the tree one level',
    run: acts({ type: 'unfold' }),
  },
  {
    keys: ['left', 'h'],
    command: 'log.fold',
    help: 'Fold, or go to the parent',
    run: acts({ type: 'fold' }),
  },
  {
    keys: ['t'],
    command: 'log.unfold-all',
    spare: 'unfold all',
    help: 'Unfold or fold all',
    run: acts({ type: 'toggle-all' }),
  },
  {
    keys: ['K'],
    command: 'log.scroll-up',
    help: 'Scroll the detail pane up',
    run: (c) => scroll(c, -SCROLL),
  },
  {
    keys: ['J'],
    command: 'log.scroll-down',
    help: 'Scroll the detail pane down',
    run: (c) => scroll(c, SCROLL),
  },
  {
    keys: ['e'],
    command: 'log.next-error',
    help: 'Next error (status 5xx, FetchError)',
    hint: 'error',
    run: acts({ type: 'next-error', back: false }),
  },
  {
    keys: ['E'],
    command: 'log.previous-error',
    help: 'Previous error',
    run: acts({ type: 'next-error', back: true }),
  },
  {
    keys: ['s'],
    command: 'log.search',
    spare: 'search',
    help: 'Search for a text in all records',
    run: search,
  },
  {
    keys: ['n'],
    command: 'log.next-match',
    spare: 'next match',
    help: 'Next match',
    run: (c) => nextMatch(c, false),
  },
  { keys: ['N'], command: 'log.previous-match', help: 'Previous match', run: (c) => nextMatch(c, true) },
  {
    keys: ['>'],
    command: 'log.link',
    spare: 'link',
    help: 'Jump along the link: backend request, object',
    ofRow: true,
    run: followLink,
  },
  {
    keys: ['<'],
    command: 'log.link-back',
    help: 'Jump back',
    run: acts({ type: 'jump-back' }),
  },
  {
    keys: ['='],
    command: 'log.like-this',
    spare: 'like this',
    help: 'Filter by the selected row',
    ofRow: true,
    run: chooseLikeThis,
  },
  {
    keys: ['ctrl+r'],
    command: 'log.saved',
    spare: 'queries',
    help: 'Saved and recent queries',
    run: chooseSaved,
  },
  {
    keys: ['r'],
    command: 'log.grouping',
    spare: 'grouping',
    help: 'Grouping: request, session, vxid',
    run: nextGrouping,
  },
  {
    keys: ['I'],
    command: 'log.histogram',
    spare: 'over time',
    help: 'The log over time: groups and errors; Enter goes there',
    run: showHistogram,
  },
  {
    keys: ['"'],
    command: 'log.time',
    spare: 'go to time',
    help: 'Go to a time: HH:MM:SS, or -5m before now',
    run: promptTime,
  },
  {
    keys: [';'],
    command: 'log.bookmark',
    help: 'Set a bookmark, or remove it',
    ofRow: true,
    run: toggleBookmark,
  },
  {
    keys: ["'"],
    command: 'log.bookmarks',
    help: 'List the bookmarks; Enter goes there',
    run: chooseBookmark,
  },
  { keys: ['Z'], command: 'log.clear', spare: 'clear', help: 'Clear the log on screen', run: clear },
  {
    keys: ['}'],
    command: 'log.right',
    help: 'Scroll right in long URLs and records',
    run: acts({ type: 'shift', cells: SHIFT }),
  },
  {
    keys: ['{'],
    command: 'log.left',
    help: 'Scroll back left',
    run: acts({ type: 'shift', cells: -SHIFT }),
  },
  {
    keys: ['c'],
    command: 'log.columns',
    spare: 'columns',
    help: 'Columns: host, client, backend, user agent',
    run: chooseColumns,
  },
];
