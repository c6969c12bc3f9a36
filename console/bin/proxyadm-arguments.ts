// Command line of proxyadm. Options end at the first word, where the command begins.

import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { packageVersion } from '../../protocol/files/package-files.ts';
import { PROXYADM } from '../../protocol/tables/tools.ts';
import { resolveWorkdir, surroundings } from '../../protocol/workdir.ts';
import { parseVarnishTarget } from '../client/varnish-target.ts';

export interface Arguments {
  dir?: string;
  address?: string;
  secretFile?: string;
  /** Seconds; the default if absent, Infinity for no limit. */
  timeout?: number;
  pass: boolean;
  strict: boolean;
  readonly: boolean;
  /** A Varnish, in the syntax of parseVarnishTarget(); '' is the default instance on this host. */
  varnish?: string;
  replay?: string;
  reader: boolean;
  words: string[];
}

/** An invalid option value. */
export class ValueError extends Error {}

/** Options up to the first word; the rest is the command. Throws ValueError. */
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
      case 'varnish':
        out.varnish = varnishTarget(value);
        break;
      case 'reader':
        out.reader = true;
        break;
      case 'x':
        return document(value);
    }
  }
  if (read.end !== null) return read.end;
  if (time !== undefined) out.timeout = seconds(time);
  if (out.dir !== undefined && (out.address !== undefined || out.secretFile !== undefined)) {
    return { kind: 'mistake', message: '-n is mutually exclusive with -S and -T' };
  }
  if (out.varnish !== undefined && (out.dir ?? out.address ?? out.secretFile) !== undefined) {
    return { kind: 'mistake', message: '--varnish is mutually exclusive with -n, -S and -T' };
  }
  return out;
}

/** -x: where a daemon works if nobody says otherwise. */
function document(subject: string): Ending {
  if (subject !== 'workdir') return { kind: 'mistake', message: `Invalid -x argument: ${subject}` };
  return { kind: 'answer', text: `${resolveWorkdir(undefined, surroundings())}\n`, stream: 'stdout' };
}

/** Returns the text unchanged if it is valid. */
function varnishTarget(text: string): string {
  try {
    parseVarnishTarget(text);
  } catch (cause) {
    throw new ValueError(`--varnish: ${(cause as Error).message}`, { cause });
  }
  return text;
}

/** Zero means no limit. */
function seconds(text: string): number {
  if (!/^\s*(\d+\.?\d*|\.\d+)\s*$/.test(text)) throw new ValueError(`-t: Invalid argument: ${text}`);
  return Number(text) || Number.POSITIVE_INFINITY;
}
