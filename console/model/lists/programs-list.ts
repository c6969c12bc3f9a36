// The loaded programs and labels: which is active, how warm, how busy; below, the backends and the first lines.

import { answerItems, textField } from '../admin-store.ts';
import { placeOfName } from '../instance-address.ts';
import type { ListRow, ToneLine } from '../list-view.ts';
import type { Session } from '../session.ts';
import type { ListDefinition } from './list-definition.ts';

const LINE = 'vcl.list -j';
const DEPS = 'vcl.deps -j';

export const PROGRAMS_LIST: ListDefinition = {
  view: 'programs',
  asks: [
    { line: LINE, every: 3 },
    { line: DEPS, every: 10 },
  ],
  columns: [
    { title: 'PROGRAM', min: 20, grow: 2 },
    { title: 'STATUS', min: 10 },
    { title: 'STATE', min: 7 },
    { title: 'TEMPERATURE', min: 11, drop: 1 },
    { title: 'BUSY', min: 6, right: true },
    { title: 'LABELS', min: 18, grow: 1, drop: 2 },
  ],
  rows: (session) => answerItems(session.admin.body(LINE)).map((item) => row(session, item)),
  remark: (session) => {
    const active = PROGRAMS_LIST.rows(session, '').filter((r) => r.facts.status === 'active');
    return active.length === 0 ? 'none active' : `active: ${active.map((r) => r.key).join(', ')}`;
  },
  empty: (session) => (session.connection.state === 'up' ? 'no programs' : 'no connection'),
};

function row(session: Session, item: unknown): ListRow {
  const name = textField(item, 'name');
  const status = textField(item, 'status');
  const temperature = textField(item, 'temperature');
  const state = textField(item, 'state');
  const target = textField((item as { label?: unknown }).label, 'name');
  const labels = Number(textField(item, 'labels')) || 0;
  const busy = Number(textField(item, 'busy')) || 0;
  return {
    key: name,
    facts: { name, status, state, target },
    cells: [
      { text: name, tone: 'strong' },
      { text: status, tone: status === 'active' ? 'good' : status === 'discarded' ? 'bad' : 'muted' },
      { text: state, tone: 'muted' },
      { text: temperature, tone: temperature === 'warm' ? 'warn' : 'muted' },
      { text: String(busy), by: busy },
      {
        text:
          target !== '' ? `-> ${target}` : labels === 0 ? '' : labels === 1 ? '1 label' : `${labels} labels`,
        tone: 'accent',
      },
    ],
    detail: () => details(session, name, status),
  };
}

function details(session: Session, name: string, status: string): readonly ToneLine[] {
  const lines: ToneLine[] = [];
  const deps = answerItems(session.admin.body(DEPS)).find((d) => textField(d, 'name') === name);
  const needs = (deps as { deps?: unknown } | undefined)?.deps;
  if (Array.isArray(needs) && needs.length > 0)
    lines.push([{ text: 'Needs     ', tone: 'muted' }, { text: needs.map(String).join(', ') }]);
  const backends = session.backends.filter((b) => b.name.startsWith(`${name}.`));
  for (const b of backends) {
    lines.push([
      { text: 'Backend   ', tone: 'muted' },
      { text: b.name.slice(name.length + 1) },
      { text: `  ${b.health}`, tone: b.health === 'sick' ? 'bad' : 'good' },
    ]);
  }
  lines.push(
    [],
    [
      {
        text:
          status === 'active'
            ? 'Enter shows its source. It is in use: load another and use that to replace it.'
            : 'Enter shows its source, D what it would change, u takes it into use, x discards it.',
        tone: 'faint',
      },
    ],
  );
  return lines;
}

/** The active program; of several instances shown as one, that of the instance to which `beside` belongs. */
export function activeProgram(session: Session, beside: string): string {
  const place = placeOfName(beside);
  const rows = PROGRAMS_LIST.rows(session, '');
  return rows.find((r) => r.facts.status === 'active' && placeOfName(r.key) === place)?.key ?? '';
}
