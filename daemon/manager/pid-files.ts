// The files with the manager's process id: one in the working directory, and that of -P.

import { writeOwn } from '../../protocol/files/own-file.ts';
import { writePidFile } from '../../protocol/files/pid-file.ts';
import { systemText } from '../../protocol/system-text.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { OptionError } from './option-error.ts';

/** Returns what removes the file of -P, which is null without one. Throws OptionError. */
export function writePidFiles(dir: string, pidFile: string | null): () => void {
  try {
    writeOwn(`${dir}/${WORKDIR_FILES.pid}`, `${process.pid}\n`, 0o644);
  } catch (cause) {
    throw new OptionError(
      `Cannot write ${WORKDIR_FILES.pid} in the working directory ${dir}: ${systemText(cause)}`,
      false,
    );
  }
  if (pidFile === null) return () => {};
  try {
    return writePidFile(pidFile);
  } catch (cause) {
    throw new OptionError(
      `Could not open pid-file (${pidFile}): ${systemText(cause)} (give another one with -P)`,
      false,
    );
  }
}
