// Runs tiers of the tests, which test/README.md describes, one after the other, each to its end; exits 1 if one failed.
//   node test/harness/tier.js TIER… [-- ARGUMENTS OF VITEST]
// Each run leaves a report in test/reports/. With arguments (files, -t PATTERN, -u) the static checks are left out.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOfAnyThreads } from './any-threads.js';
import { build } from './build/build.js';
import { forgetReport, readReport, writeReport } from './tier-reports.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
const REPORTERS = ['--reporter=default', '--reporter=./test/harness/tier-reporter.ts'];
/** The newest Node, from npm's package of that name. */
const NEWEST = ['npx', '-y', '-p', `node@${process.env.NEWEST_NODE ?? '26'}`, 'node'];
const WITHOUT_HANDLES = { NODE_OPTIONS: `--import ${root}test/harness/no-listener-handles.js` };
/** One thread, but where a test says otherwise: each further one makes the start of a daemon dearer. The other tiers have as
 * many as there are cores, as daemons have by default. */
const REPLAY = {
  PROXYD_PEERS: 'replay',
  PROXYD_TEST_THREADS: process.env.PROXYD_TEST_THREADS ?? '1',
};
const QUICK = { env: { ...REPLAY, PROXYD_TIER: 'quick' } };

/** Steps of each tier, in order. */
const TIERS = {
  quick: [quickTests],
  system: [tests('system', ['system'], { env: { PROXYD_RUNS: 'full' } })],
  peers: [tests('peers', ['peers'], { env: { PROXYD_PEERS: process.env.PROXYD_PEERS ?? 'live' } })],
  // Live beside a later release of Varnish, whose programs are first in PATH (test/harness/varnish/other-releases.sh).
  'newer-peers': [
    tests('newer-peers', ['peers'], {
      env: { ...REPLAY, PROXYD_PEERS: 'live' },
      files: () => ['test/differential/scenarios-newer.test.ts'],
    }),
  ],
  threads: [
    tests('threads-1', ['system'], { env: { PROXYD_TEST_THREADS: '1' }, files: ofThreads }),
    tests('threads-4', ['system'], { env: { PROXYD_TEST_THREADS: '4' }, files: ofThreads }),
    tests('threads-without-handles', ['smoke'], { env: WITHOUT_HANDLES }),
  ],
  newest: [() => onNewest('newest', ['unit', 'system'])],
  // Of the last two, as much as .ci/run has time for: they play the smoke tests where those play the system tests. With one
  // thread the quick tier has played them.
  'threads-smoke': [
    tests('smoke-4', ['smoke'], {
      env: { PROXYD_TEST_THREADS: '4' },
      files: () => ['traffic', 'bodies', 'invalidation'].map((name) => `test/smoke/${name}.test.ts`),
    }),
  ],
  'newest-smoke': [() => onNewest('newest-smoke', ['unit', 'smoke'])],
};

const split = process.argv.indexOf('--');
const names = process.argv.slice(2, split < 0 ? undefined : split);
const extra = split < 0 ? [] : process.argv.slice(split + 1);

/** Files of test/system that the number of the worker's threads may change, and that do not choose it themselves. */
function ofThreads() {
  return readdirSync(join(root, 'test/system'))
    .filter((name) => name.endsWith('.test.ts') && !isOfAnyThreads(name))
    .map((name) => `test/system/${name}`)
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return text.includes('startProxy') && !text.includes('worker_threads');
    });
}

/** @returns the exit code; 1 for a signal. Quietly: its output is shown when it has ended. */
function run(command, env = {}, isQuiet = false) {
  return new Promise((resolve) => {
    const child = spawn(command[0], command.slice(1), {
      cwd: root,
      stdio: isQuiet ? ['inherit', 'pipe', 'pipe'] : 'inherit',
      env: { ...process.env, ...env },
    });
    const output = [];
    child.stdout?.on('data', (bytes) => output.push(bytes));
    child.stderr?.on('data', (bytes) => output.push(bytes));
    child.on('error', (error) => {
      console.error(error.message);
      resolve(1);
    });
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(output));
      resolve(code ?? 1);
    });
  });
}

/** The static checks, unit tests, and tests with daemons, which mostly wait, side by side; the last of them quietly. */
async function quickTests() {
  if (extra.length > 0) return tests('quick', ['unit', 'smoke', 'peers'], QUICK)();
  const all = [
    checks(),
    tests('quick-daemons', ['smoke', 'peers'], QUICK)(true),
    tests('quick', ['unit'], QUICK)(),
  ];
  return (await Promise.all(all)).every(Boolean);
}

async function checks() {
  const started = Date.now();
  const passed = (await run([process.execPath, 'test/harness/check.js'])) === 0;
  const ms = Date.now() - started;
  const result = passed ? { status: 'passed' } : { status: 'failed', message: 'see above' };
  writeReport({
    run: 'checks',
    ended: Date.now(),
    seconds: ms / 1000,
    files: [{ file: 'static checks', ms, cpu: 0, tests: [{ name: 'npm run check', ...result }] }],
    problems: [],
  });
  return passed;
}

/** A step: vitest over these projects of its configuration, or these files of them, with a report of that name. */
function tests(name, projects, { env = {}, files = () => [], node = [process.execPath] } = {}) {
  return async (isQuiet = false) => {
    forgetReport(name);
    const chosen = extra.length > 0 ? extra : files();
    const command = [...node, ...VITEST, ...projects.flatMap((each) => ['--project', each])];
    const code = await run([...command, ...REPORTERS, ...chosen], { ...env, PROXYD_TEST_RUN: name }, isQuiet);
    const report = readReport(name);
    if (report === null) {
      const problems = [`vitest ended with exit code ${code} and no report`];
      writeReport({ run: name, ended: Date.now(), seconds: 0, files: [], problems });
      return false;
    }
    return code === 0;
  };
}

/** These projects on the newest Node; where it cannot be had, a notice. */
async function onNewest(name, projects) {
  if ((await run([...NEWEST, '--version'])) === 0)
    return tests(name, projects, { env: { PROXYD_RUNS: 'full' }, node: NEWEST })();
  console.log(`notice: ${NEWEST[3]} cannot be had here; skipped`);
  const skipped = [{ file: 'newest Node', ms: 0, cpu: 0, tests: [{ name: NEWEST[3], status: 'skipped' }] }];
  writeReport({ run: name, ended: Date.now(), seconds: 0, files: skipped, problems: [] });
  return true;
}

const unknown = names.filter((name) => !Object.hasOwn(TIERS, name));
if (names.length === 0 || unknown.length > 0) {
  console.error(`usage: node test/harness/tier.js ${Object.keys(TIERS).join('|')}… [-- ARGUMENTS OF VITEST]`);
  process.exit(2);
}
build({ ifOlder: true });
const failed = [];
for (const name of names) {
  for (const step of TIERS[name]) {
    if (!(await step()) && !failed.includes(name)) failed.push(name);
  }
}
if (failed.length > 0) {
  console.log(`failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}
