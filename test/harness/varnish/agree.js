// node test/harness/varnish/agree.js [--seconds 60] [--rate 120]: does the console say of a Varnish what varnishstat and
// varnishncsa say of it over the same minute? A varnishd of its own gets mixed traffic; ends with status 1 where they
// differ. Nothing needs to be built. A short version is a system test.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { tsImport } from 'tsx/esm/api';

const tsconfig = fileURLToPath(new URL('../../../.tsconfig.base.json', import.meta.url));
const { values } = parseArgs({ options: { seconds: { type: 'string' }, rate: { type: 'string' } } });
const given = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
const { agreement } = await tsImport('./agreement.ts', { parentURL: import.meta.url, tsconfig });
const { facts, differences } = await agreement(given);
for (const fact of facts) console.log(fact);
for (const difference of differences) console.log(`DIFFERS: ${difference}`);
process.exit(differences.length === 0 ? 0 : 1);
