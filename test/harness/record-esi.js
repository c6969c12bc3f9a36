// node test/harness/record-esi.js: plays the pages of esi-pages/pages.ts against Varnish and proxyd, and keeps the logs
// in test/console/views/log/, on which the console's tests stand. Build before.
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const tsconfig = fileURLToPath(new URL('../../.tsconfig.base.json', import.meta.url));
const { recordEsiPages } = await tsImport('./esi-pages/record.ts', { parentURL: import.meta.url, tsconfig });
for (const product of ['varnish', 'proxyd'])
  await recordEsiPages(product, new URL(`../console/views/log/esi-${product}.vsl.gz`, import.meta.url));
process.exit();
