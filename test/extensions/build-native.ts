// Builds the sample in C with node-gyp, into a directory of the caller's. Node-gyp is the one that npm brings
// along; headers are those beside the running Node, so that nothing is fetched.

import { cpSync, existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram, run } from '../harness/processes.ts';

const SOURCE = new URL('native/', import.meta.url).pathname;

export type Built = { file: string; missing?: undefined } | { file?: undefined; missing: string };

/** The addon, or why none can be built here. Throws when the build itself fails. */
export async function buildNative(directory: string): Promise<Built> {
  const compiler = ['cc', 'gcc', 'clang'].find((name) => findProgram(name) !== null);
  if (compiler === undefined) return { missing: 'no C compiler' };
  for (const name of ['make', 'python3']) if (findProgram(name) === null) return { missing: `no ${name}` };
  const gyp = nodeGyp();
  if (gyp === null) return { missing: 'npm has no node-gyp here' };
  const prefix = dirname(dirname(realpathSync(process.execPath)));
  if (!existsSync(join(prefix, 'include/node/node_api.h'))) return { missing: 'no headers beside Node' };
  cpSync(SOURCE, directory, { recursive: true });
  const done = await run(process.execPath, [gyp, 'rebuild', `--nodedir=${prefix}`], {
    cwd: directory,
    timeout: 120_000,
  });
  if (done.code !== 0) throw new Error(`node-gyp failed:\n${done.stdout}\n${done.stderr}`);
  return { file: join(directory, 'build/Release/sample_c.node') };
}

function nodeGyp(): string | null {
  const npm = findProgram('npm');
  const candidates = [
    process.env.npm_config_node_gyp,
    npm === null ? undefined : join(dirname(realpathSync(npm)), '../node_modules/node-gyp/bin/node-gyp.js'),
    join(
      dirname(realpathSync(process.execPath)),
      '../lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js',
    ),
  ];
  return candidates.find((path) => path !== undefined && existsSync(path)) ?? null;
}
