// Bans in force, newest first, and below them the tags (surrogate keys) that objects in the seen traffic carry.

import { answerItems, textField } from '../admin-store.ts';
import type { ListRow } from '../list-view.ts';
import { clock, count, duration } from '../numbers.ts';
import type { Session } from '../session.ts';
import type { ListDefinition } from './list-definition.ts';

const LINE = 'ban.list -j';

export const BANS_LIST: ListDefinition = {
  view: 'bans',
  asks: [{ line: LINE, every: 3 }],
  sampled: true,
  columns: [
    { title: 'KIND', min: 5 },
    { title: 'AGE', min: 8, right: true },
    { title: 'OBJECTS', min: 8, right: true },
    { title: 'STATE', min: 9, drop: 1 },
    { title: 'WHAT', min: 24, grow: 1 },
  ],
  rows: (session) => [
    ...answerItems(session.admin.body(LINE)).map((item, i) => banRow(session, item, i)),
    ...tagRows(session),
  ],
  remark: (session) => {
    const n = answerItems(session.admin.body(LINE)).length;
    return `${n === 1 ? '1 ban' : `${n} bans`}, ${count(session.sample.tags.size)} tags seen`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no bans, no tags seen yet' : 'no connection'),
};

function banRow(session: Session, item: unknown, index: number): ListRow {
  const at = Number(textField(item, 'time')) || 0;
  const instance = textField(item, 'instance');
  // The oldest of the list may be a mark without a condition.
  const spec = textField(item, 'spec') || '(a mark without a condition: objects were last tested up to here)';
  const refs = Number(textField(item, 'refs')) || 0;
  const done = textField(item, 'completed') === 'true';
  const age = Math.max(0, session.now() - at);
  return {
    key: `ban ${at} ${spec}${instance === '' ? '' : ` of ${instance}`}`,
    facts: { kind: 'ban', spec, at: String(at) },
    cells: [
      { text: 'ban', tone: 'accent' },
      { text: duration(age), by: age, tone: 'muted' },
      { text: count(refs), by: refs },
      { text: done ? 'completed' : 'at work', tone: done ? 'faint' : 'warn' },
      { text: `${instance === '' ? '' : `${instance}: `}${spec}`, tone: done ? 'muted' : 'strong' },
    ],
    detail: () => [
      [{ text: `Since ${clock(at, session.utc)}, number ${index + 1} of the list (newest first).` }],
      [
        {
          text: done
            ? 'Completed: no object refers to it any more, or a newer one like it took its place.'
            : `${refs} objects were last tested against this ban: they are tested against newer ones when asked for, or by the lurker.`,
        },
      ],
      [
        {
          text: spec.startsWith('(')
            ? ''
            : /\breq\./.test(spec)
              ? 'It looks at the request: only lookups test it, the lurker cannot.'
              : 'It looks at objects alone: the lurker tests it in the background.',
          tone: 'muted',
        },
      ],
    ],
  };
}

function tagRows(session: Session): ListRow[] {
  return [...session.sample.tags.entries()].map(([tag, seen]) => ({
    key: `tag ${tag}`,
    facts: { kind: 'tag', tag, header: seen.header },
    cells: [
      { text: 'tag', tone: 'good' },
      { text: '', by: 0 },
      { text: count(seen.fetches), by: seen.fetches },
      { text: 'seen', tone: 'faint' },
      { text: tag, tone: 'strong' },
    ],
    detail: () => [
      [{ text: `Carried by ${seen.fetches} fetched responses in ${seen.header}, the last for ${seen.url}.` }],
      [{ text: 't bans every object that carries it, after a count.', tone: 'faint' }],
    ],
  }));
}
