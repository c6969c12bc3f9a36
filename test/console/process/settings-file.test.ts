// Choices that stay, and files that hold none.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { INITIAL_SETTINGS } from '../../../console/model/ui/settings.ts';
import { SettingsFile } from '../../../console/process/settings-file.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'settings-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

it('keeps a choice for the next session, and leaves nothing else', () => {
  const path = join(dir, 'state', 'console-settings');
  const file = new SettingsFile(path);
  expect(file.load()).toEqual(INITIAL_SETTINGS);
  file.keep({ bell: true, layout: 'lists' });
  expect(new SettingsFile(path).load()).toEqual({ bell: true, layout: 'lists' });
  expect(readdirSync(join(dir, 'state'))).toEqual(['console-settings']);
});

it.each(['', '{', 'null', '[]', '7', '{"layout":"none","bell":"yes"}', 'x'.repeat(100_000)])(
  'takes nothing from %.30j',
  (text) => {
    const path = join(dir, 'f');
    writeFileSync(path, text);
    expect(new SettingsFile(path).load()).toEqual(INITIAL_SETTINGS);
  },
);

it('continues if it cannot write', () => {
  const path = join(dir, 'f');
  mkdirSync(path);
  const file = new SettingsFile(path);
  file.load();
  file.keep({ bell: true, layout: 'charts' });
  expect(readdirSync(dir)).toEqual(['f']);
});
