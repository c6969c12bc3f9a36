// The compiler with the built-in extensions. A file of its own: the worker uses the registry without the compiler.

import { type CompileOptions, type CompileResult, compile as compileProgram } from '../vcl/compile.ts';
import { extensionNames, findExtension } from './registry.ts';

/** Compiles with the built-in extensions unless the options name others. */
export function compile(source: { name: string; text: string }, options: CompileOptions = {}): CompileResult {
  return compileProgram(source, { extensions: findExtension, extensionNames: extensionNames(), ...options });
}
