// All counters in the text format of Prometheus (version 0.0.4), from one reading of the counters file. There may be a
// hundred thousand: the text comes in pieces, between which the manager may do something else.
//
// Names and labels stay the same over reloads: backends are those of the active program, without its name, and the
// bitmap of a probe becomes `proxyd_backend_up`. A counter that begins again with a worker does what Prometheus
// expects of one. Values are written digit by digit. Pure: it reads nothing itself.

import type { CounterInfo } from '../../protocol/messages.ts';
import {
  type CounterRow,
  EDGE_COUNTERS,
  FLEET_COUNTERS,
  MAIN_COUNTERS,
  MGT_COUNTERS,
  SMA_COUNTERS,
  THR_COUNTERS,
  VBE_COUNTERS,
  WRK_COUNTERS,
} from '../../protocol/tables/counters.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsInput {
  version: string;
  workerUp: boolean;
  /** Name of the active program, and its backends by name with whether they have a probe; null without one. */
  active: { name: string; backends: ReadonlyMap<string, boolean> } | null;
  /** The longest turns of the last minute. */
  longTurns: readonly { readonly where: string; readonly work: string; readonly millis: number }[];
  info: readonly CounterInfo[];
  values: readonly bigint[];
}

interface Sample {
  /** Value of the label, '' without one. */
  label: string;
  value: bigint;
}

/** Names that are put in order, and lines that are made, in one piece. */
const A_PIECE = 64;

/** A reading by group: plain counters by their full names, and those of instances by group and row, as `SMA.g_bytes`. */
interface Reading {
  readonly plain: ReadonlyMap<string, bigint>;
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
}

type Pieces = Generator<string, void>;

export function* metricsText(input: MetricsInput): Pieces {
  const { active } = input;
  yield* metric('proxyd_build_info', 'gauge', 'Version of the daemon', 'version', [
    { label: input.version, value: 1n },
  ]);
  yield* metric('proxyd_worker_up', 'gauge', 'Whether a worker serves', '', [
    { label: '', value: input.workerUp ? 1n : 0n },
  ]);
  yield* longTurns(input.longTurns);
  const reading = yield* ordered(input);
  yield* group(reading, 'mgt', 'MGT', MGT_COUNTERS);
  yield* group(reading, 'main', 'MAIN', MAIN_COUNTERS);
  yield* labelled(reading, 'storage', 'SMA', SMA_COUNTERS);
  yield* group(reading, 'edge', 'EDGE', EDGE_COUNTERS);
  yield* group(reading, 'fleet', 'FLEET', FLEET_COUNTERS);
  if (active !== null) yield* backends(reading, active.backends);
  yield* labelled(reading, 'thread', 'THR', THR_COUNTERS);
  yield* group(reading, 'wrk', 'WRK', WRK_COUNTERS);
}

/** Looks at each counter once. Of backends, those of the active program count, without its name. */
function* ordered({ info, values, active }: MetricsInput): Generator<string, Reading> {
  const plain = new Map<string, bigint>();
  const samples = new Map<string, Sample[]>();
  const groups = [
    ['SMA', 'SMA.'],
    ['THR', 'THR.'],
    ...(active === null ? [] : [['VBE', `VBE.${active.name}.`] as const]),
  ] as const;
  for (let i = 0; i < info.length; i++) {
    if (i % A_PIECE === 0) yield '';
    const { name } = info[i] as CounterInfo;
    const value = values[i] as bigint;
    const found = groups.find(([, prefix]) => name.startsWith(prefix));
    if (found === undefined) {
      if (!name.startsWith('VBE.')) plain.set(name, value);
      continue;
    }
    const [part, prefix] = found;
    const dot = name.indexOf('.', prefix.length);
    // Backends that were made at run time have names of many parts, and come and go.
    if (dot <= prefix.length || name.includes('.', dot + 1)) continue;
    const key = `${part}.${name.slice(dot + 1)}`;
    const sample = { label: name.slice(prefix.length, dot), value };
    const known = samples.get(key);
    if (known === undefined) samples.set(key, [sample]);
    else known.push(sample);
  }
  return { plain, samples };
}

/** By thread and kind of work, the longest of each: which request it was is in events, where a name costs nothing. */
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

/** Counters end in _total, as the format's naming rules ask; times say their unit. */
function metricName(part: string, row: CounterRow): string {
  const stem = `proxyd_${part}_${row.name}`;
  if (row.format === 'd') return `${stem}_seconds`;
  return row.flag === 'c' ? `${stem}_total` : stem;
}

function metricType(row: CounterRow): 'counter' | 'gauge' {
  return row.flag === 'c' && row.format !== 'd' ? 'counter' : 'gauge';
}

function* group({ plain }: Reading, part: string, prefix: string, rows: readonly CounterRow[]): Pieces {
  for (const row of rows) {
    const value = plain.get(`${prefix}.${row.name}`);
    if (value === undefined) continue;
    yield* metric(metricName(part, row), metricType(row), row.help, '', [{ label: '', value }]);
  }
}

/** A group with instances, whose names are the label. */
function* labelled({ samples }: Reading, label: string, part: string, rows: readonly CounterRow[]): Pieces {
  for (const row of rows) {
    const found = samples.get(`${part}.${row.name}`) ?? [];
    yield* metric(metricName(label, row), metricType(row), row.help, label, found);
  }
}

/** @param probed the active program's backends by name, and whether they have a probe */
function* backends({ samples }: Reading, probed: ReadonlyMap<string, boolean>): Pieces {
  for (const row of VBE_COUNTERS) {
    const found = samples.get(`VBE.${row.name}`) ?? [];
    if (row.flag !== 'b') {
      yield* metric(metricName('backend', row), metricType(row), row.help, 'backend', found);
      continue;
    }
    // The lowest bit is the latest poll; what nobody polls is not known to be down.
    const isUp = ({ label, value }: Sample): bigint => (probed.get(label) === true ? value & 1n : 1n);
    const help = 'Whether the latest probe was good: 1 up, 0 down';
    yield* metric('proxyd_backend_up', 'gauge', help, 'backend', found, isUp);
  }
}

function* metric(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  labelName: string,
  samples: readonly Sample[],
  shown = ({ value }: Sample): bigint => value,
): Pieces {
  if (samples.length === 0) return;
  let lines = `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i] as Sample;
    const labels = labelName === '' ? '' : `{${labelName}="${escaped(sample.label)}"}`;
    lines += `${name}${labels} ${shown(sample)}\n`;
    if (i % A_PIECE !== 0) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
