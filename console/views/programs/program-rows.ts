// Rows of the loaded programs and labels, and the active program.

import { placeOfName } from '../../model/session/admin-line.ts';
import { answerItems, textField } from '../../model/session/admin-store.ts';
import { healthTone } from '../../model/session/backends.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ListRow } from '../list/list-state.ts';

/** The commands that supply them. */
export const PROGRAMS_LINE = 'vcl.list -j';
export const NEEDS_LINE = 'vcl.deps -j';

export function programRows(session: DaemonSession): ListRow[] {
  return answerItems(session.admin.body(PROGRAMS_LINE)).map((item) => row(session, item));
}

function row(session: DaemonSession, item: unknown): ListRow {
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

function details(session: DaemonSession, name: string, status: string): readonly ToneLine[] {
  const lines: ToneLine[] = [];
  const deps = answerItems(session.admin.body(NEEDS_LINE)).find((d) => textField(d, 'name') === name);
  const needs = (deps as { deps?: unknown } | undefined)?.deps;
  if (Array.isArray(needs) && needs.length > 0)
    lines.push([{ text: 'Needs     ', tone: 'muted' }, { text: needs.map(String).join(', ') }]);
  const backends = session.backends.filter((b) => b.name.startsWith(`${name}.`));
  for (const b of backends) {
    lines.push([
      { text: 'Backend   ', tone: 'muted' },
      { text: b.name.slice(name.length + 1) },
      { text: `  ${b.health}`, tone: healthTone(b.health, session.isOld) },
    ]);
  }
  lines.push(
    [],
    [
      {
        text:
          status === 'active'
            ? 'Enter shows its source. It is active: to replace it, load and use another program.'
            : 'Enter: source, D: changes, u: use, Del: discard',
        tone: 'faint',
      },
    ],
  );
  return lines;
}

/** The active program; with several instances shown as one, that of the instance of `beside`. */
export function activeProgram(session: DaemonSession, beside: string): string {
  const place = placeOfName(beside);
  const rows = programRows(session);
  return rows.find((r) => r.facts.status === 'active' && placeOfName(r.key) === place)?.key ?? '';
}
