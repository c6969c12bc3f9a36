// Reports of test runs, one file per run in test/reports/: the result of each test and the time of each file. Written
// by a vitest reporter and by the tiers, read by .ci/totals.js and times.js.
// { run, seconds, files: [{ file, ms, cpu, tests: [{ name, status, message? }] }], problems: [text] }
// `cpu` is the processor time in seconds (file-cpu.ts).
// `problems` are failures that belong to no test: a file that does not load, an uncaught error.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../reports/', import.meta.url));

export function writeReport(report) {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${report.run}.json`), `${JSON.stringify(report)}\n`);
}

export function forgetReport(run) {
  rmSync(join(FOLDER, `${run}.json`), { force: true });
}

/** The report of a run, or null. */
export function readReport(run) {
  return readReports().find((report) => report.run === run) ?? null;
}

/** All of them, the oldest first. */
export function readReports() {
  let names = [];
  try {
    names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  } catch {
    // Nothing has run yet.
  }
  return names
    .map((name) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')))
    .sort((a, b) => a.ended - b.ended);
}
