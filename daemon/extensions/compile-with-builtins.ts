// The compiler with the extensions that are built in: the language knows none by itself.

import { type CompileOptions, type CompileResult, compile as compileProgram } from '../vcl/compile.ts';
import { extensionNames, findExtension } from './registry.ts';

/** As the compiler of the language; what the options name goes before. */
export function compile(source: { name: string; text: string }, options: CompileOptions = {}): CompileResult {
  return compileProgram(source, { extensions: findExtension, extensionNames: extensionNames(), ...options });
}
