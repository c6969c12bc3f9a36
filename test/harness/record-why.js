// node test/harness/record-why.js: plays the cases of why/cases.ts against a real proxyd and keeps what it logged in
// test/console/views/log/why-recorded.json.gz, on which the rules are tested. To be run when rules or cases are added.
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const tsconfig = fileURLToPath(new URL('../../.tsconfig.base.json', import.meta.url));
const { recordWhy } = await tsImport('./why/record.ts', { parentURL: import.meta.url, tsconfig });
await recordWhy();
process.exit();
