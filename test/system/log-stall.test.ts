// A disk that does not answer while one thread of several writes the log: traffic waits as it would with one thread, and
// nothing is lost once the disk is back.
import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-log-stall');
afterAll(() => box.dispose());

it('a log that stalls for longer than other locks may be held does not end the worker', async () => {
  const stall = `${box.dir}/stall`;
  writeFileSync(stall, '');
  // For the worker's user.
  chmodSync(stall, 0o666);
  const proxy = await startProxy(box, {
    program: 'vcl 4.1; backend default none; sub vcl_recv { return (synth(200)); }',
    // Clients whose thread was quick to answer wait for the others.
    params: { worker_threads: '2', timeout_idle: '60' },
    env: {
      LOG_STALL: stall,
      NODE_OPTIONS: `--import ${ROOT}test/harness/threads/stalling-log.js`,
    },
  });
  const pid = proxy.workerPid();
  const all = await Promise.all(Array.from({ length: 8 }, () => ClientConnection.open(proxy.port)));
  const ask = async (connection: ClientConnection, url: string): Promise<number> => {
    connection.send(requestText(url));
    return (await connection.response()).status;
  };
  await Promise.all(all.map((connection) => ask(connection, '/before')));
  writeFileSync(stall, 'once');
  const begun = performance.now();
  // Any thread may write another one's records: sends requests until the stalled one had to write.
  let rounds = 0;
  await until('the stall has begun', async () => {
    rounds++;
    await Promise.all(all.map((connection) => ask(connection, '/stalls')));
    return statSync(stall).size === 0;
  });
  // Threads write at the end of a turn, after their answers.
  expect(await Promise.all(all.map((connection) => ask(connection, '/after')))).toEqual(all.map(() => 200));
  expect(performance.now() - begun).toBeGreaterThan(10_000);
  expect(proxy.workerPid()).toBe(pid);
  const ends = async (url: string): Promise<number> => {
    const log = await proxy.log('-g', 'request', '-i', 'ReqURL');
    return log.match(new RegExp(`ReqURL +${url}$`, 'gm'))?.length ?? 0;
  };
  for (const [url, count] of [
    ['/stalls', rounds * all.length],
    ['/after', all.length],
  ] as const) {
    await until(`all of ${url}`, async () => (await ends(url)) >= count);
    expect(await ends(url)).toBe(count);
  }
  for (const connection of all) connection.close();
});
