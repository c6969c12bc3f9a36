#!/usr/bin/env node
// proxylog: the log of a running daemon, or of a recording, as text, NDJSON or binary.
//
// Exit codes: 0; 1 for every failure, 2 when the output file cannot be opened; 130 after SIGINT. It selects
// nothing itself while connected: the daemon does, and only matches travel. SIGHUP means a new output file in
// the background and the end in the foreground; SIGUSR1 shows what is incomplete.

import { PROXYLOG } from '../../protocol/tables/log-tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { LogOutput } from './log-output.ts';
import { runLogTool } from './log-tool.ts';

runLogTool(
  {
    row: PROXYLOG,
    async open(a) {
      guardTerminal([process.stdout]);
      return LogOutput.open(a);
    },
    unopened: 2,
  },
  process.argv.slice(2),
).then(process.exit);
