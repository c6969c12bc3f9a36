// What the compiler asks for when a program imports an extension that is not built in, and what it is told.

import type { Extension } from './extension.ts';
import type { OutsideModule } from './program.ts';

export interface ImportWish {
  name: string;
  /** Text after `from`, or null. */
  from: string | null;
}

export type DescribedModule =
  | { extension: Extension; module: OutsideModule; problem?: undefined }
  /** `at`: what the message points at. */
  | { problem: string; at: 'name' | 'import' };

/** Undefined: not looked at yet. The compiler then notes the wish and goes on. */
export type OutsideLookup = (wish: ImportWish) => DescribedModule | undefined;
