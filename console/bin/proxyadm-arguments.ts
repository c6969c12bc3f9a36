// The command line of proxyadm. Options end at the first word, which begins the command.

import { getopt } from './getopt.ts';

export const USAGE = `Usage: proxyadm [-n <dir>] [-t <timeout>] [-p] [command [...]]
       proxyadm -T <address:port> [-S <secretfile>] [-t <timeout>] [-p] [command [...]]

Without a command: the console on a terminal, else commands on standard input, one a line.

  -n <dir>          Working directory of the daemon; else its default places
  -T <address:port> Address of --console or -T of the daemon
  -S <file>         Secret for -T
  -t <seconds>      Wait no longer for the connection (else 5), and for each answer (else for ever)
  -p                Print status and length before each answer, and nothing behind it
  --strict          Commands on standard input: stop at the first that fails
  --readonly        The console cannot change anything; so for members of --read-group
  --replay <file>   The console shows a recording: of its own :record, or of proxylog -w or --json
  --reader          The console speaks in lines, for screen readers
  -h | -V           This text, the version
`;

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

/** `exitCode`: 1 for options that do not exist or exclude each other, 2 for a value that is wrong. */
export class UsageError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Options up to the first word; the words are the command. Throws UsageError. */
export function parseArguments(argv: readonly string[]): Arguments | 'help' | 'version' {
  const read = getopt(argv, 'hn:pS:T:t:V?', ['strict', 'readonly', 'replay:', 'reader', 'help', 'version']);
  if (typeof read === 'string') throw new UsageError(read);
  const out: Arguments = { pass: false, strict: false, readonly: false, reader: false, words: read.rest };
  for (const [name, value] of read.options) {
    switch (name) {
      case 'h':
      case '?':
      case 'help':
        return 'help';
      case 'V':
      case 'version':
        return 'version';
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
        out.timeout = seconds(value);
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
  if (out.dir !== undefined && (out.address !== undefined || out.secretFile !== undefined)) {
    throw new UsageError('-n is mutually exclusive with -S and -T');
  }
  return out;
}

/** Zero sets no limit. */
function seconds(text: string): number {
  if (!/^\s*(\d+\.?\d*|\.\d+)\s*$/.test(text)) throw new UsageError(`-t: Invalid argument: ${text}`, 2);
  return Number(text) || Number.POSITIVE_INFINITY;
}
