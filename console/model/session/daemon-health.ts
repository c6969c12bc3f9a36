// Health of the daemon for the header and the screen reader: the connection, the state of the worker and its duration,
// and the resource usage of both processes. Only data of the last seconds counts: figures of a worker that is not
// running are stale and left out, and silence is a state of its own.

import { WORKER_STATES, type WorkerStatus } from '../../../protocol/tables/counters.ts';
import type { CounterHistory } from '../counters/counter-history.ts';
import { type DaemonSession, SILENCE } from './daemon-session.ts';

export type HealthState =
  | 'connecting'
  /** Connected, without data yet. */
  | 'waiting'
  /** Connected; the counters on screen are from the daemon's history, or from before the connection was lost. */
  | 'only past'
  | 'cut off'
  | 'daemon silent'
  | 'worker silent'
  /** Only some of the worker's threads are silent. */
  | 'threads silent'
  /** The daemon does not report the state of its worker. */
  | 'unknown'
  | WorkerStatus;

export interface ProcessFigures {
  /** CPUs in use: 1 is one of them. */
  cpu: number;
  rss: number;
}

export interface Health {
  state: HealthState;
  /** Epoch seconds of its beginning; null if unknown. */
  since: number | null;
  /** Names of the silent threads, while others are not. */
  silent: readonly string[];
  /** Workers started after the first, null before any counters; and workers that ended unexpectedly. */
  restarts: number | null;
  deaths: number;
  /** Log records that this console lost. */
  lost: number;
  /** The worst event loop delay of a thread in the last second, in seconds; null without a worker, and in Varnish. */
  lag: number | null;
  worker: ProcessFigures | null;
  manager: ProcessFigures | null;
}

/** No figure is of this connection. */
const BEFORE_VALUES: ReadonlySet<HealthState> = new Set(['connecting', 'waiting', 'only past', 'cut off']);

export function readHealth(session: DaemonSession): Health {
  const { counters } = session;
  const { state, since, silent = [] } = statusOf(session);
  const connected = !BEFORE_VALUES.has(state);
  const figure = (name: string): number => Number(counters.value(name));
  const uses = (prefix: string): ProcessFigures | null =>
    counters.get(`${prefix}.cpu`) === undefined
      ? null
      : { cpu: figure(`${prefix}.cpu`) / 1000, rss: figure(`${prefix}.rss_bytes`) };
  const runs =
    state === 'running' || state === 'unknown' || state === 'stopping' || state === 'threads silent';
  const lags = [
    ...(counters.get('WRK.loop_lag_us') === undefined ? [] : [figure('WRK.loop_lag_us') / 1e6]),
    ...counters.threads.map((thread) => threadDelay(counters, thread)),
  ];
  return {
    state,
    since,
    silent,
    restarts:
      counters.samples === 0
        ? null
        : Math.max(0, figure('MGT.child_start') - (session.source.parts?.length ?? 1)),
    deaths: figure('MGT.child_stop') + figure('MGT.child_died'),
    lost: session.lostRecords,
    lag: runs && lags.length > 0 ? Math.max(...lags) : null,
    worker: runs ? uses('WRK') : null,
    manager: connected && state !== 'daemon silent' ? uses('MGT') : null,
  };
}

/** Whether there is no worker, and with it neither figures nor cache. */
export function hasNoWorker(session: DaemonSession): boolean {
  return ['starting', 'stopped', 'no program', 'dead, to be replaced', 'dead'].includes(
    statusOf(session).state,
  );
}

/** Delay of a thread's event loop in seconds: the maximum of the last second, or the duration of its silence. */
export function threadDelay(counters: CounterHistory, thread: string): number {
  const figure = (name: string): number => Number(counters.value(`THR.${thread}.${name}`));
  return Math.max(figure('loop_lag_us') / 1e6, figure('silent'));
}

/** Whether the counters are those of a worker that started within these seconds, and has had requests. */
function hasServed(counters: CounterHistory, seconds: number): boolean {
  const uptime = counters.get('MAIN.uptime');
  return (
    uptime !== undefined && Number(uptime.current) <= seconds + 1 && counters.value('MAIN.client_req') > 0n
  );
}

function statusOf(session: DaemonSession): {
  state: HealthState;
  since: number | null;
  silent?: readonly string[];
} {
  const { connection, counters, valuesAt } = session;
  if (session.cutOff) return { state: 'cut off', since: session.everUp ? session.lastDataAt : null };
  if (connection.state !== 'up') return { state: 'connecting', since: null };
  if (valuesAt === 0) return { state: counters.samples > 0 ? 'only past' : 'waiting', since: null };
  if (session.isSilent) return { state: 'daemon silent', since: valuesAt };
  const state = counters.get('MGT.worker_state');
  if (state === undefined) {
    if (session.source.product === undefined) return { state: 'unknown', since: null };
    // Varnish has the uptime of a child only while there is one.
    const uptime = counters.get('MAIN.uptime');
    return uptime === undefined
      ? { state: 'stopped', since: null }
      : { state: 'running', since: valuesAt - Number(uptime.current) };
  }
  const silent = Number(counters.value('MGT.worker_silent'));
  const reported = WORKER_STATES[Number(state.current)] ?? 'unknown';
  if (reported === 'running' && silent >= SILENCE) {
    // The first thread reports the silence of the others, unless it is silent itself.
    const seconds = (thread: string): number => Number(counters.value(`THR.${thread}.silent`));
    const threads = counters.threads.filter((thread) => seconds(thread) >= SILENCE);
    const known = Math.max(0, ...threads.map(seconds));
    return silent - known < SILENCE
      ? { state: 'threads silent', since: valuesAt - known, silent: threads }
      : { state: 'worker silent', since: valuesAt - silent };
  }
  const lasts = Number(counters.value('MGT.worker_since'));
  // A worker serves before the manager knows that it does.
  if (reported === 'starting' && hasServed(counters, lasts))
    return { state: 'running', since: valuesAt - lasts };
  return { state: reported, since: steadily(session, reported, valuesAt - lasts) };
}

const BEGUN = new WeakMap<DaemonSession, { state: HealthState; since: number }>();

/** The least time of the same beginning: durations in whole seconds make it waver by one. */
function steadily(session: DaemonSession, state: HealthState, since: number): number {
  const known = BEGUN.get(session);
  const same = known !== undefined && known.state === state && Math.abs(known.since - since) < 2;
  const least = same ? Math.min(known.since, since) : since;
  BEGUN.set(session, { state, since: least });
  return least;
}
