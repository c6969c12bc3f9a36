// Runs a regular expression that could take exponential time under a time limit, so that a query typed at a
// console cannot stop the process that evaluates it. Costs some 0.1 ms a call: only for expressions whose
// shape allows such a blow-up. A text that takes too long does not match; after a few the expression is off.

import vm from 'node:vm';

/** What filters and queries need of an expression; RegExp fits. */
export interface TextPattern {
  test(text: string): boolean;
}

/** Milliseconds for one text, and how many texts may exceed them. */
const LIMIT = 10;
const STRIKES = 5;

export class GuardedPattern implements TextPattern {
  /** Texts that took too long so far. */
  strikes = 0;
  private readonly context: { re: RegExp; text: string };
  private readonly script: vm.Script;

  constructor(re: RegExp) {
    this.context = vm.createContext({ re, text: '' }) as { re: RegExp; text: string };
    this.script = new vm.Script('re.test(text)');
  }

  test(text: string): boolean {
    if (this.strikes >= STRIKES) return false;
    this.context.text = text;
    try {
      return this.script.runInContext(this.context, { timeout: LIMIT }) as boolean;
    } catch {
      this.strikes++;
      return false;
    }
  }
}
