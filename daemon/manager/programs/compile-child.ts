// Entry of the process that compiles a large program for the manager: reads the job from descriptor 3 until its end,
// writes the result to it, and exits. It reads included files, but nothing of the package.

import { readFileSync } from 'node:fs';
import { writeAll } from '../../../protocol/files/own-file.ts';
import { keepPrograms } from '../../vcl/own-programs.ts';
import { doJob } from './compile-job.ts';
import { readJob, writeAnswer } from './compiler-processes.ts';

const CHANNEL = 3;

// The name in ps and top.
process.title = 'proxyd compiler';
const job = readJob(readFileSync(CHANNEL));
keepPrograms(job.own);
writeAnswer(doJob(job), (bytes) => writeAll(CHANNEL, bytes));
process.exit(0);
