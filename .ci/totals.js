// Prints what failed and why, by the reports in test/reports/ and the steps named as arguments, and in the last line how many
// tests passed: a log is long, and whoever reads its end is to know.
import { readReports } from '../test/harness/tier-reports.js';

const MESSAGE_LENGTH = 800;

const count = { passed: 0, failed: 0, skipped: 0 };
const fail = (where, message) =>
  console.log(`failed: ${where}\n  ${(message ?? '').slice(0, MESSAGE_LENGTH)}`);

for (const { run, files, problems } of readReports()) {
  for (const { file, tests } of files) {
    for (const { name, status, message } of tests) {
      count[status]++;
      if (status === 'failed') fail(`${run}: ${file} > ${name}`, message);
    }
  }
  for (const problem of problems) {
    count.failed++;
    fail(run, problem);
  }
}
for (const step of process.argv.slice(2)) fail(step, 'see the step');
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
