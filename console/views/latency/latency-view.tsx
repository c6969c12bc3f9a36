// The latency view: how long requests took, hits apart from the rest, and how that went over the last minutes.

import type { Quantity } from '../../model/latency-meter.ts';
import { type StateSlot, stateOf } from '../../model/ui-state.ts';
import { PLAIN_VIEW, type View } from '../../model/view.ts';
import { drill, filterLog } from '../log/log-view.tsx';
import { countersText } from '../stats/counters-text.ts';
import { LatencyScreen } from './latency-screen.tsx';

/** In the order of the key that changes it. */
const QUANTITIES: readonly Quantity[] = ['all', 'hits', 'others'];

const QUANTITY: StateSlot<Quantity> = { initial: 'all', carry: (quantity) => quantity };

const COPIED = [0.5, 0.9, 0.95, 0.99] as const;

export const LATENCY_VIEW: View = {
  ...PLAIN_VIEW,
  name: 'latency',
  key: '0',
  title: 'Latency',
  short: 'Latency',
  brief: 'Lat',
  keys: [
    {
      keys: ['t'],
      command: 'latency.next',
      help: 'Next quantity',
      hint: 'quantity',
      run: (c) => {
        const at = QUANTITIES.indexOf(c.stateOf(QUANTITY));
        c.setState(QUANTITY, QUANTITIES[(at + 1) % QUANTITIES.length] as Quantity);
      },
    },
    {
      keys: ['Z'],
      command: 'latency.clear',
      spare: 'zero',
      help: 'Count from zero',
      run: (c) => c.session.sample.clearLatency(c.session.now()),
    },
    {
      keys: ['enter'],
      command: 'latency.open',
      help: 'The slowest hundredth, in the log',
      hint: 'slowest',
      run: (c) => {
        const slow = c.session.sample.latency.slowest(0.99);
        if (slow === null) c.notify('warn', 'no traffic yet');
        else drill(c, `Timestamp:Process[2] > ${roundedDown(slow.above)}`, slow.since);
      },
    },
    { keys: ['/'], command: 'latency.filter', help: 'Filter: the query of the log', run: filterLog },
  ],
  state: QUANTITY,
  copy: (c) => {
    const { latency } = c.session.sample;
    c.copy(COPIED.map((p) => `p${p * 100}\t${latency.percentile(p) ?? ''}`).join('\n'), 'the figures');
  },
  export: (c, json) => countersText(c.session.counters.all(), json),
  screen: (props) => <LatencyScreen {...props} quantity={stateOf(props.ui, QUANTITY)} />,
};

/** Seconds with three digits: rounded to the nearest, some of the slowest would be left out. */
function roundedDown(seconds: number): string {
  return seconds === 0 ? '0' : (seconds * 0.995).toPrecision(3);
}
