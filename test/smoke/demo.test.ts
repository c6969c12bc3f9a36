// The demo without a terminal: it serves a shop behind an edge network, prints events, and leaves no process.
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { alive, processTree, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-smoke-demo');
afterAll(() => box.dispose());

it('prints its traffic, and ends with all its processes', async () => {
  const demo = box.start('demo', process.execPath, [join(ROOT, 'dist/console/bin/demo.js'), '--plain']);
  await until('summaries', () => (demo.stdout.match(/requests\/s +hit rate/g)?.length ?? 0) >= 2);
  expect(demo.stdout).toMatch(/^The cache: http:\/\/127\.0\.0\.1:\d+\//m);
  const tree = processTree(demo.pid);
  // The demo itself, the edge network, the manager, the worker.
  expect(tree.length).toBeGreaterThanOrEqual(4);
  process.kill(demo.pid, 'SIGTERM');
  expect((await demo.exit(60_000)).stderr).toBe('');
  await until('all its processes gone', () => tree.every((pid) => !alive(pid)));
});
