// Bans in force, newest first, and after them the surrogate keys of objects seen in traffic.

import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import { type FieldKind, needed } from '../../model/ui/field.ts';
import { age, clock, count } from '../../model/ui/numbers.ts';
import { hostLast, tagCondition } from '../../model/ui/row-subject.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import type { ListRow } from '../list/list-state.ts';
import { type ListView, listView } from '../list/list-view.tsx';

const LINE = 'ban.list -j';
/** Varnish does not keep the condition of a completed ban. */
const FORGOTTEN = '(completed: its condition is not kept)';
/** The oldest entry may be a marker without a condition. */
const NO_CONDITION = '(marker: objects tested up to here)';

export const BANS_VIEW: ListView = listView({
  name: 'bans',
  key: '7',
  title: 'Bans and tags',
  short: 'Bans',
  brief: 'Ban',
  asks: [{ line: LINE, every: 3, optional: true }],
  columns: [
    { title: 'KIND', min: 5 },
    { title: 'AGE', min: 8, right: true },
    { title: 'OBJECTS', min: 8, right: true },
    { title: 'FETCHES', min: 8, right: true },
    { title: 'STATE', min: 9, drop: 1 },
    { title: 'WHAT', min: 24, grow: 1 },
  ],
  rows: (session) => [
    ...answerItems(session.admin.body(LINE)).map((item, i) => banRow(session, item, i)),
    ...tagRows(session),
  ],
  remark: (session) => {
    const n = answerItems(session.admin.body(LINE)).length;
    const bans = session.admin.unanswered(LINE) === '' ? `${n === 1 ? '1 ban' : `${n} bans`}, ` : '';
    return `${bans}${count(session.traffic.sample.tags.size)} tags seen`;
  },
  empty: (session) =>
    session.connection.state === 'up'
      ? `${session.admin.unanswered(LINE) || 'no bans'}, no tags seen yet`
      : 'no connection',
  keys: [
    {
      keys: ['t'],
      command: 'bans.tag',
      gives: 'ban',
      spare: 'by tag',
      help: 'Ban by tag (xkey, Surrogate-Key, Cache-Tag)',
      run: (c) => promptTag(c, BANS_VIEW.selected(c)),
    },
  ],
  subjects: ({ facts: { kind, tag = '', header = '', spec = '' } }) =>
    kind === 'tag'
      ? [{ kind: 'tag', key: tag, of: header }]
      : spec.startsWith('(')
        ? []
        : [{ kind: 'ban', key: spec, of: '' }],
  enter: (c, row) => (row.facts.kind === 'tag' ? promptTag(c, row) : BANS_VIEW.act(c, { type: 'detail' })),
});

const tagPrompt = (c: ViewContext): FieldKind => ({
  kind: 'prompt',
  changes: true,
  verdict: (text) => needed(text, 'a tag'),
  accept: (text, header) => c.operator.submit(`ban ${tagCondition(header, text.trim())}`),
});

function promptTag(c: ViewContext, row: ListRow | undefined): void {
  const isTag = row?.facts.kind === 'tag';
  const tag = isTag ? (row.facts.tag ?? '') : '';
  const header = isTag ? (row.facts.header ?? 'xkey') : 'xkey';
  c.fields.prompt(tagPrompt(c), `ban all with this tag in ${header}`, header, tag);
}

function banRow(session: DaemonSession, item: unknown, index: number): ListRow {
  const at = Number(textField(item, 'time')) || 0;
  const instance = textField(item, 'instance');
  const isForgotten = session.source.product !== undefined && textField(item, 'completed') === 'true';
  const spec = textField(item, 'spec') || (isForgotten ? FORGOTTEN : NO_CONDITION);
  const refs = Number(textField(item, 'refs')) || 0;
  const done = textField(item, 'completed') === 'true';
  const where = instance === '' ? '' : `${instance}: `;
  const old = Math.max(0, session.now() - at);
  return {
    key: `ban ${at} ${spec}${instance === '' ? '' : ` of ${instance}`}`,
    title: `ban ${spec}`,
    facts: { kind: 'ban', spec, at: String(at) },
    cells: [
      { text: 'ban', tone: 'accent' },
      { text: age(old), by: old, tone: 'muted' },
      { text: count(refs), by: refs },
      { text: '', by: -1 },
      { text: done ? 'completed' : 'active', tone: done ? 'faint' : 'warn' },
      { text: `${where}${spec}`, brief: `${where}${hostLast(spec)}`, tone: done ? 'muted' : 'strong' },
    ],
    detail: () => [
      [{ text: spec, tone: 'strong' }],
      [{ text: `Added at ${clock(at, session.utc)}, number ${index + 1} in the list (newest first).` }],
      [
        {
          text: done
            ? 'Completed: every object has been tested, or a newer identical ban replaced it.'
            : `${refs} objects were last tested against this ban; newer bans are tested when they are requested, or by the lurker.`,
        },
      ],
      [
        {
          text: spec.startsWith('(')
            ? ''
            : /\breq\./.test(spec)
              ? 'Its condition uses the request: only lookups test it, the lurker cannot.'
              : 'Its condition uses only the object: the lurker tests it in the background.',
          tone: 'muted',
        },
      ],
    ],
  };
}

function tagRows(session: DaemonSession): ListRow[] {
  return [...session.traffic.sample.tags.entries()].map(([tag, seen]) => ({
    key: `tag ${tag}`,
    facts: { kind: 'tag', tag, header: seen.header },
    cells: [
      { text: 'tag', tone: 'good' },
      { text: '', by: 0 },
      { text: '', by: -1 },
      { text: count(seen.fetches), by: seen.fetches },
      { text: 'seen', tone: 'faint' },
      { text: tag, tone: 'strong' },
    ],
    detail: () => [
      [
        {
          text: `In ${seen.header} of ${seen.fetches} fetched responses, last on ${seen.url}.`,
        },
      ],
      [{ text: 'p purges every object with this tag, after counting them.', tone: 'faint' }],
    ],
  }));
}
