// Reads the JSON reports of the rounds of tests.
//   node totals.cjs failed REPORT    the files that failed, one a line, relative to here
//   node totals.cjs print FOLDER     what failed and why, and how many passed; a log is long, and whoever reads its end
//                                    is to know. A file that ran again alone counts by its second run.
const { existsSync, readFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const ROUNDS = ['unit', 'system', 'newest', 'threads', 'peers'];
const MESSAGE_LENGTH = 800;

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : []);

const failuresOf = ({ assertionResults }) => assertionResults.filter((t) => t.status === 'failed');
const first = (message) => (message ?? '').slice(0, MESSAGE_LENGTH);

/** Results of a round, by file. */
function resultsOf(folder, round) {
  const byFile = new Map(read(join(folder, `${round}.json`)).map((result) => [result.name, result]));
  for (const again of read(join(folder, `${round}-alone.json`))) {
    for (const test of failuresOf(byFile.get(again.name) ?? again))
      console.log(
        `${again.status} alone, had failed in ${round}: ${relative('.', again.name)} > ${test.fullName}\n  ${first(test.failureMessages[0])}`,
      );
    byFile.set(again.name, again);
  }
  return byFile;
}

function print(folder) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  for (const round of ROUNDS)
    for (const result of resultsOf(folder, round).values()) {
      const where = `${round}: ${relative('.', result.name)}`;
      for (const test of result.assertionResults) {
        const status = test.status in count ? test.status : 'skipped';
        count[status]++;
      }
      for (const test of failuresOf(result))
        failures.push([`${where} > ${test.fullName}`, test.failureMessages[0]]);
      // A file that did not load has no tests to fail.
      if (result.status === 'failed' && result.assertionResults.length === 0) {
        count.failed++;
        failures.push([where, result.message]);
      }
    }
  for (const [where, message] of failures) console.log(`failed in ${where}\n  ${first(message)}`);
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
}

const [what, path] = process.argv.slice(2);
if (what === 'print') print(path);
else for (const { name, status } of read(path)) if (status === 'failed') console.log(relative('.', name));
