// The command line of proxyadm. Options end at the first word, which begins the command.

import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import { PROXYADM } from '../../protocol/tables/tools.ts';

export interface Arguments {
  dir?: string;
  address?: string;
  secretFile?: string;
  /** Seconds; absent is the default, Infinity no limit. */
  timeout?: number;
  pass: boolean;
  strict: boolean;
  readonly: boolean;
  replay?: string;
  reader: boolean;
  words: string[];
}

/** What is wrong with a value. */
export class ValueError extends Error {}

/** Options up to the first word; the words are the command. Throws ValueError. */
export function parseArguments(argv: readonly string[]): Arguments | Ending {
  const read = readCommandLine(PROXYADM, argv, packageVersion());
  const out: Arguments = { pass: false, strict: false, readonly: false, reader: false, words: read.words };
  let time: string | undefined;
  for (const [name, value] of read.options) {
    switch (name) {
      case 'n':
        out.dir = value;
        break;
      case 'T':
        out.address = value;
        break;
      case 'S':
        out.secretFile = value;
        break;
      case 't':
        time = value;
        break;
      case 'p':
        out.pass = true;
        break;
      case 'strict':
        out.strict = true;
        break;
      case 'readonly':
        out.readonly = true;
        break;
      case 'replay':
        out.replay = value;
        break;
      case 'reader':
        out.reader = true;
        break;
    }
  }
  if (read.end !== null) return read.end;
  if (time !== undefined) out.timeout = seconds(time);
  if (out.dir !== undefined && (out.address !== undefined || out.secretFile !== undefined)) {
    return { kind: 'mistake', message: '-n is mutually exclusive with -S and -T' };
  }
  return out;
}

/** Zero sets no limit. */
function seconds(text: string): number {
  if (!/^\s*(\d+\.?\d*|\.\d+)\s*$/.test(text)) throw new ValueError(`-t: Invalid argument: ${text}`);
  return Number(text) || Number.POSITIVE_INFINITY;
}
