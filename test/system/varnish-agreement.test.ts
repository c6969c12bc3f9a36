// The console's figures of a Varnish equal those of varnishstat and varnishncsa over the same time, to the last
// request; the full minute is `node test/harness/varnish/agree.js`.
import { expect, it } from 'vitest';
import { installed } from '../harness/processes.ts';
import { agreement } from '../harness/varnish/agreement.ts';

const missing = !['varnishd', 'varnishadm', 'varnishlog', 'varnishncsa', 'varnishstat'].every(installed);
if (missing) process.stderr.write('varnish-agreement.test.ts is skipped: Varnish is not installed\n');

it.skipIf(missing)('the console on a Varnish has the figures of its own tools', async () => {
  const { facts, differences } = await agreement({ seconds: 4 });
  expect(differences).toEqual([]);
  expect(facts.length).toBeGreaterThan(30);
});
