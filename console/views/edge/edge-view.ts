// The edge connector: purges queued for the edge network, rejected purges, and the network's state in the title.

import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { age, clock, count, rate } from '../../model/ui/numbers.ts';
import type { Tone, ToneLine } from '../../model/ui/panel.ts';
import type { RowKey } from '../list/list-definition.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';

const QUEUE = 'edge.queue -j';
const DEAD = 'edge.dead -j';
const STATUS = 'edge.status -j';

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'muted',
  inflight: 'accent',
  polling: 'accent',
  retry: 'warn',
  dead: 'bad',
  acked: 'good',
};

export const EDGE_VIEW: ListView = listView({
  name: 'edge',
  key: '@',
  title: 'Edge network',
  short: 'Edge',
  brief: 'Edg',
  asks: [
    { line: STATUS, every: 2 },
    { line: QUEUE, every: 2 },
    { line: DEAD, every: 2 },
  ],
  applies: (session) => session.source.product === undefined,
  columns: [
    { title: 'ID', min: 6, right: true },
    { title: 'STATE', min: 8 },
    { title: 'AGE', min: 8, right: true, drop: 2 },
    { title: 'FAILED', min: 6, right: true, drop: 3 },
    { title: 'WHAT', min: 14 },
    { title: 'TARGET', min: 20, grow: 3 },
    { title: 'LAST ANSWER', min: 12, grow: 2, drop: 1 },
  ],
  rows: (session) =>
    [...entries(session, DEAD), ...entries(session, QUEUE), ...recent(session)].map((item) =>
      row(session, item),
    ),
  remark: (session) => {
    const status = statusOf(session);
    if (status === undefined) return '';
    const state = stateText(status);
    const dead = entries(session, DEAD).length;
    const sent = rate(session.counters.rate('EDGE.acked'));
    const letters = dead === 1 ? '1 dead letter' : `${dead} dead letters`;
    const waiting = entries(session, QUEUE).length;
    return `${textField(status, 'provider')} ${state}, ${waiting} waiting, ${letters}, ${sent}/s taken, ${tokens(session, status)}`;
  },
  empty: (session) => {
    if (session.connection.state !== 'up') return 'no connection';
    const { product } = session.source;
    if (product !== undefined) return `${product} has no edge network connector`;
    const status = statusOf(session);
    if (status === undefined) return 'no program that imports edge is loaded';
    return textField(status, 'configured') === 'true'
      ? 'no purges yet'
      : 'not configured: purges are local only';
  },
  keys: [
    {
      keys: ['R'],
      command: 'edge.retry',
      gives: 'edge.retry',
      help: 'Send a dead letter again',
      hint: 'retry',
      ...submits('edge.retry', ['dead'], 'only dead letters can be retried'),
    },
    {
      keys: ['delete', 'ctrl+d'],
      command: 'edge.drop',
      gives: 'edge.drop',
      help: 'Drop it',
      hint: 'drop',
      ...submits(
        'edge.drop',
        ['dead', 'queued', 'retry'],
        'only waiting operations and dead letters can be dropped',
      ),
    },
    {
      keys: ['a'],
      command: 'edge.retry-all',
      gives: 'edge.retry',
      spare: 'retry all',
      help: 'Send all dead letters again',
      run: (c) =>
        entries(c.session, DEAD).length === 0
          ? c.ui.notify('warn', 'there are no dead letters')
          : c.operator.submit('edge.retry all'),
    },
    {
      keys: ['P'],
      command: 'edge.pause',
      gives: 'edge.pause',
      help: 'Pause or resume',
      hint: 'pause',
      run: (c) => {
        const status = statusOf(c.session);
        const paused = status !== undefined && textField(status, 'paused') === 'true';
        c.operator.submit(paused ? 'edge.resume' : 'edge.pause');
      },
    },
  ],
  enter: (c) => EDGE_VIEW.act(c, { type: 'detail' }),
});

/** Only for purges in these states; the connector reports others as nonexistent. */
function submits(
  command: string,
  states: readonly string[],
  only: string,
): Required<Pick<RowKey, 'act' | 'line'>> {
  const line = ({ key, facts: { state = '' } }: ListRow): string | null =>
    states.includes(state) ? `${command} ${key}` : null;
  return {
    line,
    act: (c, row) => {
      const own = line(row);
      if (own !== null) c.operator.submit(own);
      else c.ui.notify('warn', `${row.key} is ${row.facts.state}: ${only}`);
    },
  };
}

function statusOf(session: DaemonSession): unknown {
  return answerItems(session.admin.body(STATUS))[0];
}

function entries(session: DaemonSession, line: string): readonly unknown[] {
  const [items] = answerItems(session.admin.body(line));
  return Array.isArray(items) ? items : [];
}

/** The purges that finished last. */
function recent(session: DaemonSession): readonly unknown[] {
  const items = (statusOf(session) as { recent?: unknown } | undefined)?.recent;
  return Array.isArray(items) ? items : [];
}

/** Calls left in the throttle's period, out of its total. */
function tokens(session: DaemonSession, status: unknown): string {
  const { calls } = (status as { settings?: { calls?: string } }).settings ?? {};
  const left = session.counters.value('EDGE.tokens_left');
  return `${count(Number(left))} of ${calls ?? '?'} calls left`;
}

function stateText(status: unknown): string {
  const alarm = textField(status, 'alarm');
  const problem = textField(status, 'problem');
  if (problem !== '') return `misconfigured: ${problem}`;
  if (alarm !== '') return `paused: ${alarm}`;
  if (textField(status, 'paused') === 'true') return 'paused';
  return textField(status, 'dryRun') === 'true' ? 'dry run' : 'active';
}

function row(session: DaemonSession, item: unknown): ListRow {
  const id = textField(item, 'id');
  const state = textField(item, 'state');
  const added = Number(textField(item, 'added')) / 1000 || 0;
  const old = Math.max(0, session.now() - added);
  const failed = Number(textField(item, 'attempts')) || 0;
  const detail = answerText(item);
  return {
    key: id,
    facts: { id, state, target: textField(item, 'target'), origin: textField(item, 'origin') },
    cells: [
      { text: id, by: Number(id), tone: 'muted' },
      { text: state, tone: TONES[state] ?? 'muted' },
      { text: age(old), by: old, tone: 'muted' },
      { text: count(failed), by: failed },
      { text: `${textField(item, 'kind')} ${textField(item, 'type')}` },
      { text: textField(item, 'target'), tone: 'strong' },
      { text: detail, tone: state === 'dead' ? 'bad' : 'muted' },
    ],
    detail: () => details(session, item, added),
  };
}

/** The network's id of the purge, or its last response. */
function answerText(item: unknown): string {
  const purge = textField(item, 'purgeId');
  return purge === '' ? textField(item, 'detail') : `purge ${purge}`;
}

function details(session: DaemonSession, item: unknown, added: number): readonly ToneLine[] {
  const detail = answerText(item);
  return [
    [
      {
        text: `Requested by ${textField(item, 'origin')} at ${clock(added, session.utc)}, for ${textField(item, 'network')}.`,
      },
    ],
    [{ text: detail === '' ? 'No answer from the network yet.' : detail, tone: 'muted' }],
  ];
}
