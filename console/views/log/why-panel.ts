// The answer to "why?": at once from the local store, then again with the daemon's own log of the URL and the bans in
// force. The second answer replaces the first while its panel is open.

import type { LogTransaction } from '../../../protocol/messages.ts';
import type { LogEntry } from '../../model/log/log-entry.ts';
import { splitGroups } from '../../model/log/request-group.ts';
import { summarise } from '../../model/log/transaction.ts';
import { answerItems, textField } from '../../model/session/admin-store.ts';
import type { DaemonSession } from '../../model/session/daemon-session.ts';
import type { ToneLine } from '../../model/ui/panel.ts';
import type { ViewContext } from '../../model/ui/view.ts';
import { keptOf, reasonLines, reasonsOf, sinceOf } from './log-detail.ts';
import { invalidatedBefore } from './log-search.ts';
import type { RowPlace } from './log-tree.ts';
import type { BanFact } from './why/ban-match.ts';
import { partOf, partsFor } from './why/fragments.ts';
import { Facts } from './why/request-facts.ts';
import { why } from './why/why.ts';
import type { Reason } from './why/why-case.ts';
import { pageQuery } from './written-query.ts';

/** Earlier groups considered, newest first. */
const EARLIER = 40;
const TIMEOUT_MS = 1500;

/** For the page, or for the fragment at `place`. */
export async function whyPanel(c: ViewContext, entry: LogEntry, place: RowPlace): Promise<void> {
  const { session } = c;
  const part = partOf(entry.transactions, place.tx);
  const main = part.find((tx) => tx.type === 'request');
  const { method, url } = main === undefined ? entry.summary : summarise(main);
  const title = `Why? ${method} ${url}`;
  const show = (reasons: readonly Reason[], remark: string): void => {
    c.ui.set({
      panel: { kind: 'text', scroll: 0, title, lines: panelLines(reasons, remark, c.ui.size.columns - 10) },
    });
  };
  show(reasonsOf(entry, place, session), 'asking the daemon for what its log holds of this URL…');
  const panel = c.ui.state.panel;
  const [history, bans] = await Promise.all([historyOf(session, url), bansOf(session)]);
  // Closed or replaced in the meantime: drop the answer.
  if (c.ui.state.panel !== panel) return;
  const matching = history.groups.flatMap((group) => partsFor(group, url));
  const elsewhere = [...history.groups, ...invalidatedBefore(session.log.kept, entry, EARLIER)].filter(
    (group) => isBefore(group, part),
  );
  const earlier = mergeHistory(part, matching, keptOf(entry, part, session));
  const since = history.since > 0 ? history.since : sinceOf(session);
  show(why(part, { earlier, elsewhere, bans, since }), history.remark);
}

function panelLines(reasons: readonly Reason[], remark: string, width: number): ToneLine[] {
  const lines = reasons.flatMap((r) => reasonLines(r, width, true));
  if (reasons.length === 0)
    lines.push([{ text: 'There is nothing to explain: it contains no request.', tone: 'muted' }], []);
  if (remark !== '') lines.push([{ text: remark, tone: 'faint' }]);
  return lines;
}

interface History {
  groups: LogTransaction[][];
  /** Epoch seconds of the oldest record searched; 0 if unknown. */
  since: number;
  remark: string;
}

/** Matches in the daemon's log ring: requests for the URL that fetched or purged, and purges without a URL. */
function historyOf(session: DaemonSession, url: string): Promise<History> {
  const query = `(${pageQuery('', url)} and (Link or VCL_call eq "PURGE" or ReqMethod ~ "PURGE$")) or Notice ~ "^(xkey|hashtwo)[.]" or ReqMethod ~ "BAN$"`;
  return new Promise((resolve) => {
    const groups: LogTransaction[][] = [];
    let done = false;
    const finish = (remark: string): void => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      stream.close();
      resolve({ groups, since: 0, remark });
    };
    const timer = setTimeout(() => finish('from the part of the daemon’s log that came in time'), TIMEOUT_MS);
    timer.unref?.();
    const stream = session.source.log(
      { grouping: 'request', query, from: 'head', once: true },
      {
        batch: (transactions) => {
          groups.push(...splitGroups(transactions));
        },
        lost: () => undefined,
        failed: () => finish('from the records kept here: the daemon sent no more'),
        ended: () => finish('from the daemon’s log'),
      },
    );
  });
}

async function bansOf(session: DaemonSession): Promise<BanFact[]> {
  const { status, body } = await session.source.command('ban.list -j');
  if (status !== 200) return [];
  return answerItems(body).map((b) => ({
    at: Number(textField(b, 'time')) || 0,
    spec: textField(b, 'spec'),
    soft: textField(b, 'soft') === 'true',
  }));
}

/** Did it begin before the group in question? Later requests had no influence. */
function isBefore(group: readonly LogTransaction[], part: readonly LogTransaction[]): boolean {
  const at = (one: readonly LogTransaction[]): number => {
    const request = one.find((tx) => tx.type === 'request');
    return request === undefined ? 0 : new Facts(request).at;
  };
  return at(group) <= at(part);
}

/** Both histories, each transaction once, before the group, newest first. */
function mergeHistory(
  group: readonly LogTransaction[],
  fromDaemon: readonly (readonly LogTransaction[])[],
  kept: readonly (readonly LogTransaction[])[],
): (readonly LogTransaction[])[] {
  const own = new Set(group.map((tx) => tx.vxid));
  const until = Math.max(0, ...group.filter((tx) => tx.type === 'request').map((tx) => new Facts(tx).at));
  const byId = new Map<number, { at: number; group: readonly LogTransaction[] }>();
  for (const one of [...fromDaemon, ...kept]) {
    const request = one.find((tx) => tx.type === 'request');
    if (request === undefined || own.has(request.vxid)) continue;
    const at = new Facts(request).at;
    if (until === 0 || at <= until) byId.set(request.vxid, { at, group: one });
  }
  return [...byId.values()]
    .sort((a, b) => b.at - a.at)
    .slice(0, EARLIER)
    .map((g) => g.group);
}
