#!/usr/bin/env node
// proxylog-json: a JSON object a transaction, from a running daemon or a recording, in the form of varnishlog-json. Exit
// codes: 0; 1 for every failure; 2 if the output file cannot be opened; 130 after SIGINT.

import type { LogTransaction } from '../../protocol/messages.ts';
import { systemText } from '../../protocol/system-text.ts';
import { PROXYLOG_JSON } from '../../protocol/tables/log-tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import type { ObjectOptions } from '../objects/make-objects.ts';
import { ArgumentError, type LogArguments } from './log-arguments.ts';
import { runLogTool, type ToolSink } from './log-tool.ts';
import { parseGrouping } from './log-values.ts';

const own = { client: false, backend: false, esi: false, pretty: false, probes: false };
let grouping: 'vxid' | 'request' = 'vxid';

function take(flag: string, value: string): ArgumentError | undefined {
  if (flag === 'b') own.backend = true;
  else if (flag === 'c') own.client = true;
  else if (flag === 'p') own.pretty = true;
  else if (flag === 'E') {
    own.client = true;
    own.esi = true;
  } else return takeGrouping(value);
  return;
}

/** Names or unique prefixes, as of the other tools. */
function takeGrouping(text: string): ArgumentError | undefined {
  own.probes = text !== '' && 'probe'.startsWith(text.toLowerCase());
  if (own.probes) return;
  const found = parseGrouping(text);
  if (found === 'ambiguous') return new ArgumentError(`Ambiguous grouping type: ${text}`);
  if (found === 'unknown') return new ArgumentError(`Unknown grouping type: ${text}`);
  if (found !== 'vxid' && found !== 'request') return new ArgumentError(`Invalid grouping mode: ${found}`);
  grouping = found;
  return;
}

async function check(a: LogArguments): Promise<ArgumentError | null> {
  const { sub } = a;
  // The file of -w is text, so no recording is asked for.
  sub.recording = false;
  sub.grouping = own.probes ? 'raw' : grouping;
  if (own.probes) {
    sub.filters = [{ kind: 'include-tags', tags: 'Backend_health' }, ...(sub.filters ?? [])];
    return null;
  }
  // Have the daemon send one side where only one is shown; of a group all is needed to know that it is complete.
  const whole = grouping === 'request';
  const { client, backend, esi } = sides();
  if (!whole && client !== backend) {
    if (client) sub.client = true;
    else sub.backend = true;
    if (esi) sub.esi = true;
  }
  return null;
}

/** Clients alone unless a side is given; with -g request everything. */
function sides(): { client: boolean; backend: boolean; esi: boolean } {
  const { client, backend, esi } = own;
  if (client || backend) return { client, backend, esi };
  return grouping === 'request'
    ? { client: true, backend: true, esi: true }
    : { client: true, backend: false, esi: false };
}

async function open(a: LogArguments): Promise<ToolSink | ArgumentError> {
  const [{ objectsText }, { OutputFile }] = await Promise.all([
    import('../objects/make-objects.ts'),
    import('../process/output-file.ts'),
  ]);
  const form = own.probes ? 'probe' : grouping === 'request' ? 'group' : 'transaction';
  const options: ObjectOptions = { ...sides(), form, pretty: own.pretty };
  const cannotOpen = (error: unknown): ArgumentError =>
    new ArgumentError(`Cannot open output file (${systemText(error)})`);
  guardTerminal([process.stdout]);
  try {
    // Logs contain cookies and other client data.
    const output = new OutputFile(a.output, a.append, 0o600);
    return {
      write: (groups: readonly LogTransaction[][]) => output.write(Buffer.from(objectsText(groups, options))),
      drain: (then) => output.drain(then),
      finish: () => output.finish(),
      rotate() {
        try {
          output.reopen();
          return null;
        } catch (error) {
          return cannotOpen(error);
        }
      },
    };
  } catch (error) {
    return cannotOpen(error);
  }
}

runLogTool(
  { row: PROXYLOG_JSON, own: { letters: 'bcEgp', take, check }, open, unopened: 2 },
  process.argv.slice(2),
).then(process.exit);
