// The demo's edge network: edge-fake as a child that ends when its standard input closes, and thus with the demo.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { inPackage } from '../../protocol/files/package-files.ts';

export interface EdgeChild {
  /** Port for visitors. */
  port: number;
  /** Sets the proxy that it forwards to. */
  forwardTo(port: number): void;
  /** Calls back with a line per completed purge: "cleared delete url … copies 1". */
  onCleared(call: (line: string) => void): void;
  stop(): void;
}

/** A busy machine may take as long (chosen). */
const START_MS = 60_000;

/** @param conf path for the settings by which a daemon reaches it */
export async function startEdge(conf: string): Promise<EdgeChild> {
  const entry = inPackage('dist/daemon/edge/fake/edge-fake.js');
  const child = spawn(process.execPath, [entry, '-d', '--conf', conf], { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined);
  let cleared = (_line: string): void => undefined;
  try {
    const port = await listening(child, (line) => cleared(line));
    return {
      port,
      forwardTo: (proxy) => child.stdin.write(`proxy 127.0.0.1:${proxy}\n`),
      onCleared: (call) => {
        cleared = call;
      },
      stop: () => {
        child.stdin.end();
        child.kill('SIGTERM');
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

function listening(child: ChildProcess, cleared: (line: string) => void): Promise<number> {
  return new Promise((done, failed) => {
    let output = '';
    const timer = setTimeout(() => failed(new Error('edge-fake did not start in time')), START_MS);
    child.stderr?.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
    child.once('error', failed);
    child.once('exit', () => failed(new Error(`edge-fake ended: ${output.trim()}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const port = /^cache 127\.0\.0\.1:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) {
        clearTimeout(timer);
        done(Number(port));
      } else if (line.startsWith('cleared ')) cleared(line);
    });
  });
}
