// The choice of the editor, and errors if it cannot be run.
import { expect, it } from 'vitest';
import { runEditor } from '../../../console/process/run-editor.ts';

const env = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, ...more });

it.each<[NodeJS.ProcessEnv, number | string]>([
  [{ EDITOR: 'test -d' }, 0],
  [{ VISUAL: 'test -f', EDITOR: 'true' }, 1],
  [{ VISUAL: '  ', EDITOR: ' \t' }, 'vi not found: set EDITOR'],
  [{ VISUAL: ' ', EDITOR: 'no-such-editor -x' }, 'no-such-editor -x not found: set EDITOR'],
  [{ EDITOR: 'kill -TERM $$; true' }, 'kill -TERM $$; true was killed by SIGTERM'],
])('%o', async (more, ended) => {
  // Without a PATH there is no vi.
  const path = more.EDITOR?.trim() === '' ? { PATH: '/nowhere' } : {};
  expect(await runEditor('/', env({ ...more, ...path }))).toBe(ended);
});
