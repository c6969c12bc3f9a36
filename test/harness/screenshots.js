// npm run screenshots: writes screenshots/*.svg and *.png. `--record` first records a new session with a
// real daemon into screenshots/recording.json of this folder. The work is in screenshots/*.ts.
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

// The development build of React keeps a record of every render.
process.env.NODE_ENV = 'production';
const tsconfig = fileURLToPath(new URL('../../.tsconfig.base.json', import.meta.url));
const load = (file) => tsImport(file, { parentURL: import.meta.url, tsconfig });

if (process.argv.includes('--record')) {
  const { record } = await load('./screenshots/record.ts');
  await record();
}
const { shoot } = await load('./screenshots/shoot.ts');
await shoot();
