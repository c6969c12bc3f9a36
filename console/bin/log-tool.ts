// Common parts of the tools that read the log: help and version, daemonizing, signals, sources of transactions.

import type { ToolRow } from '../../protocol/tables/tool-row.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { printEnding } from '../process/command-end.ts';
import { keepOutputManners } from '../process/standard-output.ts';
import { ArgumentError, type LogArguments, type OwnOptions, parseLogArguments } from './log-arguments.ts';
import type { LogSink, LogSource } from './log-source.ts';
import { inBackground, toBackground } from './proxylog-background.ts';

export interface ToolSink extends LogSink {
  /** Switches to a new output file; returns an error or null. */
  rotate?(): ArgumentError | null;
  /** Resolves when all output is flushed. */
  finish(): Promise<void>;
}

export interface LogTool {
  row: ToolRow;
  /** Absent for proxylog, whose options all tools share. */
  own?: OwnOptions;
  /** Opens the output after all arguments are parsed. */
  open(a: LogArguments): Promise<ToolSink | ArgumentError>;
  /** Exit status if the output cannot be opened. */
  unopened?: number;
}

/** Runs the tool to completion; resolves with the exit status. */
export async function runLogTool(tool: LogTool, argv: readonly string[]): Promise<number> {
  keepOutputManners(tool.row.name);
  const a = await parseLogArguments(tool.row, argv, tool.own);
  if ('kind' in a) return printEnding(tool.row, a);
  if (a instanceof ArgumentError) return refuse(a);
  if (!inBackground()) await nameUnwritten(tool.row.name, a);
  if (a.daemonize && !inBackground()) return toBackground();
  guardTerminal([process.stderr]);
  const sink = await tool.open(a);
  if (sink instanceof ArgumentError) return refuse(sink, tool.unopened);
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

/** A query for records that are never logged is valid, but gets one warning. */
async function nameUnwritten(name: string, a: LogArguments): Promise<void> {
  if (a.input !== undefined || (a.sub.query === undefined && a.sub.filters === undefined)) return;
  const { unwrittenTags, unwrittenText } = await import('../../queries/unwritten-tags.ts');
  const text = unwrittenText(unwrittenTags(a.sub));
  if (text !== null) process.stderr.write(`${name}: ${text}\n`);
}

function refuse(error: ArgumentError, status = 1): number {
  process.stderr.write(`${error.message}\n`);
  return status;
}

async function openSource(a: LogArguments, sink: LogSink): Promise<LogSource> {
  if (a.input === undefined) {
    const { followDaemon } = await import('./proxylog-follow.ts');
    return followDaemon(a, sink);
  }
  const { readRecording } = await import('./proxylog-recording.ts');
  return readRecording(a, sink);
}
