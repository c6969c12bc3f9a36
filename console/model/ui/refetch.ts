// Fetches a page again through the proxy, and compares both responses: a GET to where the daemon listens, the ban that
// purges exactly this page, the same GET again. It shows the requests and asks first. Handling and remaining lifetime
// are read from the log, by the port of the connection.

import { RecordCursor } from '../../../protocol/log-record.ts';
import type { LogTransaction } from '../../../protocol/messages.ts';
import { Tag } from '../../../protocol/tables/tags.ts';
import type { PageAddress } from '../../client/page-client.ts';
import { pageHeaders } from '../../client/page-client.ts';
import { printable } from '../log/transaction.ts';
import { answerItems, textField } from '../session/admin-store.ts';
import { readTraffic } from '../traffic/traffic-facts.ts';
import { panelTextCells } from './layout.ts';
import { type LoggedPage, pageComparison, type SeenPage } from './page-comparison.ts';
import { type ToneLine, textPanel } from './panel.ts';
import { banOf, type Subject } from './row-subject.ts';
import type { ViewContext } from './view.ts';

/** How long to wait for the log after the response (chosen). */
const LOG_MS = 1500;

export async function refetchPage(c: ViewContext, page: Subject | undefined): Promise<void> {
  const { session, ui } = c;
  if (ui.state.readonly) return c.ui.notify('warn', 'read-only: a refetch purges, and is disabled');
  if (page === undefined) return c.ui.notify('warn', 'select a row with a single URL');
  const problem = problemOf(sentAs(page));
  if (problem !== '') return c.ui.notify('warn', problem);
  if (session.source.parts !== undefined)
    return c.ui.notify('warn', 'two instances are shown as one: choose one with :ctx, and refetch there');
  const at = await listeners(c);
  if (at.length === 0) return c.ui.notify('bad', 'the daemon has no plain HTTP listener on TCP');
  const ban = banOf(page);
  const counted = await session.source.command(`ban.count ${ban}`);
  const count = counted.status === 200 ? `  (${counted.body.trim().replace(/\s*\n\s*/g, ' ')})` : '';
  const where = at.map(({ host, port }) => `${host}:${port}`).join(' or ');
  const { url, host } = sentAs(page);
  const get = `GET ${url} at ${where}, ${Object.entries(pageHeaders(host))
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')}`;
  const lines: ToneLine[] = [
    [{ text: '1  ' }, { text: get, tone: 'strong' }],
    [{ text: '2  ' }, { text: `ban ${ban}`, tone: 'strong' }, { text: count, tone: 'muted' }],
    [{ text: '3  the same GET, and both responses side by side' }],
    [{ text: 'Nothing else is sent. Both count as client requests.', tone: 'muted' }],
  ];
  c.ui.set({
    panel: textPanel('Confirm: requests to send', lines),
    confirm: {
      line: 'refetch',
      text: 'fetch it again through the proxy?',
      undoes: 0,
      part: '',
      act: () => void refetch(c, page, at),
    },
    notice: null,
  });
}

async function refetch(c: ViewContext, page: Subject, addresses: readonly PageAddress[]): Promise<void> {
  const name = sentName(page);
  try {
    c.ui.set({ running: `GET ${name}` });
    const { before, at } = await firstSeen(c, page, addresses);
    const { status } = await c.operator.run(`ban ${banOf(page)}`);
    if (status !== 200) return;
    c.ui.set({ running: `GET ${name} again` });
    const after = await seen(c, page, at);
    const lines = pageComparison(before, after, panelTextCells(c.ui.size));
    c.ui.set({ panel: textPanel(`${name}: before and after`, lines), notice: null });
  } catch (error) {
    c.ui.notify('bad', `${name}: ${(error as Error).message}`);
  } finally {
    c.ui.set({ running: null });
  }
}

/** The page among the subjects of a row. */
export function pageOf(subjects: readonly Subject[]): Subject | undefined {
  return subjects.find((one) => one.kind === 'url');
}

/** Its URL with the host, as clients send it. */
export function sentName(page: Subject): string {
  const { host, url } = sentAs(page);
  return host + url;
}

/** URL and host as a client sends them: the ban has those of the lookup. */
function sentAs({ key, of, sent }: Subject): { url: string; host: string } {
  return sent ?? { url: key, host: of };
}

/** The reason why no request can be sent: an invalid URL, no valid host; '' without one. */
function problemOf({ url, host }: { url: string; host: string }): string {
  if (host === '') return 'its host is unknown';
  if (!/^[\w.:[\]-]+$/.test(host)) return `${host} is not a valid host`;
  return /^\/[\x21-\x7e]*$/.test(url) ? '' : 'its URL contains characters that are invalid in a request line';
}

/** Addresses of plain HTTP, as seen from here: one, or those of a Varnish, which does not report where it expects
 * the PROXY protocol. */
async function listeners({ session }: ViewContext): Promise<PageAddress[]> {
  const { source } = session;
  const far = source.local === true ? '' : source.label.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  const seenFrom = (host: string, port: number): PageAddress => {
    const any = host === '0.0.0.0' || host === '::';
    const near = host === '::' ? '::1' : '127.0.0.1';
    return { host: !any ? host : far === '' ? near : far, port };
  };
  const listed = await source.command('listen.list -j');
  if (listed.status === 200) {
    const plain = answerItems(listed.body).find(
      (one) => Number(textField(one, 'port')) > 0 && textField(one, 'protocol') === 'HTTP',
    );
    return plain === undefined
      ? []
      : [seenFrom(textField(plain, 'address'), Number(textField(plain, 'port')))];
  }
  const { status, body } = await source.command('debug.listen_address');
  const lines = status === 200 ? body.split('\n').map((line) => line.trim().split(/\s+/)) : [];
  return lines.flatMap(([, host = '', port = '']) =>
    /^\d+$/.test(port) ? [seenFrom(host, Number(port))] : [],
  );
}

/** Tries one address after the other until there is a response: a listener of another protocol gives none. */
async function firstSeen(
  c: ViewContext,
  page: Subject,
  addresses: readonly PageAddress[],
): Promise<{ before: SeenPage; at: PageAddress }> {
  let failed: unknown;
  for (const at of addresses) {
    try {
      return { before: await seen(c, page, at), at };
    } catch (error) {
      failed = error;
    }
  }
  throw failed;
}

async function seen(c: ViewContext, page: Subject, at: PageAddress): Promise<SeenPage> {
  const { source } = c.session;
  let settle: (logged: LoggedPage | null) => void = () => undefined;
  const logged = new Promise<LoggedPage | null>((resolve) => {
    settle = resolve;
  });
  let stream: { close(): void } | null = null;
  const watch = (port: number): Promise<void> =>
    new Promise((ready) => {
      stream = source.log(
        { grouping: 'request', from: 'tail', query: `ReqStart[2] == ${port}` },
        { ready, batch: (group) => settle(loggedPage(group)), lost: () => undefined, failed: () => ready() },
      );
    });
  try {
    const answer = await c.askForPage(at, sentAs(page), watch);
    const timer = setTimeout(() => settle(null), LOG_MS);
    const found = await logged;
    clearTimeout(timer);
    return { answer, logged: found };
  } finally {
    (stream as { close(): void } | null)?.close();
  }
}

/** The object's lifetime: set by the fetch, or left at a hit. */
function loggedPage(group: readonly LogTransaction[]): LoggedPage {
  const handling = readTraffic(group)[0]?.handling ?? '';
  // The last one made the response: a fetch may have been retried.
  const fetch = group.findLast((tx) => tx.type === 'bereq' && tx.reason !== 'bgfetch');
  const request = group.find((tx) => tx.type === 'request');
  let ttl: number | null = null;
  let error = '';
  const cursor = new RecordCursor((fetch ?? request)?.records ?? new Uint8Array());
  while (cursor.next()) {
    if (cursor.tag === (fetch === undefined ? Tag.Hit : Tag.TTL)) ttl = Number(cursor.text.split(' ')[1]);
    else if (cursor.tag === Tag.FetchError) error = printable(cursor.text);
  }
  return { handling, ttl: Number.isNaN(ttl) ? null : ttl, error };
}
