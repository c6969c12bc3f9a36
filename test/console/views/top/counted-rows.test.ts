// Whatever Top counts, Enter shows: the query of each row finds at least as many groups as the row has counted, in what a
// real proxyd logged (restarts, purges, passes, failed fetches among it).

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseBackendList } from '../../../../console/model/session/backends.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { decodeTransaction, type RecordedTransaction } from '../../../../console/model/session/recording.ts';
import { RANKING_NAMES } from '../../../../console/model/traffic/rankings.ts';
import { TrafficSample } from '../../../../console/model/traffic/traffic-sample.ts';
import { backendQuery } from '../../../../console/views/backends/backend-rows.ts';
import { CAUSES_VIEW } from '../../../../console/views/causes/causes-view.ts';
import { judge } from '../../../../console/views/causes/judge.ts';
import { pageQuery } from '../../../../console/views/log/written-query.ts';
import { rankQuery } from '../../../../console/views/top/rank-subjects.ts';
import { LogSelection } from '../../../../queries/log-selection.ts';

const file = new URL('../log/why-recorded.json.gz', import.meta.url);
const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString()) as { groups: RecordedTransaction[][] };
const groups = recorded.groups.map((group) => group.map(decodeTransaction));

function found(query: string): number {
  const selection = LogSelection.create({ grouping: 'request', from: 'head', query });
  if (!(selection instanceof LogSelection)) throw new Error(`${query}: ${selection.message}`);
  return groups.filter((group) => selection.take(group, 0) !== null).length;
}

describe('a drill-down shows what was counted', () => {
  const sample = new TrafficSample();
  for (const group of groups)
    sample.add(
      group.map((tx, i) => ({ ...tx, first: i === 0 })),
      1000,
    );

  it.each(RANKING_NAMES.filter((name) => name !== 'fragment'))('by %s', (name) => {
    const { ranks } = sample.ranked(name, null, 1001, 1000);
    if (name !== 'agent') expect(ranks.length).toBeGreaterThan(0);
    const short = ranks
      .map(({ key, requests }) => ({ key, requests, found: found(rankQuery(name, key)) }))
      // Of backends fetches are counted, of which a group may have several.
      .filter((row) => row.found < (name === 'backend' ? 1 : row.requests));
    expect(short).toEqual([]);
  });

  it('also of a cause of misses: of the URL that it names', () => {
    sample.unserved.judge(1e6, judge);
    const session = {
      traffic: { sample, share: () => 1, judgeUnserved: () => undefined },
      dataAt: 1001,
    } as unknown as DaemonSession;
    const rows = CAUSES_VIEW.definition.rows(session, '');
    expect(rows.length).toBeGreaterThan(20);
    for (const { key, facts } of rows) {
      const { cause, detail, url, host } = facts;
      const counted = sample.unserved
        .last()
        .filter((one) => one.verdict?.cause === cause && one.verdict?.detail === detail)
        .filter((one) => one.url === url && one.host === host).length;
      expect([key, found(facts.query ?? '') >= counted, counted > 0]).toEqual([key, true, true]);
    }
  });

  it('also of what changed: under the URL and host that it was looked up as', () => {
    const { urls } = sample.urls.between(990, 1010);
    expect(urls.size).toBeGreaterThan(30);
    const short = [...urls.values()].filter(
      ({ host, url, requests }) => found(pageQuery(host, url)) < requests,
    );
    expect(short).toEqual([]);
  });

  it('also of a sick backend: what failed for that, and no more', () => {
    const list = (name: string, health: string) =>
      parseBackendList(
        JSON.stringify([
          3,
          [],
          0,
          {
            [`boot.${name}`]: {
              type: 'backend',
              admin_health: 'probe',
              probe_message: [0, 0, health],
              last_change: 0,
            },
          },
        ]),
      );
    for (const [name, health] of [
      ['shop', 'sick'],
      ['nobody', 'sick'],
      ['shop', 'healthy'],
    ] as const) {
      const [row] = list(name, health);
      if (row === undefined) throw new Error('no backend');
      const matched = found(backendQuery(row, new Map([[row.name, row]])));
      expect([name, health, matched > 0]).toEqual([name, health, true]);
      if (health === 'sick') expect(matched).toBeLessThan(groups.length / 2);
    }
  });
});
