// Finds and reads a program file: absolute and ./ names as they are, others along vcl_path.

import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { systemText } from '../../protocol/system-text.ts';
import { sourceText } from '../vcl/source-text.ts';

/** The file with its full name, or the reason why there is none. `here`: also look in the current directory. */
export function readProgramFile(
  file: string,
  vclPath: string,
  here = false,
): { name: string; text: string } | string {
  const direct = isAbsolute(file) || /^\.\.?\//.test(file);
  const places = direct ? [file] : vclPath.split(':').map((dir) => join(dir, file));
  if (!direct && here) places.push(file);
  let why = 'No such file or directory';
  for (const name of places) {
    try {
      return { name, text: sourceText(readFileSync(name)) };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') why = systemText(cause);
    }
  }
  return why;
}
