// All counters in the text format of Prometheus (version 0.0.4), from one reading of the counters file.
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

export function metricsText(input: MetricsInput): string {
  const values = new Map(input.info.map(({ name }, i) => [name, input.values[i] as bigint]));
  const out: string[] = [];
  metric(out, 'proxyd_build_info', 'gauge', 'Version of the daemon', 'version', [
    { label: input.version, value: 1n },
  ]);
  metric(out, 'proxyd_worker_up', 'gauge', 'Whether a worker serves', '', [
    { label: '', value: input.workerUp ? 1n : 0n },
  ]);
  longTurns(out, input.longTurns);
  group(out, 'mgt', 'MGT', MGT_COUNTERS, values);
  group(out, 'main', 'MAIN', MAIN_COUNTERS, values);
  labelled(out, 'storage', 'SMA', SMA_COUNTERS, values);
  group(out, 'edge', 'EDGE', EDGE_COUNTERS, values);
  group(out, 'fleet', 'FLEET', FLEET_COUNTERS, values);
  backends(out, input, values);
  labelled(out, 'thread', 'THR', THR_COUNTERS, values);
  group(out, 'wrk', 'WRK', WRK_COUNTERS, values);
  return out.join('');
}

/** By thread and kind of work, the longest of each: which request it was is in events, where a name costs nothing. */
function longTurns(out: string[], turns: MetricsInput['longTurns']): void {
  const longest = new Map<string, number>();
  for (const { where, work, millis } of turns) {
    const labels = `{where="${escaped(where)}",work="${escaped(work)}"}`;
    longest.set(labels, Math.max(millis, longest.get(labels) ?? 0));
  }
  if (longest.size === 0) return;
  const name = 'proxyd_longest_turn_seconds';
  out.push(
    `# HELP ${name} Longest turn of an event loop in the last minute, and the work it was spent on\n# TYPE ${name} gauge\n`,
  );
  for (const [labels, millis] of longest) out.push(`${name}${labels} ${(millis / 1000).toFixed(3)}\n`);
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

function group(
  out: string[],
  part: string,
  prefix: string,
  rows: readonly CounterRow[],
  values: ReadonlyMap<string, bigint>,
): void {
  for (const row of rows) {
    const value = values.get(`${prefix}.${row.name}`);
    if (value === undefined) continue;
    metric(out, metricName(part, row), metricType(row), row.help, '', [{ label: '', value }]);
  }
}

/** A group with instances, whose names are the label. */
function labelled(
  out: string[],
  label: string,
  prefix: string,
  rows: readonly CounterRow[],
  values: ReadonlyMap<string, bigint>,
): void {
  for (const row of rows) {
    const samples = instances(values, `${prefix}.`, row.name);
    metric(out, metricName(label, row), metricType(row), row.help, label, samples);
  }
}

/** Samples of all counters `prefix<label>.name`. */
function instances(values: ReadonlyMap<string, bigint>, prefix: string, name: string): Sample[] {
  const out: Sample[] = [];
  for (const [full, value] of values) {
    if (!full.startsWith(prefix) || !full.endsWith(`.${name}`)) continue;
    const label = full.slice(prefix.length, full.length - name.length - 1);
    if (label !== '' && !label.includes('.')) out.push({ label, value });
  }
  return out;
}

function backends(out: string[], { active }: MetricsInput, values: ReadonlyMap<string, bigint>): void {
  if (active === null) return;
  for (const row of VBE_COUNTERS) {
    const samples = instances(values, `VBE.${active.name}.`, row.name);
    if (row.flag !== 'b') {
      metric(out, metricName('backend', row), metricType(row), row.help, 'backend', samples);
      continue;
    }
    // The lowest bit is the latest poll; what nobody polls is not known to be down.
    const up = samples.map(({ label, value }) => {
      const probed = active.backends.get(label) === true;
      return { label, value: probed ? value & 1n : 1n };
    });
    metric(
      out,
      'proxyd_backend_up',
      'gauge',
      'Whether the latest probe was good: 1 up, 0 down',
      'backend',
      up,
    );
  }
}

function metric(
  out: string[],
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  labelName: string,
  samples: readonly Sample[],
): void {
  if (samples.length === 0) return;
  out.push(
    `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`,
  );
  for (const { label, value } of samples) {
    out.push(`${name}${labelName === '' ? '' : `{${labelName}="${escaped(label)}"}`} ${value}\n`);
  }
}

function escaped(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
