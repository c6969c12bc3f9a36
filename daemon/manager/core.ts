// What commands work on: the parts of the manager, composed by manager.ts, and the shape of a command.

import { CLI } from '../../protocol/errors.ts';
import type { StorageSpec } from '../link.ts';
import type { Params } from '../params/params.ts';
import type { ListenerSet } from './listeners.ts';
import type { PanicStore } from './panic-store.ts';
import type { Programs } from './programs.ts';
import type { CliReply, Supervisor } from './supervisor.ts';

export interface ManagerCore {
  readonly params: Params;
  readonly programs: Programs;
  readonly supervisor: Supervisor;
  readonly listeners: ListenerSet;
  readonly panics: PanicStore;
  readonly storages: readonly StorageSpec[];
  /** Name and version as the banner has them. */
  readonly banner: string;
  /** Reads a program file by vcl_path; the string is the reason. */
  readProgram(file: string): { name: string; text: string } | string;
  /** Tells the worker about a changed parameter. */
  parameterChanged(name: string): Promise<void>;
  /** Tells consoles that programs changed. */
  programsChanged(text: string): void;
}

/** One command as it was given. */
export interface CommandCall {
  /** The command and all its words, for the head of a JSON answer. */
  words: readonly string[];
  /** Its arguments, a leading -j taken off. */
  args: readonly string[];
  json: boolean;
}

export type Command = (core: ManagerCore, call: CommandCall) => CliReply | Promise<CliReply>;
export type { CliReply } from './supervisor.ts';

export const ok = (body = ''): CliReply => ({ status: CLI.OK, body });
export const bad = (body: string): CliReply => ({ status: CLI.PARAM, body });
export const cannot = (body: string): CliReply => ({ status: CLI.CANT, body });

/** A JSON answer: version, the command, the time, then `content` (elements with their leading blanks). */
export function jsonReply(call: CommandCall, content: string, version = 2): CliReply {
  const words = call.words.map((w) => JSON.stringify(w)).join(', ');
  const body = content === '' ? '' : `,${content}`;
  return ok(`[ ${version}, [${words}], ${(Date.now() / 1000).toFixed(3)}${body}\n]\n`);
}
