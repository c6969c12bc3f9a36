// A storage on disk: its row beside those in memory, and what its details say.
import { afterEach, expect, it } from 'vitest';
import { plain } from '../../../../console/draw/spans.ts';
import { STORAGE_VIEW } from '../../../../console/views/storage/storage-view.ts';
import { SMD_COUNTERS } from '../../../../protocol/tables/counters.ts';
import { fakeRecording } from '../../fake-recording.ts';
import { Stage } from '../../stage.ts';

let stage: Stage | null = null;

afterEach(() => {
  stage?.close();
  stage = null;
});

it('shows a storage on disk with what it found, wrote and could not', async () => {
  stage = new Stage({ recording: fakeRecording(3), columns: 120, rows: 30 });
  await stage.play(3);
  const { counters } = stage.session;
  const known = counters.all().map(({ info }) => info);
  const own = SMD_COUNTERS.map(({ name, flag, format, level, help }) => {
    return { name: `SMD.cold.${name}`, flag, format, level, description: help };
  });
  const figures: Record<string, bigint> = {
    g_objects: 1234n,
    g_bytes: 3n << 30n,
    g_space: 1n << 30n,
    g_oldest: 7200n,
    c_hit: 500n,
    c_promote: 400n,
    c_write_bytes: 1150n,
    c_write_object_bytes: 1000n,
    c_write_fail: 2n,
    c_write_drop: 5n,
  };
  const values = counters.all().map(({ current }) => current);
  counters.describe([...known, ...own]);
  counters.update(stage.session.counters.all().length, [
    ...values,
    ...SMD_COUNTERS.map(({ name }) => figures[name] ?? 0n),
  ]);
  const row = STORAGE_VIEW.rows(stage.c).find(({ key }) => key === 'cold');
  expect(row?.cells.map(({ text }) => text)).toEqual(
    expect.arrayContaining(['cold', 'disk', '75%', '1,234', '7']),
  );
  const lines = (row?.detail?.() ?? []).map(plain).map((line) => line.trim());
  expect(lines).toContain('1.15  bytes written for each byte of an object');
  expect(lines).toContain('2h00m  age of the oldest segment');
  expect(lines).toContain('500  found on disk');
  expect(lines).toContain('2  failed writes');
  expect(lines.join()).not.toContain('checksum errors');
  const inMemory = Number(counters.value('MAIN.cache_hit')) - 400;
  expect(lines[0]).toMatch(/ hits in memory$/);
  expect(Number(lines[0]?.replace(/\D/g, ''))).toBe(inMemory);
});
