// What stands in a panel that has no rows: of its own, because panels of several files have it. Words are folded, because the
// reason why a daemon cannot be reached is as long as it is.

import { type Row, span } from '../../draw/spans.ts';
import type { DaemonSession } from '../../model/daemon-session.ts';
import { folded } from '../../model/folded-lines.ts';

/** What nobody has said yet is not said. */
export function nothing(session: DaemonSession, text: string, width: number): Row[] {
  return session.everUp ? words(text, width) : [];
}

export function words(text: string, width: number): Row[] {
  return folded([[{ text }]], width).map((line) => [span(line.map((part) => part.text).join(''), 'muted')]);
}
