// The longest step of the event loop of proxyd's worker while something is done to it.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { largest } from '../processes.js';
import { ROOT, SERVER_CPU, sleep, startProxyd } from '../servers/start.js';

/** {step, gc} in milliseconds: the longest step, and the longest garbage collection; `load` is given a daemon of its own with that program and storage, after `prepare`. */
export async function longestStep(dir, originPort, { program, storage, prepare }, load) {
  mkdirSync(dir);
  const file = join(dir, 'steps');
  const server = await startProxyd(SERVER_CPU, dir, originPort, program, storage, {
    NODE_OPTIONS: `--require ${ROOT}test/bench/growth/loop-watch.cjs`,
    LOOP_WATCH: file,
  });
  try {
    await prepare?.(server);
    await sleep(500);
    const begun = Date.now();
    await load(server);
    await sleep(500);
    const steps = `${file}.${largest(server.pid)}`;
    if (!existsSync(steps)) throw new Error('the worker has told nothing of its steps');
    const lines = readFileSync(steps, 'utf8').trimEnd().split('\n');
    const figures = lines.map((line) => line.split(' ').map(Number)).filter(([at]) => at >= begun + 250);
    return {
      step: Math.max(...figures.map(([, step]) => step)),
      gc: Math.max(...figures.map(([, , gc]) => gc)),
    };
  } finally {
    await server.stop();
  }
}
