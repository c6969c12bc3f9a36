// The command line of proxyadm. Options end at the first word, which begins the command.

export const USAGE = `Usage: proxyadm [-n <dir>] [-t <timeout>] [-p] [command [...]]
       proxyadm -T <address:port> [-S <secretfile>] [-t <timeout>] [-p] [command [...]]

Without a command: the console on a terminal, else commands on standard input, one a line.

  -n <dir>          Working directory of the daemon
  -T <address:port> Address of --console or -T of the daemon
  -S <file>         Secret for -T
  -t <seconds>      Wait no longer for the connection, and for each answer
  -p                Print status and length before each answer
  --strict          Commands on standard input: stop at the first that fails
  --readonly        The console cannot change anything
  -h | -V           This text, the version
`;

export interface Arguments {
  dir?: string;
  address?: string;
  secretFile?: string;
  timeout?: number;
  pass: boolean;
  strict: boolean;
  readonly: boolean;
  words: string[];
}

export class UsageError extends Error {}

/** Options up to the first word; the words are the command. Throws UsageError. */
export function parseArguments(argv: readonly string[]): Arguments | 'help' | 'version' {
  const out: Arguments = { pass: false, strict: false, readonly: false, words: [] };
  let i = 0;
  for (; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--') {
      i++;
      break;
    }
    if (!arg.startsWith('-') || arg === '-') break;
    if (arg === '--strict') out.strict = true;
    else if (arg === '--readonly') out.readonly = true;
    else if (arg === '-p') out.pass = true;
    else if (arg === '-h' || arg === '-?' || arg === '--help') return 'help';
    else if (arg === '-V' || arg === '--version') return 'version';
    else {
      const flag = arg[1] as string;
      if (!'nTSt'.includes(flag) || arg.startsWith('--')) throw new UsageError(`unknown option ${arg}`);
      const value = arg.length > 2 ? arg.slice(2) : argv[++i];
      if (value === undefined) throw new UsageError(`option -${flag} needs an argument`);
      if (flag === 'n') out.dir = value;
      else if (flag === 'T') out.address = value;
      else if (flag === 'S') out.secretFile = value;
      else {
        out.timeout = Number(value);
        if (!(out.timeout >= 0)) throw new UsageError(`-t: "${value}" is not a number of seconds`);
      }
    }
  }
  out.words = argv.slice(i);
  if (out.dir !== undefined && out.address !== undefined)
    throw new UsageError('-n and -T exclude each other');
  return out;
}
