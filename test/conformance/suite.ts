// The public suite of HTTP cache tests (npm: http-cache-tests), taken from the registry when it is first needed. Its
// own client and server are run as they are, in processes of their own: they keep state in their modules.
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { run, type Sandbox } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const VERSION = '0.4.5';
const CACHE = join(ROOT, 'node_modules', '.cache', `http-cache-tests-${VERSION}`);

export interface SuiteTest {
  id: string;
  kind: 'required' | 'optimal' | 'check';
  /** True, or why it failed. */
  result: true | string;
}

/** Directory of the suite, or null when it cannot be had. */
export async function obtainSuite(box: Sandbox): Promise<string | null> {
  if (existsSync(CACHE)) return CACHE;
  const dir = box.path('suite');
  mkdirSync(dir, { recursive: true });
  const packed = await run('npm', ['pack', '--silent', `http-cache-tests@${VERSION}`], { cwd: dir });
  const file = packed.stdout.trim().split('\n').at(-1);
  if (packed.code !== 0 || file === undefined) return null;
  const unpacked = await run('tar', ['xzf', file], { cwd: dir });
  if (unpacked.code !== 0) return null;
  mkdirSync(join(CACHE, '..'), { recursive: true });
  // Copied, then renamed: the sandbox may be on another filesystem, and a half-made copy must not be found.
  const half = `${CACHE}.${process.pid}`;
  await run('cp', ['-r', join(dir, 'package'), half]);
  renameSync(half, CACHE);
  return CACHE;
}

/** Starts the suite's origin on a port. */
export function startSuiteOrigin(box: Sandbox, suite: string, port: number): void {
  box.start('suite origin', 'node', [join(suite, 'server', 'server.mjs')], {
    cwd: suite,
    env: {
      ...process.env,
      npm_config_protocol: 'http',
      npm_config_port: String(port),
      npm_config_pidfile: box.path('pid'),
    },
  });
}

/** Runs the whole suite against a proxy in front of its origin. */
export async function runSuite(box: Sandbox, suite: string, port: number): Promise<SuiteTest[]> {
  const out = box.path('results');
  const client = join(ROOT, 'test', 'conformance', 'client.js');
  const done = await run('node', ['--no-warnings', client, suite, `http://127.0.0.1:${port}`, out], {
    timeout: 150_000,
  });
  if (!existsSync(out)) throw new Error(`the suite ended with ${done.code}: ${done.stderr}${done.stdout}`);
  return JSON.parse(readFileSync(out, 'utf8')) as SuiteTest[];
}

/** How many of a kind passed. */
export function passed(results: readonly SuiteTest[], kind: SuiteTest['kind']): number {
  return results.filter((t) => t.kind === kind && t.result === true).length;
}
