// Entry of the process that tries a program on requests of the log, for vcl.try: reads its job from descriptor 3, opens the
// log, becomes the user of the worker, whose rights programs have, and writes the comparison, or the text of an error, to
// descriptor 3.

import { readFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { writeAll } from '../../protocol/files/own-file.ts';
import type { CompiledProgram } from '../contract/program.ts';
import { type Account, becomeUser } from '../privileges.ts';
import { type Comparison, comparePrograms } from './compare-programs.ts';
import { loggedRequests } from './logged-requests.ts';

export interface TryJob {
  /** Path of the log. */
  readonly ring: string;
  readonly most: number;
  readonly account: Account | null;
  readonly before: CompiledProgram;
  readonly after: CompiledProgram;
}

const CHANNEL = 3;

process.title = 'proxyd trial';
let answer: Comparison | string;
try {
  const { ring, most, account, before, after } = deserialize(readFileSync(CHANNEL)) as TryJob;
  const requests = loggedRequests(ring, most);
  if (account !== null) becomeUser(account);
  answer = comparePrograms(before, after, requests);
} catch (cause) {
  answer = (cause as Error).message;
}
writeAll(CHANNEL, serialize(answer));
process.exit(0);
