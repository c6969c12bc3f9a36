// What the tools that read the log have in common, their options apart: help and version, the background,
// signals, where transactions come from. Their own options are taken out first; the rest is proxylog's.
//
// Awkward: proxylog's arguments are parsed by proxylog's own code, so that queries, limits and their error
// texts are the same; a tool's mistakes in its own options are told after those.

import { guardTerminal } from '../format/terminal-text.ts';
import { quietOnClosedPipe } from './attach.ts';
import { getopt } from './getopt.ts';
import { ArgumentError, type LogArguments, parseLogArguments } from './log-arguments.ts';
import type { LogSink, LogSource } from './log-source.ts';
import { inBackground, toBackground } from './proxylog-background.ts';

export interface ToolSink extends LogSink {
  /** Goes over to a new output file; or what is wrong. */
  rotate?(): ArgumentError | null;
  /** Everything is out once this resolves. */
  finish(): Promise<void>;
}

export interface LogTool {
  name: string;
  usage: string;
  /** As getopt takes them. */
  optstring: string;
  /** Letters that are not proxylog's, or mean something else here. */
  own: string;
  /** Looks at one of its own options; what is wrong with it, or undefined. */
  take(flag: string, value: string): ArgumentError | undefined;
  /** What is wrong between the options, which is told before a mistake in the query. */
  check(a: LogArguments): Promise<ArgumentError | null>;
  /** Opens the output once all arguments are known. */
  open(a: LogArguments): Promise<ToolSink | ArgumentError>;
}

/** Runs the tool to its end; resolves with the exit status. */
export async function runLogTool(tool: LogTool, argv: readonly string[]): Promise<number> {
  const a = await readArguments(tool, argv);
  if (a === 'help') {
    process.stderr.write(tool.usage);
    return 0;
  }
  if (a === 'optstring') {
    process.stdout.write(`${tool.optstring}\n`);
    return 0;
  }
  if (a === 'version') {
    const { packageVersion } = await import('./version.ts');
    process.stderr.write(`${tool.name} (proxyd ${packageVersion()})\n`);
    return 0;
  }
  if (a instanceof ArgumentError) return refuse(tool, a);
  if (a.daemonize && !inBackground()) return toBackground();
  quietOnClosedPipe();
  guardTerminal([process.stderr]);
  const problem = await tool.check(a);
  if (problem !== null) return refuse(tool, problem);
  const sink = await tool.open(a);
  if (sink instanceof ArgumentError) return refuse(tool, sink);
  process.on('SIGTERM', () => process.exit(0));
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGHUP', () => {
    if (!a.daemonize) process.exit(0);
    const problem = sink.rotate?.() ?? null;
    if (problem === null) return;
    process.stderr.write(`${problem.message}\n`);
    process.exit(1);
  });
  const source = await openSource(a, sink);
  process.on('SIGUSR1', () => source.flush());
  const status = await source.done;
  await sink.finish();
  return status;
}

function refuse(tool: LogTool, error: ArgumentError): number {
  if (error.message !== '') process.stderr.write(`${error.message}\n`);
  if (error.usage) process.stderr.write(tool.usage);
  return 1;
}

async function readArguments(
  tool: LogTool,
  argv: readonly string[],
): Promise<LogArguments | ArgumentError | 'help' | 'version' | 'optstring'> {
  const parsed = getopt(argv, tool.optstring, ['optstring']);
  if (typeof parsed === 'string') return new ArgumentError(`${tool.name}: ${parsed}`, true);
  for (const [flag, value] of parsed.options) {
    const problem = tool.own.includes(flag) ? tool.take(flag, value) : undefined;
    if (problem !== undefined) return problem;
  }
  const a = await parseLogArguments(forProxylog(parsed.options, tool, true));
  if (a instanceof ArgumentError && a.message.startsWith('Query expression error')) {
    // What the tool's own checks find is told before what is wrong with the query.
    const without = await parseLogArguments(forProxylog(parsed.options, tool, false));
    const sink =
      typeof without === 'string' || without instanceof ArgumentError ? null : await tool.check(without);
    return sink ?? a;
  }
  if (typeof a !== 'string' && !(a instanceof ArgumentError) && parsed.rest.length > 0) {
    return new ArgumentError('', true);
  }
  return a;
}

/** The command line of proxylog, queries left out where that is asked for. */
function forProxylog(options: readonly [string, string][], tool: LogTool, queries: boolean): string[] {
  const passed: string[] = [];
  for (const [flag, value] of options) {
    if (flag === 'optstring') passed.push('--optstring');
    else if (!tool.own.includes(flag) && (queries || (flag !== 'q' && flag !== 'Q'))) {
      passed.push(`-${flag}`);
      if (tool.optstring[tool.optstring.indexOf(flag) + 1] === ':') passed.push(value);
    }
  }
  return passed;
}

async function openSource(a: LogArguments, sink: LogSink): Promise<LogSource> {
  if (a.input === undefined) {
    const { followDaemon } = await import('./proxylog-follow.ts');
    return followDaemon(a, sink);
  }
  const { readRecording } = await import('./proxylog-recording.ts');
  return readRecording(a, sink);
}
