import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { keymapDocument } from '../../../console/views/keymap-document.ts';

it('console/KEYS.md matches the tables (vitest -u updates it)', async () => {
  await expect(keymapDocument()).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../console/KEYS.md', import.meta.url)),
  );
});
