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
import type { Reason, Searched } from './why/why-case.ts';
import { pageQuery } from './written-query.ts';

/** Earlier groups considered, newest first. */
const EARLIER = 40;
/** Milliseconds from one answer to the next while the log is read: a long one takes minutes on a slow line. */
const SLICE_MS = 1500;
/** Groups of the log that are kept for the answer (chosen). */
const MOST_GROUPS = 2000;

/** For the page, or for the fragment at `place`. */
export async function whyPanel(c: ViewContext, entry: LogEntry, place: RowPlace): Promise<void> {
  const { session } = c;
  const part = partOf(entry.transactions, place.tx);
  const main = part.find((tx) => tx.type === 'request');
  const { method, url } = main === undefined ? entry.summary : summarise(main);
  const title = `Why? ${method} ${url}`;
  let lines: readonly ToneLine[] = [];
  const show = (reasons: readonly Reason[], remark: string, scroll = 0): void => {
    lines = panelLines(reasons, remark, c.ui.size.columns - 10);
    c.ui.set({ panel: { kind: 'text', scroll, title, lines } });
  };
  show(reasonsOf(entry, place, session), 'searching the daemon’s log for this URL…');
  const bans = await bansOf(session);
  const answer = ({ groups, searched, remark }: History): boolean => {
    const { panel } = c.ui.state;
    // Closed or replaced in the meantime: what comes is dropped, and no more is read.
    if (panel?.kind !== 'text' || panel.lines !== lines) return false;
    const matching = groups.flatMap((group) => partsFor(group, url));
    const elsewhere = [...groups, ...invalidatedBefore(session.log.kept, entry, EARLIER)].filter((group) =>
      isBefore(group, part),
    );
    const earlier = mergeHistory(part, matching, keptOf(entry, part, session));
    const context = { earlier, elsewhere, bans, since: sinceOf(session), searched, utc: session.utc };
    show(why(part, context), remark, panel.scroll);
    return true;
  };
  readHistory(session, url, answer);
}

function panelLines(reasons: readonly Reason[], remark: string, width: number): ToneLine[] {
  const lines = reasons.flatMap((r) => reasonLines(r, width, true));
  if (reasons.length === 0)
    lines.push([{ text: 'Nothing to explain: it contains no request.', tone: 'muted' }], []);
  if (remark !== '') lines.push([{ text: remark, tone: 'faint' }]);
  return lines;
}

interface History {
  groups: readonly LogTransaction[][];
  searched: Searched;
  remark: string;
}

/** Matches in the daemon's log: requests for the URL that fetched or purged, and purges without a URL. `answer` gets what was
 * read after a while, and all of it at the end; it returns whether more is wanted. */
function readHistory(session: DaemonSession, url: string, answer: (history: History) => boolean): void {
  const query = `(${pageQuery('', url)} and (Link or VCL_call eq "PURGE" or ReqMethod ~ "PURGE$")) or Notice ~ "^(xkey|hashtwo)[.]" or ReqMethod ~ "BAN$"`;
  let groups: LogTransaction[][] = [];
  let done = false;
  const finish = (searched: Searched, remark: string): void => {
    if (done) return;
    done = true;
    clearInterval(timer);
    stream?.close();
    answer({ groups, searched, remark });
  };
  const timer = setInterval(() => {
    const wanted = answer({
      groups,
      searched: 'part',
      remark: 'the daemon’s log is not fully searched yet…',
    });
    if (wanted) return;
    done = true;
    clearInterval(timer);
    stream?.close();
  }, SLICE_MS);
  timer.unref?.();
  let stream: { close(): void } | null = null;
  stream = session.source.log(
    { grouping: 'request', query, from: 'head', once: true },
    {
      batch: (transactions) => {
        // The oldest are read first.
        groups.push(...splitGroups(transactions));
        if (groups.length > 2 * MOST_GROUPS) groups = groups.slice(-MOST_GROUPS);
      },
      lost: () => undefined,
      failed: () => finish('kept', 'from the console’s own log: the daemon sent nothing more'),
      ended: () => finish('log', 'from the daemon’s log'),
    },
  );
  if (done) stream.close();
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
