// Logs in files, as proxylog writes them, opened as recordings: groups, times and counters come back; filters that
// left out what ties records together do not make a file unreadable.
import { describe, expect, it } from 'vitest';
import { groupJson } from '../../../../console/format/log-json.ts';
import { decodeRecords } from '../../../../console/model/log/transaction.ts';
import { DaemonSession } from '../../../../console/model/session/daemon-session.ts';
import { logRecording } from '../../../../console/model/session/log-recording.ts';
import { groupsOfFile, groupsOfLines } from '../../../../console/model/session/recorded-log.ts';
import { decodeTransaction, type Recording } from '../../../../console/model/session/recording.ts';
import { ReplayPlayer } from '../../../../console/model/session/replay-player.ts';
import { ReplaySource } from '../../../../console/model/session/replay-source.ts';
import { LOG_FILE_MAGIC } from '../../../../protocol/log-record.ts';
import type { Grouping, LogTransaction } from '../../../../protocol/messages.ts';
import { Tag } from '../../../../protocol/tables/tags.ts';
import { recordsOf } from '../../../harness/records.ts';
import { FAKE_START, type FakeRequest, fakeGroup, record } from '../../fake-recording.ts';

const HANDLINGS = ['HIT', 'MISS', 'HIT', 'PASS', 'SYNTH'] as const;
const REQUEST: FakeRequest = {
  vxid: 1001,
  at: FAKE_START,
  method: 'GET',
  url: '/',
  status: 200,
  handling: 'HIT',
  seconds: 0.25,
  body: 100,
};
const TRAFFIC = HANDLINGS.map((handling, n) =>
  fakeGroup({ ...REQUEST, vxid: 1001 + n * 3, at: FAKE_START + n * 2, url: `/${n}`, handling }).map((tx) => ({
    ...tx,
    parent: tx.type === 'bereq' ? tx.parent : 0,
  })),
);

function file(
  groups: readonly (readonly LogTransaction[])[],
  keep: (tag: number) => boolean = () => true,
): Buffer {
  const kept: Uint8Array[] = [LOG_FILE_MAGIC];
  for (const { records } of groups.flat())
    for (const { tag, bytes } of recordsOf(records)) if (keep(tag)) kept.push(bytes);
  return Buffer.concat(kept);
}

const shape = (groups: readonly (readonly LogTransaction[])[] | null): unknown =>
  groups?.map((group) =>
    group.map((tx) => [tx.level, tx.type, tx.reason, tx.vxid, tx.parent, decodeRecords(tx.records)]),
  );

const ids = (groups: readonly (readonly LogTransaction[])[] | null): unknown =>
  groups?.map((group) => group.map((tx) => `${tx.type} ${tx.vxid}`).join(', '));

function logSteps(recording: Recording): [number, number[]][] {
  return recording.steps.flatMap((s): [number, number[]][] =>
    s.kind === 'log' ? [[s.after, s.transactions.map((tx) => decodeTransaction(tx).vxid)]] : [],
  );
}

describe('a log in a file', () => {
  it('comes back from the binary form and from lines as the groups it was', () => {
    expect(shape(groupsOfFile(file(TRAFFIC)))).toEqual(shape(TRAFFIC));
    expect(shape(groupsOfLines(TRAFFIC.map(groupJson).join('')))).toEqual(shape(TRAFFIC));
  });

  it('is distinguished from all else', () => {
    expect(groupsOfFile(Buffer.from('{"format":"proxyd-console-recording/1"}'))).toBeNull();
    expect(groupsOfLines('{"format":"proxyd-console-recording/1"}')).toBeNull();
    expect(groupsOfLines('no json')).toBeNull();
    expect(groupsOfFile(Buffer.from(LOG_FILE_MAGIC))).toEqual([]);
  });

  it('can end in the middle of a record or a line', () => {
    const whole = file(TRAFFIC);
    expect(ids(groupsOfFile(whole.subarray(0, whole.length - 3)))).toEqual(ids(TRAFFIC));
    const lines = TRAFFIC.map(groupJson).join('');
    expect(ids(groupsOfLines(lines.slice(0, -20)))).toEqual(ids(TRAFFIC.slice(0, -1)));
  });

  it('can have been written with tag filters, with and without what ties records together', () => {
    const ours: readonly number[] = [Tag.Begin, Tag.Link, Tag.End, Tag.ReqURL];
    expect(ids(groupsOfFile(file(TRAFFIC, (tag) => ours.includes(tag))))).toEqual(ids(TRAFFIC));
    const bare = groupsOfFile(file(TRAFFIC, (tag) => tag === Tag.ReqURL || tag === Tag.BereqURL));
    expect(ids(bare)).toEqual(TRAFFIC.flat().map((tx) => `${tx.type} ${tx.vxid}`));
    expect(bare?.[1]?.flatMap((tx) => decodeRecords(tx.records)).map((r) => r.text)).toEqual(['/1']);
  });

  it('can hold the backend side alone, or single records in the order they were written in', () => {
    const backend = TRAFFIC.map((group) => group.filter((tx) => tx.type === 'bereq'));
    const one = TRAFFIC[0] as LogTransaction[];
    expect(ids(groupsOfFile(file(backend)))).toEqual(['bereq 1005', 'bereq 1011']);
    expect(ids(groupsOfFile(file([one, ...backend])))).toEqual(['request 1001', 'bereq 1005', 'bereq 1011']);
    const raw = TRAFFIC.flat().flatMap((tx) =>
      recordsOf(tx.records).map(({ bytes }): LogTransaction[] => [
        { level: 0, type: 'raw', reason: '', vxid: tx.vxid, parent: 0, records: bytes.slice() },
      ]),
    );
    const daemon: LogTransaction = {
      ...(raw[0]?.[0] as LogTransaction),
      vxid: 0,
      records: record('c', 0, 'CLI', 'Rd'),
    };
    expect(ids(groupsOfLines([[daemon], ...raw].map(groupJson).join('')))).toEqual(ids(TRAFFIC));
  });
});

describe('a log as a recording', () => {
  it('has every group at its time and counts what passed', () => {
    const recording = logRecording(TRAFFIC, 'file', 0);
    expect(recording.start).toBe(FAKE_START);
    expect(logSteps(recording)).toEqual([
      [0.25, [1001]],
      [2.25, [1004, 1005]],
      [4.25, [1007]],
      [6.25, [1010, 1011]],
      [8.25, [1013]],
    ]);
    // Records written late, or without a time, follow their predecessors or begin the recording.
    const silent = fakeGroup({ ...REQUEST, vxid: 7 }).map((tx) => ({
      ...tx,
      records: record('c', 7, 'ReqURL', '/'),
    }));
    const mixed = [silent, TRAFFIC[2] ?? [], TRAFFIC[0] ?? []];
    expect(logSteps(logRecording(mixed, 'file', 0))).toEqual([[0.25, [7, 1007, 1001]]]);
    const names: string[] = [];
    const seen: string[] = [];
    const source = new ReplaySource({ recording, matcher: () => () => true });
    source.start({
      connection: (state) => seen.push(state.state),
      counters: (info) => names.push(...info.map((i) => i.name)),
      values: (at, values) => {
        const of = (name: string) => values[names.indexOf(`MAIN.${name}`)];
        seen.push(
          `${at - FAKE_START}: ${of('client_req')} ${of('cache_hit')} ${of('cache_miss')} ${of('s_pass')}`,
        );
      },
      past: () => undefined,
      event: () => undefined,
    });
    expect(source.advance(4)).toBe(true);
    expect(seen).toEqual(['up', '0: 0 0 0 0', '1: 1 1 0 0', '2: 1 1 0 0', '3: 2 1 1 0', '4: 2 1 1 0']);
    source.advance(100);
    expect(seen.at(-1)).toBe('9: 5 2 1 1');
  });

  it('runs evenly where nothing tells the time', () => {
    const bare = groupsOfFile(file(TRAFFIC, (tag) => tag === Tag.ReqURL || tag === Tag.BereqURL)) ?? [];
    const recording = logRecording(bare, 'file', FAKE_START);
    expect(recording.start).toBe(FAKE_START - 1);
    expect(logSteps(recording).flatMap(([, vxids]) => vxids)).toEqual(TRAFFIC.flat().map((tx) => tx.vxid));
  });

  it('does not sample every second of a night', () => {
    const [first, , last] = TRAFFIC as [LogTransaction[], LogTransaction[], LogTransaction[]];
    const late = last.map((tx) => ({
      ...tx,
      records: record('c', tx.vxid, 'Timestamp', `Resp: ${FAKE_START + 36_000} 1 1`),
    }));
    const recording = logRecording([first, late], 'file', 0);
    expect(logSteps(recording).at(-1)?.[0]).toBe(36_000);
    expect(recording.steps.length).toBeLessThan(200);
  });

  it('gives transactions one by one to who asks for them so', () => {
    const recording = logRecording(TRAFFIC, 'file', 0);
    const source = new ReplaySource({ recording, matcher: () => () => true });
    const got: Record<string, (boolean | undefined)[]> = { vxid: [], request: [] };
    for (const grouping of ['vxid', 'request'] satisfies Grouping[])
      source.log(
        { grouping, from: 'tail' },
        {
          batch: (transactions) => got[grouping]?.push(...transactions.map((tx) => tx.first)),
          lost: () => undefined,
          failed: () => undefined,
        },
      );
    source.advance(3);
    expect(got).toEqual({ vxid: [true, true, true], request: [true, true, false] });
  });

  it('shows a query what was played before it, once', () => {
    const player = new ReplayPlayer({
      recording: logRecording(TRAFFIC, 'file', 0),
      matcher: (query) => (group) => group.length === Number(query),
      label: 'file',
      makeSession: (source) => new DaemonSession({ source, now: () => 0, later: () => undefined }),
    });
    const session = new DaemonSession({ source: player.first, now: () => 0, later: () => undefined });
    session.start();
    player.first.advance(100);
    const kept = (): number[] =>
      Array.from(
        { length: session.log.shown.size },
        (_, i) => session.log.shown.at(i)?.transactions[0]?.vxid ?? 0,
      );
    session.log.follow('', 'request');
    expect(kept()).toEqual([1001, 1004, 1007, 1010, 1013]);
    session.log.follow('2', 'request');
    expect(kept()).toEqual([1004, 1010]);
    session.close();
  });
});
