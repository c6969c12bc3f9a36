// Prints code as JavaScript. Every operation is in parentheses, so that precedence does not matter.

import type { HelperName } from '../runtime/table.ts';
import type { Code } from '../typed-program.ts';

/** Prints code and records the helpers and the names that it uses. */
export class ExpressionPrinter {
  readonly helpers: Set<HelperName>;
  readonly names = new Set<string>();
  readonly #objects: ReadonlySet<string>;

  /** @param objects names that are properties of S */
  constructor(objects: ReadonlySet<string> = new Set(), helpers = new Set<HelperName>()) {
    this.#objects = objects;
    this.helpers = helpers;
  }

  /** One for another function of the same program. */
  another(): ExpressionPrinter {
    return new ExpressionPrinter(this.#objects, this.helpers);
  }

  /** A name that something else of the program declares. */
  name(name: string): string {
    this.names.add(name);
    return this.#objects.has(name) ? `S.${name}` : name;
  }

  print(code: Code): string {
    switch (code.k) {
      case 'constant':
        return typeof code.value === 'string' ? JSON.stringify(code.value) : String(code.value);
      case 'absent':
        return 'undefined';
      case 'context':
        return 'ctx';
      case 'name':
        return this.name(code.name);
      case 'data':
        return JSON.stringify(code.value);
      case 'helper':
        this.helpers.add(code.helper);
        return `${code.helper}(${this.all(code.args)})`;
      case 'lookup':
        return `${code.table}(${code.keys.map((key) => JSON.stringify(key)).join(', ')})`;
      case 'call':
        return this.called(`${this.name(code.name)}(${this.all(code.args)})`, code.answersLater);
      case 'group':
        return `(${this.print(code.value)})`;
      case 'not':
        return `!${this.print(code.value)}`;
      case 'negate':
        return `(-${this.print(code.value)})`;
      case 'always':
        return `(${this.print(code.value)}, true)`;
      case 'otherwise':
        return `(${this.print(code.value)} ?? ${JSON.stringify(code.absent)})`;
      case 'binary':
        return `(${this.print(code.left)} ${code.op} ${this.print(code.right)})`;
      case 'join':
        return `(${code.parts.map((part) => this.print(part)).join(' + ')})`;
    }
  }

  /** A call with an asynchronous result yields its promise, and continues with the result. */
  private called(text: string, answersLater: boolean): string {
    return answersLater ? `(yield ${text})` : text;
  }

  private all(codes: readonly Code[]): string {
    return codes.map((code) => this.print(code)).join(', ');
  }
}
