// Worker threads that share a limit: the sources bundled into one file for them, as threads cannot load TypeScript.
// Each thread has a limit `api`, executes commands, and reports.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import type { LimitOptions } from '../../../daemon/throttle/throttle.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

export class Threads {
  /** One number that all threads have as `counter`. */
  readonly counter = new Int32Array(new SharedArrayBuffer(4));
  private readonly file = join(tmpdir(), `proxyd-throttle-${process.pid}-${Date.now()}.mjs`);
  private readonly started: Thread[] = [];
  private packed: Promise<unknown> | undefined;

  /** Runs the body of an async function of `api`, `report`, `permission()`, which waits for permission to continue, and
   * `counter`. */
  async start(options: LimitOptions, shared: SharedArrayBuffer, body: string): Promise<Thread> {
    const source = `
      import { parentPort, workerData } from 'node:worker_threads';
      import { limit } from './daemon/throttle/throttle.ts';
      const api = limit(workerData);
      const report = (value) => parentPort.postMessage(value);
      const permission = () => new Promise((resolve) => parentPort.once('message', resolve));
      const work = eval('(async (api, report, permission, counter) => {' + workerData.body + '\\n})');
      report('ready');
      await work(api, report, permission, workerData.counter);`;
    this.packed ??= build({
      stdin: { contents: source, resolveDir: ROOT, loader: 'ts' },
      bundle: true,
      format: 'esm',
      platform: 'node',
      outfile: this.file,
      logLevel: 'error',
    });
    await this.packed;
    const thread = new Thread(
      new Worker(this.file, { workerData: { ...options, shared, body, counter: this.counter } }),
    );
    this.started.push(thread);
    await thread.next();
    return thread;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.started.map((thread) => thread.kill()));
    rmSync(this.file, { force: true });
  }
}

export class Thread {
  readonly worker: Worker;
  private readonly reports: unknown[] = [];
  private failure: Error | undefined;
  private arrived = () => {};

  constructor(worker: Worker) {
    this.worker = worker;
    const end = (error: Error) => {
      this.failure ??= error;
      this.arrived();
    };
    worker.on('message', (report) => {
      this.reports.push(report);
      this.arrived();
    });
    worker.on('error', end);
    worker.on('exit', () => end(new Error('the thread has ended')));
  }

  /** Its next report. */
  async next<T = unknown>(): Promise<T> {
    while (this.reports.length === 0) {
      if (this.failure !== undefined) throw this.failure;
      await new Promise<void>((resolve) => {
        this.arrived = resolve;
      });
    }
    return this.reports.shift() as T;
  }

  tell(): void {
    this.worker.postMessage('go');
  }

  async kill(): Promise<void> {
    await this.worker.terminate();
  }
}
