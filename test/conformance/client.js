// The suite's client in a process of its own: node client.js SUITE PROXY-URL RESULTS-FILE
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [suite, proxy, out] = process.argv.slice(2);
const at = (path) => import(`${pathToFileURL(suite).href}/${path}`);
const { runTests, getResults } = await at('client/runner.mjs');
const tests = [...(await at('tests/index.mjs')).default, (await at('tests/surrogate-control.mjs')).default];
await runTests(tests, fetch, false, proxy);
const results = getResults();
const rows = tests
  .flatMap((set) => set.tests)
  .filter((test) => test.browser_only !== true)
  .map(({ id, kind = 'required' }) => ({ id, kind, result: results[id] === true || String(results[id]) }));
writeFileSync(out, JSON.stringify(rows));
process.exit(0);
