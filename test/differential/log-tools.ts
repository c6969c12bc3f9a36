// Varnish's log tool and ours on one recording: what each prints for the same arguments. Ours runs in this
// process, from the same parts as proxylog; log-recordings.test.ts runs the program itself.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseLogArguments } from '../../console/bin/log-arguments.ts';
import { groupText } from '../../console/format/log-text.ts';
import { PROXYLOG } from '../../protocol/tables/log-tools.ts';
import { LogFileDecoder } from '../../queries/binary-log.ts';
import { Grouper } from '../../queries/group.ts';
import { LogSelection } from '../../queries/log-selection.ts';
import { findProgram } from '../harness/processes.ts';

export interface Printed {
  out: string;
  err: string;
}

/** Path of a recording in test/queries/fixtures. */
export function fixture(name: string): string {
  return new URL(`../queries/fixtures/${name}`, import.meta.url).pathname;
}

/** At a stray first character Varnish's tool prints a position that it never set. */
const NOWHERE = /\(Pos \d{6,}\)/;

export const fieldTool = findProgram('varnishlog');

export function field(file: string, args: readonly string[]): Promise<Printed> {
  return new Promise((resolve) => {
    execFile(
      fieldTool as string,
      ['-r', file, ...args],
      { encoding: 'latin1', maxBuffer: 1 << 26 },
      (_e, out, err) => resolve({ out, err: err.replace(NOWHERE, '(Pos 1)') }),
    );
  });
}

export async function ours(file: string, args: readonly string[]): Promise<Printed> {
  const a = await parseLogArguments(PROXYLOG, ['-r', file, ...args]);
  if ('kind' in a) throw new Error(`${args.join(' ')} asks for ${JSON.stringify(a)}`);
  // Varnish's bytes were read as latin1.
  if (!('sub' in a)) return { out: '', err: Buffer.from(`${a.message}\n`, 'utf8').toString('latin1') };
  const selection = LogSelection.create(a.sub);
  if (!(selection instanceof LogSelection))
    throw new Error('arguments were accepted but the selection was not');
  let out = '';
  const grouper = new Grouper(a.sub, (group) => {
    const shown = selection.take(group, 0);
    if (shown !== null) out += groupText(shown, a.verbose);
  });
  grouper.push(new LogFileDecoder().push(readFileSync(file)) as Uint8Array, 0);
  return { out, err: '' };
}
