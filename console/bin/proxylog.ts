#!/usr/bin/env node
// proxylog: the log of a running daemon or of a recording, as text, NDJSON or binary. Exit codes: 0; 1 for every
// failure; 2 if the output file cannot be opened; 130 after SIGINT. Filtering happens in the daemon, and only matches
// are transferred. SIGHUP reopens the output file in the background and ends the tool in the foreground; SIGUSR1
// prints incomplete transactions.

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
