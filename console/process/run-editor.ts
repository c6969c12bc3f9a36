// The operator's editor on a file, in the terminal that has been handed over: $VISUAL, else $EDITOR, else vi. The value
// may hold options, and is run by a shell for that, as git does; the path is an argument and never part of the line.

import { spawn } from 'node:child_process';

/** A shell's status for a command that is not there. */
const NOT_FOUND = 127;

/** Resolves with its status, or with a sentence on why it could not be run. */
export function runEditor(path: string, env: NodeJS.ProcessEnv): Promise<number | string> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || 'vi';
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, path], { stdio: 'inherit', env });
    child.on('error', (error) => resolve(`${editor}: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (code === NOT_FOUND) resolve(`${editor} is not there: set EDITOR to yours`);
      else resolve(signal === null ? (code ?? 0) : `${editor} was ended by ${signal}`);
    });
  });
}
