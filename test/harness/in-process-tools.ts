// Admin commands, counters and the log asked of a proxyd in this process, over its own protocol: what proxyadm,
// proxystat -j and proxylog -d would print, without starting a Node for each. It is no test of those tools: tests of
// them start them. Special case: a daemon that is only just starting is waited for, as proxyadm does.
import { parseLogArguments } from '../../console/bin/log-arguments.ts';
import type { LogSink } from '../../console/bin/log-source.ts';
import { followDaemon } from '../../console/bin/proxylog-follow.ts';
import { type Client, ConnectError, connect } from '../../console/client/client.ts';
import { groupText } from '../../console/format/log-text.ts';
import { PROXYLOG } from '../../protocol/tables/log-tools.ts';
import { delay, type Finished } from './processes.ts';

const AGAIN_MS = 20;
/** A daemon that is not there is asked for a while, as proxyadm does; longer than its five seconds, for a busy machine. */
const PATIENCE_SECONDS = 20;

/** Asks once there is an answering daemon; rejects with a ConnectError after `patience` seconds without one. */
async function withClient<T>(dir: string, patience: number, ask: (client: Client) => Promise<T>): Promise<T> {
  const end = performance.now() + patience * 1000;
  for (;;) {
    let client: Client;
    try {
      client = await connect({ dir, name: 'proxyadm' });
    } catch (cause) {
      const nobody = cause instanceof ConnectError && cause.kind === 'unreachable';
      if (!nobody || performance.now() > end) throw cause;
      await delay(AGAIN_MS);
      continue;
    }
    try {
      return await ask(client);
    } finally {
      client.close();
    }
  }
}

/** One command; output and exit code are proxyadm's. `patience`: seconds to wait for a daemon that is not there. */
export async function adminCommand(
  dir: string,
  line: string,
  patience = PATIENCE_SECONDS,
): Promise<Finished> {
  const started = performance.now();
  const finished = (code: number, stdout: string, stderr: string): Finished => ({
    code,
    signal: null,
    // In the form of run()'s result.
    stdout: Buffer.from(stdout).toString('latin1'),
    stderr: Buffer.from(stderr).toString('latin1'),
    ms: performance.now() - started,
  });
  try {
    const { status, body } = await withClient(dir, patience, (client) => client.command(line));
    if (status === 201) return finished(0, `${body}\n[response was truncated]\n`, '');
    if (status === 200) return finished(0, `${body}\n`, '');
    return finished(1, `${body}\n`, `Command failed with error code ${status}\n`);
  } catch (cause) {
    return finished(2, '', `${(cause as Error).message}\n`);
  }
}

/** All counters by name. Rejects when the daemon is not there or refuses. */
export function readCounters(dir: string): Promise<Record<string, number>> {
  const read = (client: Client): Promise<Record<string, number>> =>
    new Promise((resolve, reject) => {
      let names: string[] = [];
      let values: string[] = [];
      client.stat(
        { interval: 0, filters: [] },
        {
          counters(list) {
            names = list.map((c) => c.name);
          },
          values(_at, list) {
            values = list;
          },
          end(error) {
            if (error !== null) reject(new Error(error.message));
            else resolve(Object.fromEntries(names.map((name, i) => [name, Number(values[i] ?? 0)])));
          },
        },
      );
    });
  return withClient(dir, PATIENCE_SECONDS, read);
}

/** The log's present contents, as printed by proxylog with these arguments. Rejects if that would fail. */
export async function readLog(dir: string, args: readonly string[]): Promise<string> {
  const a = await parseLogArguments(PROXYLOG, ['-n', dir, '-d', ...args]);
  if (!('sub' in a) || a.json || a.output !== undefined)
    throw new Error(`not to be read here: ${args.join(' ')}`);
  let text = '';
  const sink: LogSink = {
    write(groups) {
      for (const group of groups) text += groupText(group, a.verbose);
      return true;
    },
    drain() {},
  };
  const status = await followDaemon(a, sink).done;
  if (status !== 0) throw new Error(`the log could not be read: ${status}`);
  return text;
}
