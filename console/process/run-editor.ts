// Runs the operator's editor on a file, in the terminal handed over to it: $VISUAL, else $EDITOR, else vi. The value
// may contain options, so it is run by a shell, as in git; the path is an argument and never part of the command
// line.

import { spawn } from 'node:child_process';

/** Exit status of a shell for a missing command. */
const NOT_FOUND = 127;

/** Resolves with its status, or with a sentence on why it could not be run. */
export function runEditor(path: string, env: NodeJS.ProcessEnv): Promise<number | string> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || 'vi';
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, editor, path], { stdio: 'inherit', env });
    child.on('error', (error) => resolve(`${editor}: ${error.message}`));
    child.on('exit', (code, signal) => {
      if (code === NOT_FOUND) resolve(`${editor} not found: set EDITOR`);
      else resolve(signal === null ? (code ?? 0) : `${editor} was killed by ${signal}`);
    });
  });
}
