// A reporter beside vitest's own, for the tiers: a report of the run named by PROXYD_TEST_RUN, in the form that
// tier-reports.js describes.
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import { ROOT } from './proxy.ts';
import { writeReport } from './tier-reports.js';

/** The stack of an error that ran out of time says neither. */
const text = (errors: readonly { message: string; stack?: string | undefined }[]): string =>
  errors
    .map(({ message, stack = '' }) => (stack.includes(message) ? stack : `${message}\n${stack}`))
    .join('\n');

export default class TierReporter implements Reporter {
  readonly #started = performance.now();

  onTestRunEnd(modules: readonly TestModule[], uncaught: readonly SerializedError[]): void {
    const run = process.env.PROXYD_TEST_RUN;
    if (run === undefined) return;
    const problems = uncaught.map((error) => text([error]));
    const files = modules.map((module) => {
      const file = relative(ROOT, module.moduleId);
      const errors = module.errors();
      if (errors.length > 0) problems.push(`${file}: ${text(errors)}`);
      const tests = [...module.children.allTests()].map((test) => {
        const result = test.result();
        return {
          name: test.fullName,
          status: result.state === 'passed' || result.state === 'failed' ? result.state : 'skipped',
          ...(result.state === 'failed' ? { message: text(result.errors) } : {}),
        };
      });
      for (const suite of module.children.allSuites()) {
        const failed = suite.errors();
        if (failed.length > 0) problems.push(`${file} > ${suite.fullName}: ${text(failed)}`);
      }
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      const { cpu = 0 } = module.meta();
      return { file, ms: Math.round(collectDuration + setupDuration + duration), cpu, tests };
    });
    const seconds = (performance.now() - this.#started) / 1000;
    writeReport({ run, ended: Date.now(), seconds, files, problems });
  }
}
