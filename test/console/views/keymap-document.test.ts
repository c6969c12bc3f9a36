import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { keymapDocument } from '../../../console/views/keymap-document.ts';

it('console/KEYS.md says what the tables say (vitest -u writes it anew)', async () => {
  await expect(keymapDocument()).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../console/KEYS.md', import.meta.url)),
  );
});
