// The detail pane of a group: text that does not fit in its columns ends in an ellipsis.
import { expect, it } from 'vitest';
import { LogEntry } from '../../../../console/model/log/log-entry.ts';
import { LogStore } from '../../../../console/model/log/log-store.ts';
import type { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { detailLines } from '../../../../console/views/log/log-detail.ts';
import { FAKE_START, fakeGroup } from '../../fake-recording.ts';

it('marks the URL of a fragment that has no room beside its bar', () => {
  const plain = {
    at: FAKE_START,
    method: 'GET',
    status: 200,
    handling: 'HIT',
    seconds: 0.1,
    body: 9,
  } as const;
  const page = fakeGroup({ ...plain, vxid: 10, url: '/page' });
  const [included] = fakeGroup({ ...plain, vxid: 20, url: '/fragments/recommended/for/you' });
  if (included === undefined) throw new Error('a request');
  const group = [...page, { ...included, level: 2, reason: 'esi', parent: 10 }];
  const kept = new LogStore({ maxBytes: 1 << 20, maxEntries: 10 });
  const session = { log: { kept } } as unknown as DaemonSession;
  const lines = detailLines(new LogEntry(1, group, ''), { tx: -1, record: -1 }, session, 60);
  const label = lines.map((line) => line[0]?.text ?? '').find((text) => text.includes('/fragments'));
  expect(label).toMatch(/ \/fragments\/recommended.*…$/);
  expect(label).toHaveLength(31);
});
