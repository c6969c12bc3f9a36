// node test/harness/record-esi.js [proxyd|varnish] [FILE]: plays the pages of esi-pages/pages.ts and keeps the log, by
// default Varnish's in test/console/views/log/esi-recorded.vsl.gz, on which the console's tests stand.
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const tsconfig = fileURLToPath(new URL('../../.tsconfig.base.json', import.meta.url));
const { recordEsiPages } = await tsImport('./esi-pages/record.ts', { parentURL: import.meta.url, tsconfig });
const [product = 'varnish', file] = process.argv.slice(2);
await recordEsiPages(product, file ?? new URL('../console/views/log/esi-recorded.vsl.gz', import.meta.url));
process.exit();
