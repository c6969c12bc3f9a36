// The statistics view, with the keys and columns of varnishstat. Enter opens the subject of a counter.

import { copyText } from '../../model/ui/copy-export.ts';
import { type Place, stepAction } from '../../model/ui/layout.ts';
import { pushView } from '../../model/ui/navigation.ts';
import { stateOf } from '../../model/ui/ui-state.ts';
import { PLAIN_VIEW, type View, type ViewContext } from '../../model/ui/view.ts';
import { BACKENDS_VIEW } from '../backends/backends-view.ts';
import { BANS_VIEW } from '../bans/bans-view.ts';
import { drill, LOG_VIEW } from '../log/log-view.tsx';
import { PANICS_VIEW } from '../panics/panics-view.ts';
import { PROGRAMS_VIEW } from '../programs/programs-view.ts';
import { STORAGE_VIEW } from '../storage/storage-view.ts';
import { actOnStats, selectedCounter, statKeys } from './stat-keys.ts';
import { countersText } from './stat-rows.ts';
import { cursorIndex, STAT_STATE, statListRows, statTop, visibleCounters } from './stat-state.ts';
import { StatsScreen } from './stats-screen.tsx';

export const STATS_VIEW: View = {
  ...PLAIN_VIEW,
  name: 'stats',
  key: '3',
  title: 'Statistics',
  short: 'Stats',
  brief: 'Stat',
  keys: statKeys(openCounter),
  state: STAT_STATE,
  move: (c, step) => actOnStats(c, stepAction(step, statListRows(c.ui.size))),
  back: (c) => {
    if (c.ui.stateOf(STAT_STATE).filter === '') return false;
    actOnStats(c, { type: 'filter', text: '' });
    return true;
  },
  click,
  copy: (c) => {
    const counter = selectedCounter(c);
    copyText(c, counter === undefined ? '' : `${counter.info.name} ${counter.current}`, 'the counter');
  },
  export: (c, json) =>
    countersText(visibleCounters(c.ui.stateOf(STAT_STATE), c.session.counters.all()), json),
  spokenRow: (c) => {
    const counter = selectedCounter(c);
    return counter === undefined || c.ui.stateOf(STAT_STATE).selected === ''
      ? ''
      : `${counter.info.name}, ${counter.info.description}`;
  },
  screen: (props) => <StatsScreen {...props} state={stateOf(props.ui, STAT_STATE)} />,
};

/** The subject of a counter, as a log query or a view. */
const COUNTED: readonly (readonly [RegExp, string | View])[] = [
  [/^MAIN\.cache_hit$/, 'VCL_call eq "HIT"'],
  [/^MAIN\.cache_miss$/, 'VCL_call eq "MISS"'],
  [/^MAIN\.cache_hitmiss$/, 'HitMiss'],
  [/^MAIN\.cache_hitpass$/, 'HitPass'],
  [/^MAIN\.s_pass$/, 'VCL_call eq "PASS"'],
  [/^MAIN\.s_pipe/, 'VCL_call eq "PIPE"'],
  [/^MAIN\.s_synth$/, 'VCL_call eq "SYNTH"'],
  [/^MAIN\.(fetch_failed|backend_fail|backend_unhealthy|backend_busy)$/, 'FetchError'],
  [/^MAIN\.(client_req|s_sess|sess_conn|s_fetch|backend_req)$/, LOG_VIEW],
  [/^MAIN\.(n_object|n_expired|n_lru)|^SM[AF]\./, STORAGE_VIEW],
  [/^MAIN\.(bans|n_purge|n_obj_purged)/, BANS_VIEW],
  [/^MAIN\.(n_vcl|vcl_)/, PROGRAMS_VIEW],
  [/^(VBE|MAIN\.(n_backend|backend_))/, BACKENDS_VIEW],
  [/^MGT\.child_/, PANICS_VIEW],
];

function openCounter(c: ViewContext) {
  const name = selectedCounter(c)?.info.name ?? '';
  const to = COUNTED.find(([pattern]) => pattern.test(name))?.[1];
  if (to === undefined) return c.ui.notify('info', `nothing to show for ${name}`);
  if (typeof to === 'string') drill(c, to);
  else pushView(c, to);
}

/** Rows on screen: two of uptimes, the heading, the list. */
function click(c: ViewContext, { y }: Place) {
  const height = statListRows(c.ui.size);
  if (y === 2) return actOnStats(c, { type: 'sort' });
  if (y < 3 || y >= 3 + height) return;
  const state = c.ui.stateOf(STAT_STATE);
  const visible = visibleCounters(state, c.session.counters.all());
  const at = cursorIndex(state, visible);
  const to = statTop(state, at, height) + y - 3;
  if (to >= visible.length) return;
  if (to === at && state.selected !== '') openCounter(c);
  else actOnStats(c, { type: 'move', rows: to - at });
}
