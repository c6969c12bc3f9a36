// A manager on a fake worker and a compiler that takes every text, in a directory of its own.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Manager } from '../../../daemon/manager/manager.ts';
import { type Options, parseOptions } from '../../../daemon/manager/options/options.ts';
import type { Compile } from '../../../daemon/manager/programs/compile-job.ts';
import { ProcessCode } from '../../../daemon/own-process.ts';

export const FAKE_WORKER = fileURLToPath(new URL('./fake-worker.js', import.meta.url));

/** Characters of large code, and of its lines. */
export const LARGE = 1_000_000;

/** Texts that contain "error" do not compile, those that contain "large code" become that. */
export const fakeCompile: Compile = async ({ name, text }) =>
  text.includes('error')
    ? `Message from VCC-compiler:\nno good\n`
    : {
        pieces: [{ text: text.includes('large code') ? 'x'.repeat(LARGE) : '', line: 0 }],
        files: [{ name, text }],
        backends: [],
        defaultBackend: null,
        facts: {},
        keeps: { request: false, fetch: false },
        syntax: 41,
        release: '7.1' as const,
        imports: [],
        modules: [],
        labels: [],
        positions: text.includes('large code') ? 'y'.repeat(LARGE) : '',
      };

export interface Fixture {
  manager: Manager;
  dir: string;
  log: string[];
  close(): Promise<void>;
}

export async function startManager(argv: string[], options: Partial<Options> = {}): Promise<Fixture> {
  const dir = mkdtempSync(join(tmpdir(), 'proxyd-manager-'));
  const request = parseOptions(['-a', '127.0.0.1:0', ...argv]);
  if (request.kind !== 'run') throw new Error('not a run');
  const log: string[] = [];
  const manager = await Manager.create(
    { ...request.options, ...options },
    dir,
    '1.2.3',
    (level, text) => log.push(`${level}: ${text}`),
    { code: new ProcessCode(FAKE_WORKER), compile: fakeCompile },
  );
  const close = async (): Promise<void> => {
    await manager.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await manager.boot();
  } catch (cause) {
    await close();
    throw cause;
  }
  return { manager, dir, log, close };
}

/** Waits until `probe` is true; fails after half a minute. */
export async function until(probe: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    if (await probe()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`never happened: ${what}`);
}
