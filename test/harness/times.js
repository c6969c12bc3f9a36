// Prints how long the last runs of the tests took, by their reports in test/reports/: each run as a whole, by folder, and
// the files that took longest, and those that took most processor time.
import { readReports } from './tier-reports.js';

const SLOWEST = 20;

const reports = readReports();
if (reports.length === 0) {
  console.log('No reports yet: npm test, or npm run test:all, leaves some.');
  process.exit(1);
}
const seconds = (ms) => (ms / 1000).toFixed(1).padStart(8);
const count = (n) => String(n).padStart(8);

console.log('     run, wall   processor   files   tests');
for (const { run, files, seconds: wall } of reports) {
  const tests = files.reduce((sum, { tests }) => sum + tests.length, 0);
  const cpu = files.reduce((sum, { cpu }) => sum + cpu, 0);
  console.log(
    `${seconds(wall * 1000)} s  ${seconds(cpu * 1000)} s${count(files.length)}${count(tests)}  ${run}`,
  );
}

// Of files that ran side by side: more than the wall time of the run.
console.log('\n  file by file, summed');
for (const { run, files } of reports) {
  const folders = new Map();
  for (const { file, ms } of files) {
    const folder = file.split('/').slice(0, 2).join('/');
    folders.set(folder, (folders.get(folder) ?? 0) + ms);
  }
  for (const [folder, ms] of [...folders].sort((a, b) => b[1] - a[1]))
    console.log(`${seconds(ms)} s  ${run}: ${folder}`);
}

console.log(`\n  the ${SLOWEST} slowest files`);
const all = reports.flatMap(({ run, files }) => files.map(({ file, ms, cpu }) => ({ run, file, ms, cpu })));
for (const { run, file, ms } of all.sort((a, b) => b.ms - a.ms).slice(0, SLOWEST))
  console.log(`${seconds(ms)} s  ${run}: ${file}`);

console.log(`\n  the ${SLOWEST} that took most processor time`);
for (const { run, file, cpu } of all.sort((a, b) => b.cpu - a.cpu).slice(0, SLOWEST))
  console.log(`${seconds(cpu * 1000)} s  ${run}: ${file}`);
