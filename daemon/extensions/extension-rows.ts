// Rows of an extension's tables. A function or method is named only in its signature.

import type { ExtensionCall, ExtensionFunction } from '../contract/extension.ts';

const NAME = /(\w+)\(/;

/** @param facts properties that few rows have */
export function row(
  signature: string,
  call: ExtensionCall,
  help: string,
  facts?: Omit<ExtensionFunction, 'signature' | 'call' | 'help'>,
): ExtensionFunction {
  return { signature, call, help, ...facts };
}

export function byName(...rows: readonly ExtensionFunction[]): Readonly<Record<string, ExtensionFunction>> {
  return Object.fromEntries(rows.map((each) => [NAME.exec(each.signature)?.[1], each]));
}
