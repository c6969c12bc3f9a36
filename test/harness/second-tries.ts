// A reporter beside vitest's own: names the tests that passed only on their second try, so that a test which hangs on
// how busy the machine is gets seen and mended while it does not yet hold up a change. Appends to the file named by
// SECOND_TRIES, one line a test; without it, it prints them at the end.
import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

export default class SecondTries implements Reporter {
  readonly #names: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.#names.length === 0) return;
    const lines = this.#names.map((name) => `passed on the second try: ${name}\n`).join('');
    const file = process.env.SECOND_TRIES;
    if (file) appendFileSync(file, lines);
    else process.stdout.write(lines);
  }
}
