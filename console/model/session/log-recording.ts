// A recorded log as a session that can be played: each group at its time, and the counters that the log allows to
// count, so that there are charts and rates. Records that were left out are not counted. Caution: a recording made with
// tag filters may have no times; its groups are then spaced evenly.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { CounterInfo, LogTransaction } from '../../../protocol/messages.ts';
import { MAIN_COUNTERS } from '../../../protocol/tables/counters.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import { isFragment, isRestart } from '../log/request-group.ts';
import { readTransaction } from '../traffic/traffic-facts.ts';
import type { RecordedStep, Recording } from './recording.ts';

const COUNTED = [
  'uptime',
  'sess_conn',
  'client_req',
  'esi_req',
  'cache_hit',
  'cache_hitpass',
  'cache_hitmiss',
  'cache_miss',
  's_sess',
  's_pipe',
  's_pass',
  's_fetch',
  's_synth',
  's_resp_bodybytes',
  's_resp_bodybytes_hit',
  'backend_req',
] as const;
type CountedName = (typeof COUNTED)[number];

/** Seconds within which groups are one step. */
const TOGETHER = 0.1;
/** Groups per second where no record has a time. */
const EVEN_PACE = 100;
/** Samples of an interval without traffic, at most. */
const IDLE_SAMPLES = 120;

/** `end`: epoch seconds of the recording's end, used where no record has a time. */
export function logRecording(
  groups: readonly (readonly LogTransaction[])[],
  name: string,
  end: number,
): Recording {
  const times = timesOf(groups, end);
  const start = Math.floor(times[0] ?? end);
  const steps: RecordedStep[] = [
    { after: 0, kind: 'up', identity: name, version: 'a log' },
    { after: 0, kind: 'counters', info: infos() },
  ];
  const counts = new Counts();
  let sampled = 0;
  const sampleUntil = (after: number): void => {
    const step = Math.max(1, Math.ceil((after - sampled) / IDLE_SAMPLES));
    for (; sampled < after; sampled += step) steps.push(counts.sample(sampled));
  };
  let last: Extract<RecordedStep, { kind: 'log' }> | null = null;
  for (const [i, group] of groups.entries()) {
    const after = (times[i] as number) - start;
    if (sampled < after) {
      sampleUntil(after);
      last = null;
    }
    if (last === null || after - last.after > TOGETHER) {
      last = { after, kind: 'log', transactions: [] };
      steps.push(last);
    }
    for (const [n, tx] of group.entries()) {
      last.transactions.push({ ...tx, first: n === 0 });
      counts.add(tx);
    }
  }
  sampleUntil(sampled + 1);
  return { format: 'proxyd-console-recording/1', start, steps, commands: {} };
}

function infos(): CounterInfo[] {
  return COUNTED.flatMap((name) => {
    const row = MAIN_COUNTERS.find((r) => r.name === name);
    if (row === undefined) return [];
    const { flag, format, level, help } = row;
    return [{ name: `MAIN.${name}`, flag, format, level, description: help }];
  });
}

class Counts {
  private readonly values = new Map<CountedName, number>();
  private sampled: string[] = [];

  add(tx: LogTransaction): void {
    if (tx.type === 'session') this.raise('sess_conn', 's_sess');
    if (tx.type === 'bereq') this.raise('backend_req', 's_fetch');
    if (tx.type !== 'request') return;
    const { handling, synthetic, bytes } = readTransaction(tx);
    // As the daemon counts: a restart is looked up again, but is no other request.
    if (isFragment(tx)) this.raise('esi_req');
    else if (!isRestart(tx)) this.raise('client_req');
    this.values.set('s_resp_bodybytes', this.value('s_resp_bodybytes') + bytes);
    if (handling === 'hit')
      this.values.set('s_resp_bodybytes_hit', this.value('s_resp_bodybytes_hit') + bytes);
    if (handling === 'hit') this.raise('cache_hit');
    else if (handling === 'miss') this.raise('cache_miss');
    else if (handling === 'hitmiss') this.raise('cache_miss', 'cache_hitmiss');
    else if (handling === 'pass') this.raise('s_pass');
    else if (handling === 'hitpass') this.raise('s_pass', 'cache_hitpass');
    else if (handling === 'pipe') this.raise('s_pipe');
    if (synthetic) this.raise('s_synth');
  }

  /** The changes since the last sample. */
  sample(after: number): RecordedStep {
    this.values.set('uptime', after);
    const now = COUNTED.map((name) => String(this.value(name)));
    const changed = now.flatMap((v, i): [number, string][] => (v === this.sampled[i] ? [] : [[i, v]]));
    this.sampled = now;
    return { after, kind: 'values', changed };
  }

  private value(name: CountedName): number {
    return this.values.get(name) ?? 0;
  }

  private raise(...names: CountedName[]): void {
    for (const name of names) this.values.set(name, this.value(name) + 1);
  }
}

/** Epoch seconds of the end of each group, never before that of the one before. */
function timesOf(groups: readonly (readonly LogTransaction[])[], end: number): number[] {
  const ends = groups.map((group) => Math.max(...group.map(clockOf)));
  const first = ends.find((at) => at > 0);
  if (first === undefined) return groups.map((_g, i) => end - (groups.length - i) / EVEN_PACE);
  let now = first;
  return ends.map((at) => {
    now = Math.max(now, at);
    return now;
  });
}

/** The latest time in a transaction's records; 0 without any. */
function clockOf({ records }: LogTransaction): number {
  let latest = 0;
  const cursor = new RecordCursor(records);
  while (cursor.next()) {
    const { tag } = cursor;
    // The time follows the name in a Timestamp; in a TTL it is the reference time.
    const field = tag === Tag.Timestamp ? 1 : tag === Tag.TTL ? 4 : 0;
    if (field === 0) continue;
    const time = Number(cursor.text.split(' ')[field]);
    if (time > latest) latest = time;
  }
  return latest;
}
