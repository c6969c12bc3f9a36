import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TicketKeys } from '../../../../daemon/manager/tls/ticket-keys.ts';

let dir: string;
let path: string;
let now: number;
const warnings: string[] = [];
const made = (): TicketKeys =>
  new TicketKeys(
    path,
    (text) => warnings.push(text),
    () => now,
  );

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'proxyd-tickets-'));
  path = join(dir, 'tls.tickets');
  now = 1_800_000_000;
  warnings.length = 0;
});
afterEach(() => rmSync(dir, { recursive: true }));

it('makes a key an hour and keeps three', () => {
  const keys = made();
  const [first] = keys.keys;
  expect(Object.values(first ?? {}).map((text) => Buffer.from(text as string, 'base64').length)).toEqual([
    16, 16, 32,
  ]);
  now += 3599;
  expect(keys.rotate()).toBe(false);
  now += 1;
  expect(keys.rotate()).toBe(true);
  expect(keys.keys).toHaveLength(2);
  expect(keys.keys[1]).toEqual(first);
  for (let i = 0; i < 3; i++) {
    now += 3600;
    keys.rotate();
  }
  expect(keys.keys).toHaveLength(3);
  expect(keys.keys).not.toContainEqual(first);
});

it('survives its process in a file for its user alone', () => {
  const before = made().keys;
  expect(statSync(path).mode & 0o777).toBe(0o600);
  now += 1800;
  const again = made();
  expect(again.keys).toEqual(before);
  now += 3600;
  const later = made();
  expect(later.keys).toHaveLength(2);
  expect(later.keys[1]).toEqual(before[0]);
  now += 4 * 3600;
  expect(made().keys).toHaveLength(1);
  expect(made().keys).not.toContainEqual(before[0]);
  later.removeFile();
});

it('ignores a file that is incomplete, owned by another user, or from the future', () => {
  const before = made().keys;
  const text = readFileSync(path, 'utf8');
  chmodSync(path, 0o640);
  expect(made().keys).not.toEqual(before);
  for (const bad of [text.slice(0, 40), '', '[]', '[{}]', '{}', text.replace(/"aes":"..../, '"aes":"')]) {
    writeFileSync(path, bad, { mode: 0o600 });
    const { keys } = made();
    expect(keys).toHaveLength(1);
    expect(keys).not.toEqual(before);
  }
  now -= 10_000;
  expect(made().keys).toHaveLength(1);
  expect(warnings).toEqual([]);
});

it('works without a file', () => {
  rmSync(dir, { recursive: true });
  expect(made().keys).toHaveLength(1);
  expect(warnings[0]).toContain('TLS sessions will not resume if this process is killed');
  expect(warnings[0]).not.toContain(made().keys[0]?.aes);
  dir = mkdtempSync(join(tmpdir(), 'proxyd-tickets-'));
});

it('leaves nothing after an orderly end', () => {
  made().removeFile();
  expect(() => statSync(path)).toThrow('ENOENT');
});
