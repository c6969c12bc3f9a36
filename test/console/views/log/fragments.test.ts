// Pages with edge-side includes in the console, from what Varnish and proxyd logged of them (test/harness/esi-pages/):
// the tree, the timeline, "why?". Varnish fetches fragments one after another, proxyd at the same time.
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { LogEntry } from '../../../../console/model/log/log-entry.ts';
import { summarise } from '../../../../console/model/log/transaction.ts';
import { groupsOfFile } from '../../../../console/model/session/recorded-log.ts';
import { placeOf, rowOf, rowsOf } from '../../../../console/views/log/log-tree.ts';
import { timeline } from '../../../../console/views/log/timeline.ts';
import { FRAGMENT_RULES } from '../../../../console/views/log/why/fragment-rules.ts';
import { fragmentsLine, fragmentsOf, partOf, partsFor } from '../../../../console/views/log/why/fragments.ts';
import { why } from '../../../../console/views/log/why/why.ts';
import type { Reason } from '../../../../console/views/log/why/why-case.ts';
import { includeFailureText, readIncludeFailure } from '../../../../protocol/esi-notes.ts';
import type { LogTransaction } from '../../../../protocol/messages.ts';
import { FAKE_START, fakeGroup, record } from '../../fake-recording.ts';

type Writer = 'varnish' | 'proxyd';

function recorded(writer: Writer): LogTransaction[][] {
  const file = new URL(`./esi-${writer}.vsl.gz`, import.meta.url);
  return groupsOfFile(gunzipSync(readFileSync(file))) ?? [];
}

const groups = { varnish: recorded('varnish'), proxyd: recorded('proxyd') };

/** The last group of a page. */
function page(url: string, writer: Writer = 'varnish'): LogTransaction[] {
  const found = groups[writer].findLast((g) => summarise(g[0] as LogTransaction).url === url);
  if (found === undefined) throw new Error(`no ${url} in the recording`);
  return found;
}

function output(group: readonly LogTransaction[], rule: string): Reason | undefined {
  return why(group, { earlier: [], bans: null, since: 0 }).find((r) => r.rule === rule);
}

/** A page of fragments that are fetched at the same time, `seconds` each. */
function parallel(seconds: readonly number[]): LogTransaction[] {
  const [first, fetch] = fakeGroup({
    vxid: 2,
    at: FAKE_START,
    method: 'GET',
    url: '/page',
    status: 200,
    handling: 'MISS',
    seconds: Math.max(...seconds) + 0.01,
    body: 10,
  }) as [LogTransaction, LogTransaction];
  const fragments = seconds.flatMap((s, n) =>
    fakeGroup({
      vxid: 100 + 3 * n,
      at: FAKE_START + 0.005,
      method: 'GET',
      url: `/f${n}`,
      status: 200,
      handling: 'MISS',
      seconds: s,
      body: 10,
    }).map(
      (tx): LogTransaction => ({
        ...tx,
        level: tx.level + 1,
        ...(tx.type === 'request' ? { reason: 'esi', parent: first.vxid } : {}),
      }),
    ),
  );
  return [first, fetch, ...fragments];
}

/** Page, rule, its sentence, the tags of its evidence. */
const ROWS: readonly [string, string, RegExp, string][] = [
  [
    '/slow-page',
    'fragments',
    /^It was assembled from 3 fragments \(3 miss\); \/slow took longest, 1\d\dms of the page's 1\d\dms \(miss\)\.$/,
    'Link Timestamp',
  ],
  ['/warm-page', 'fragments', /^It was assembled from 3 fragments \(3 hit\)/, 'Link( Timestamp)?'],
  ['/nested-page', 'fragments', /; \/slow2 in \/inner in \/outer took longest, 1\d\dms of/, 'Link Timestamp'],
  [
    '/passing-page',
    'fragment-uncached',
    /^3 of its 5 fragments are not kept .*: \/basket-pass \(pass\), \/greeting \(hit-for-miss, it has a Set-Cookie\), \/no-life \(hit-for-miss, its headers give it no lifetime\)\.$/,
    'VCL_return BerespHeader TTL BerespHeader TTL',
  ],
  [
    '/failing-page',
    'fragment-failed',
    /^3 of its 4 fragments failed: \/gone \(404\), \/refused \(503, backend nobody: .*refused\)\), \/missing \(503, HTC eof/,
    'RespStatus FetchError FetchError',
  ],
  [
    '/cut-page',
    'fragment-failed',
    /^1 of its 3 fragments failed: \/cut \((straight insufficient bytes|its body broke off)\)\.$/,
    'FetchError|Error',
  ],
  [
    '/looping-page',
    'fragment-depth',
    /deeper than max_esi_depth: \/looping-page includes itself\.$/,
    'VCL_Error',
  ],
  [
    '/broken-page',
    'esi-markup',
    /errors: ERR after 6 ESI 1.0 <esi:include> lacks src attr and 2 more\.$/,
    'ESI_xmlerror ESI_xmlerror ESI_xmlerror',
  ],
  [
    '/text-page',
    'esi-markup',
    /^ESI was not done on \/text-page, whose body does not begin with "<": it is delivered unprocessed, with its include tags\.$/,
    'ESI_xmlerror',
  ],
  [
    '/remote-page',
    'fragment-host',
    /^The include of \/a names the host elsewhere\.example, but was fetched from shop, as the page/,
    'ReqHeader BackendOpen',
  ],
];

describe('why? of a page', () => {
  const rows = ROWS.flatMap((row) => [['varnish', ...row] as const, ['proxyd', ...row] as const]);
  it.each(rows)('%s %s: %s', (writer, url, rule, sentence, tags) => {
    const reason = output(page(url, writer), rule);
    expect(reason?.sentence).toMatch(sentence);
    expect(reason?.evidence.map((e) => e.tag).join(' ')).toMatch(new RegExp(`^(${tags})$`));
  });

  it.each(['varnish', 'proxyd'] as const)('%s: nothing of fragments that are in order', (writer) => {
    const rules = (url: string): string[] =>
      why(page(url, writer), { earlier: [], bans: null, since: 0 }).map((r) => r.rule);
    expect(rules('/plain-page')).toEqual(['never-seen', 'next-is-hit']);
    expect(rules('/warm-page')).toEqual(['hit', 'fragments']);
    expect(rules('/looping-page')).not.toContain('program-error');
  });

  it('names the mark that keeps a page from being read, and no program for what ESI refuses', () => {
    const [first, fetch] = page('/text-page', 'proxyd') as [LogTransaction, LogTransaction];
    const note = "No ESI processing, first char not '<' but BOM. (See feature esi_remove_bom)";
    const of = (tag: Parameters<typeof record>[2], text: string): LogTransaction[] => [
      first,
      { ...fetch, records: record('b', fetch.vxid, tag, text) },
    ];
    const marked = output(of('ESI_xmlerror', note), 'esi-markup');
    expect(marked?.sentence).toContain('begins with a byte order mark');
    expect(marked?.hint).toContain('esi_remove_bom');
    const refused = of('VCL_Error', 'Attempted ESI on partial (206) response');
    expect(output(refused, 'program-error')).toBeUndefined();
  });

  it('has a page for each rule', () => {
    expect([...new Set(ROWS.map(([, rule]) => rule))].sort()).toEqual(
      FRAGMENT_RULES.map((r) => r.name).sort(),
    );
  });

  it('takes the daemon’s own word for a failure', () => {
    const text = includeFailureText({ url: '/a', reason: 'too late: 10 s' });
    expect(readIncludeFailure(text)).toEqual({ url: '/a', reason: 'too late: 10 s' });
    expect(readIncludeFailure('a blank stands in the name of a header')).toBeNull();
    const [first, ...rest] = page('/warm-page') as [LogTransaction, ...LogTransaction[]];
    const records = Buffer.concat([first.records, record('c', first.vxid, 'Error', text)]);
    const reason = output([{ ...first, records }, ...rest], 'fragment-failed');
    expect(reason?.sentence).toBe('1 of its 3 fragments failed: /a (too late: 10 s).');
    expect(reason?.evidence[0]?.text).toBe('ESI include /a: too late: 10 s');
  });

  it('distinguishes fragments that wait for each other from those that do not', () => {
    expect(output(parallel([0.1, 0.09]), 'fragments')?.sentence).not.toContain('one after another');
    const queued = output(parallel([0.1]).concat(shifted(0.2)), 'fragments');
    expect(queued?.sentence).toMatch(/one after another they took 180ms\.$/);
    expect(queued?.hint).toContain('esi_parallel');
  });

  function shifted(by: number): LogTransaction[] {
    const [request] = fakeGroup({
      vxid: 900,
      at: FAKE_START + by,
      method: 'GET',
      url: '/late',
      status: 200,
      handling: 'HIT',
      seconds: 0.1,
      body: 1,
    }) as [LogTransaction];
    return [{ ...request, level: 2, reason: 'esi', parent: 2 }];
  }
});

describe('a fragment', () => {
  const group = page('/nested-page');

  it('is a part of its page, with what it includes and fetches', () => {
    const inner = group.findIndex((tx) => tx.reason === 'esi' && summarise(tx).url === '/inner');
    const part = partOf(group, inner);
    expect(part.map((tx) => [tx.type, summarise(tx).url])).toEqual([
      ['request', '/inner'],
      ['bereq', '/inner'],
      ['request', '/slow2'],
      ['bereq', '/slow2'],
    ]);
    expect(partOf(group, inner + 99)).toBe(group);
    expect(partOf(group, 0)).toBe(group);
    expect(fragmentsOf(part).map((f) => f.url)).toEqual(['/slow2']);
  });

  it('is explained as a request of its own', () => {
    const page = group.findIndex((tx) => tx.reason === 'esi' && summarise(tx).url === '/slow2');
    const reasons = why(partOf(group, page), { earlier: [], bans: null, since: 0 });
    expect(reasons.map((r) => r.rule)).toEqual(['never-seen', 'next-is-hit']);
    expect(timeline(partOf(group, page)).steps.some((s) => s.label === 'waited for the first byte')).toBe(
      true,
    );
  });

  it('is found by its URL in the groups of pages', () => {
    expect(partsFor(group, '/inner').map((p) => p.length)).toEqual([4]);
    expect(partsFor(group, '/nested-page')).toEqual([group]);
    expect(partsFor(page('/looping-page'), '/looping-page')).toHaveLength(6);
    expect(partsFor(group, '/elsewhere')).toEqual([]);
  });
});

describe('the tree', () => {
  it('shows a fragment’s fetch and fragments below it, not after its neighbours', () => {
    const entry = new LogEntry(1, page('/nested-page'), '');
    const shown = entry.order.map((n) => {
      const tx = entry.transactions[n] as LogTransaction;
      return `${'.'.repeat(tx.level - 1)}${tx.type} ${summarise(tx).url}`;
    });
    expect(shown).toEqual([
      'request /nested-page',
      '.bereq /nested-page',
      '.request /outer',
      '..bereq /outer',
      '..request /inner',
      '...bereq /inner',
      '...request /slow2',
      '....bereq /slow2',
      '.request /b',
    ]);
  });

  it('finds the place of each row, and the row of each place', () => {
    const entry = new LogEntry(1, page('/nested-page'), '');
    const folds = { unfoldAll: false, toggled: new Set([1]), opened: new Set(['1/2']) };
    for (let row = 0; row < rowsOf(folds, entry); row++)
      expect(rowOf(folds, entry, placeOf(folds, entry, row))).toBe(row);
    expect(placeOf(folds, entry, 2).tx).toBe(entry.order[1]);
  });

  it('keeps the order of the log for groups without fragments, and for parents in a ring', () => {
    const [a, b] = fakeGroup({
      vxid: 2,
      at: FAKE_START,
      method: 'GET',
      url: '/',
      status: 200,
      handling: 'MISS',
      seconds: 1,
      body: 1,
    }) as [LogTransaction, LogTransaction];
    expect(new LogEntry(1, [a, b], '').order).toEqual([0, 1]);
    const ring = [
      { ...a, reason: 'esi', parent: b.vxid },
      { ...b, parent: a.vxid },
    ];
    expect(new LogEntry(1, ring, '').order).toEqual([0, 1]);
  });

  it('shows next to the page the outcome of its fragments', () => {
    const line = (url: string): string => fragmentsLine(fragmentsOf(page(url))).replace(/\d+(\.\d)?ms/, 'N');
    expect(line('/slow-page')).toBe('3 fragments, slowest /slow N (miss)');
    expect(line('/passing-page')).toBe(
      '5 fragments, 3 not cacheable: /basket-pass (pass), /greeting (hit-for-miss), /no-life (hit-for-miss)',
    );
    expect(line('/failing-page')).toMatch(/3 failed: \/gone \(404\), \/refused \(503\), \/missing \(503\)$/);
    expect(line('/cut-page')).toMatch(/1 failed: \/cut \(cut\)$/);
    expect(fragmentsLine(fragmentsOf(parallel([0.1, 0.2, 0.15])))).toBe(
      '3 fragments, slowest /f1 180ms (miss)',
    );
  });
});

describe('the timeline of a page', () => {
  it('has one bar for a fragment, below those that include it', () => {
    const bars = timeline(page('/nested-page')).steps.filter((s) => s.side === 'fragment');
    expect(bars.map((s) => [s.depth, s.label])).toEqual([
      [1, '/outer (miss)'],
      [2, '/inner (miss)'],
      [3, '/slow2 (miss)'],
      [1, '/b (hit)'],
    ]);
    const [outer, inner] = bars;
    expect(inner?.from).toBeGreaterThanOrEqual(outer?.from ?? 9);
    expect(inner?.to).toBeLessThanOrEqual(outer?.to ?? 0);
  });

  it('ends a bar when the fragment has come, however long it waits for those before it', () => {
    const steps = timeline(page('/slow-page', 'proxyd')).steps.filter((s) => s.side === 'fragment');
    const of = (label: string): { from: number; to: number } =>
      steps.find((s) => s.label === label) ?? { from: 0, to: 0 };
    const [slow, after] = [of('/slow (miss)'), of('/b (miss)')];
    expect(slow.to - slow.from).toBeGreaterThan(0.15);
    expect(after.to - after.from).toBeLessThan(0.1);
    expect(after.from).toBeLessThan(slow.to);
    const waiting = fragmentsOf(page('/slow-page', 'proxyd')).find((f) => f.url === '/b');
    expect((waiting?.request.until ?? 0) - (waiting?.from ?? 0)).toBeGreaterThan(0.1);
  });

  it('lets bars of the same time overlap', () => {
    const bars = timeline(parallel([0.1, 0.2])).steps.filter((s) => s.side === 'fragment');
    expect(bars.map((s) => s.from.toFixed(3))).toEqual(['0.005', '0.005']);
    expect(bars.map((s) => s.to.toFixed(3))).toEqual(['0.095', '0.185']);
  });

  it('draws the longest of many', () => {
    const { steps, hidden } = timeline(parallel(Array.from({ length: 30 }, (_, n) => 0.01 + n / 1000)));
    expect(hidden).toBe(6);
    expect(steps.filter((s) => s.side === 'fragment').map((s) => s.label)).not.toContain('/f5 (miss)');
  });
});
