// All counters in the text format of Prometheus (version 0.0.4), from one reading of the counters file. There may be
// hundreds of thousands: the layout of the lines is computed once for a set of counters, and the text is generated in
// pieces, so that the manager can do other work in between.
//
// Names and labels are stable over reloads: backends are those of the active program, without its name, and the bitmap
// of a probe becomes `proxyd_backend_up`. Counters restart at zero with a worker, as Prometheus expects. Values are
// exact integers.

import type { CounterInfo } from '../../../protocol/messages.ts';
import {
  type CounterRow,
  EDGE_COUNTERS,
  FLEET_COUNTERS,
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  SMD_COUNTERS,
  THR_COUNTERS,
  TLS_CERT_COUNTERS,
  TLS_COUNTERS,
  VBE_COUNTERS,
  VCP_COUNTERS,
  WAITER_COUNTERS,
  WRK_COUNTERS,
} from '../../../protocol/tables/counters.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsInput {
  version: string;
  workerUp: boolean;
  /** The active program, and its backends by name with whether they have a probe; null without one. */
  active: { name: string; backends: ReadonlyMap<string, boolean> } | null;
  /** The longest turns of the last minute. */
  longTurns: readonly { readonly where: string; readonly work: string; readonly millis: number }[];
  info: readonly CounterInfo[];
  values: readonly bigint[];
}

/** Names sorted, or lines generated, in one piece. */
const A_PIECE = 64;
/** Label names by the first part of the counters' names. */
const LABELS = { SMA: 'storage', SMD: 'storage', THR: 'thread', VBE: 'backend' } as const;

/** Indexes of the counters with one name, and the text between name and value of their lines. */
interface Column {
  readonly places: number[];
  readonly labels: string[];
  /** For backends: which have a probe. */
  readonly probed: boolean[];
}

/** The lines with one metric name. */
interface Family extends Column {
  readonly head: string;
  readonly name: string;
  readonly isUp: boolean;
}

type Pieces = Generator<string, void>;

/** Generates pages. A page must be finished, or abandoned, before the next one is started. */
export class MetricsText {
  private info: MetricsInput['info'] = [];
  private active: MetricsInput['active'] = null;
  private families: readonly Family[] = [];

  *page(input: MetricsInput): Pieces {
    yield* oneLine('proxyd_build_info', 'Version of the daemon', `{version="${escaped(input.version)}"} 1`);
    yield* oneLine('proxyd_worker_up', 'Whether a worker serves', input.workerUp ? ' 1' : ' 0');
    yield* longTurns(input.longTurns);
    const { info, active, values } = input;
    const isSame =
      info === this.info && active?.name === this.active?.name && active?.backends === this.active?.backends;
    if (!isSame) {
      this.families = familiesOf(yield* columnsOf(info, active));
      this.info = info;
      this.active = active;
    }
    for (const family of this.families) yield* lines(family, values);
  }
}

/** Visits each name once and groups by row, such as `SMA.g_bytes`. Only backends of the active program are included,
 * without its name. */
function* columnsOf(
  info: MetricsInput['info'],
  active: MetricsInput['active'],
): Generator<string, Map<string, Column>> {
  const columns = new Map<string, Column>();
  const groups: { part: keyof typeof LABELS; prefix: string }[] = [
    { part: 'SMA', prefix: 'SMA.' },
    { part: 'SMD', prefix: 'SMD.' },
    { part: 'THR', prefix: 'THR.' },
  ];
  if (active !== null) groups.push({ part: 'VBE', prefix: `VBE.${active.name}.` });
  // The counters of an instance are adjacent and share one label.
  let instance = '';
  let label = '';
  for (let i = 0; i < info.length; i++) {
    if (i % A_PIECE === 0) yield '';
    const { name } = info[i] as CounterInfo;
    const found = groups.find(({ prefix }) => name.startsWith(prefix));
    if (found === undefined) {
      if (!name.startsWith('VBE.')) columns.set(name, { places: [i], labels: [' '], probed: [false] });
      continue;
    }
    const { part, prefix } = found;
    const dot = name.indexOf('.', prefix.length);
    // Backends created at run time have names of several parts, and are short-lived.
    if (dot <= prefix.length || name.includes('.', dot + 1)) continue;
    const own = name.slice(0, dot);
    const title = own.slice(prefix.length);
    if (own !== instance) {
      instance = own;
      label = `{${LABELS[part]}="${escaped(title)}"} `;
    }
    const key = `${part}.${name.slice(dot + 1)}`;
    let column = columns.get(key);
    if (column === undefined) {
      column = { places: [], labels: [], probed: [] };
      columns.set(key, column);
    }
    column.places.push(i);
    column.labels.push(label);
    if (part === 'VBE') column.probed.push(active?.backends.get(title) === true);
  }
  return columns;
}

/** In the order of the page. */
function familiesOf(columns: ReadonlyMap<string, Column>): Family[] {
  const families: Family[] = [];
  const add = (group: string, part: string, rows: readonly CounterRow[]): void => {
    for (const row of rows) {
      const column = columns.get(`${part}.${row.name}`);
      if (column !== undefined) families.push({ ...familyOf(group, row, part === 'VBE'), ...column });
    }
  };
  add('mgt', 'MGT', MGT_COUNTERS);
  add('main', 'MAIN', MAIN_COUNTERS);
  add('storage', 'SMA', SMA_COUNTERS);
  add('disk', 'SMD', SMD_COUNTERS);
  add('edge', 'EDGE', EDGE_COUNTERS);
  add('fleet', 'FLEET', FLEET_COUNTERS);
  add('tls', 'TLS', [...TLS_COUNTERS, ...TLS_CERT_COUNTERS]);
  add('backend', 'VBE', VBE_COUNTERS);
  add('pool', 'VCP', VCP_COUNTERS);
  add('waiter', 'WAITER', WAITER_COUNTERS);
  add('thread', 'THR', THR_COUNTERS);
  add('wrk', 'WRK', WRK_COUNTERS);
  return families;
}

function familyOf(
  group: string,
  row: CounterRow,
  isBackend: boolean,
): Pick<Family, 'head' | 'name' | 'isUp'> {
  const isUp = isBackend && row.flag === 'b';
  const name = isUp ? 'proxyd_backend_up' : metricName(group, row);
  const help = isUp ? 'Whether the latest probe was good: 1 up, 0 down' : row.help;
  return { head: head(name, isUp ? 'gauge' : metricType(row), help), name, isUp };
}

function* lines({ head, name, isUp, places, labels, probed }: Family, values: readonly bigint[]): Pieces {
  let text = head;
  for (let i = 0; i < places.length; i++) {
    let value = values[places[i] as number] as bigint;
    // The lowest bit is the latest poll; a backend without a probe counts as up.
    if (isUp) value = probed[i] === true ? value & 1n : 1n;
    text += `${name}${labels[i] as string}${value}\n`;
    if (i % A_PIECE !== 0) continue;
    yield text;
    text = '';
  }
  yield text;
}

/** The longest turn per thread and kind of work. Requests are named in events only, where the cardinality of names
 * does not matter. */
function* longTurns(turns: MetricsInput['longTurns']): Pieces {
  const longest = new Map<string, number>();
  for (const { where, work, millis } of turns) {
    const labels = `{where="${escaped(where)}",work="${escaped(work)}"}`;
    longest.set(labels, Math.max(millis, longest.get(labels) ?? 0));
  }
  if (longest.size === 0) return;
  const name = 'proxyd_longest_turn_seconds';
  yield `# HELP ${name} Longest turn of an event loop in the last minute, and the work it was spent on\n# TYPE ${name} gauge\n`;
  for (const [labels, millis] of longest) yield `${name}${labels} ${(millis / 1000).toFixed(3)}\n`;
}

/** Counters end in _total, as the format's naming rules require; durations name their unit. */
function metricName(part: string, row: CounterRow): string {
  const stem = `proxyd_${part}_${row.name}`;
  if (row.format === 'd') return `${stem}_seconds`;
  return row.flag === 'c' ? `${stem}_total` : stem;
}

function metricType(row: CounterRow): 'counter' | 'gauge' {
  return row.flag === 'c' && row.format !== 'd' ? 'counter' : 'gauge';
}

function* oneLine(name: string, help: string, rest: string): Pieces {
  yield `${head(name, 'gauge', help)}${name}${rest}\n`;
}

function head(name: string, type: 'counter' | 'gauge', help: string): string {
  return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
