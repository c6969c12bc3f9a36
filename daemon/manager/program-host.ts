// What the loaded programs need of the rest of the manager: a compiler, the worker that runs them, their limits; and
// what they tell of themselves.

import type { CommandReply } from '../../protocol/messages.ts';
import type { CompiledProgram } from '../contract/program.ts';
import type { Bundle } from '../fleet/program-bundle.ts';
import type { WorkerCall } from '../link.ts';

/** A program that compiled; `notes` holds the compiler's warnings as text, '' when there are none. */
export interface Compiled {
  program: CompiledProgram;
  notes: string;
}

/** A program's text. */
export interface SourceText {
  name: string;
  text: string;
  /** Where what it includes is found, and nowhere else; without it vcl_path. */
  bundle?: Bundle;
}

/** Compiles a program text; the string is the compiler's message. */
export type Compile = (source: SourceText) => Promise<CompiledProgram | Compiled | string>;

/** The worker as far as programs need it. */
export interface ProgramWorker {
  running(): boolean;
  call(call: WorkerCall): Promise<CommandReply>;
  /** Resolves when no start is under way. */
  settled(): Promise<void>;
}

/** The parameters as far as programs need them. */
export interface ProgramLimits {
  maxVcl(): number;
  /** 0 nothing, 1 warn, 2 refuse. */
  handling(): number;
  /** Seconds until a program in state auto that is out of use becomes cold. */
  cooldown(): number;
}
