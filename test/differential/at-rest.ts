// Waits for the end of what a product does after a response: the end of its fetch, and the counters.

import { delay, until } from '../harness/processes.ts';
import type { RunningProxy } from '../harness/proxy.ts';

/** Waits until ours has had turns of its event loop after a response, in which the fetch ends and its connection is given
 * back: whether the next request finds a whole object, and the next fetch that connection, is logged and counted. */
export async function worked(proxy: RunningProxy): Promise<void> {
  await delay(10);
  if (proxy.product === 'proxyd') for (let i = 0; i < 2; i++) await proxy.adm('ban.list');
}

/** The counters, once nothing moves them any more but time. */
export async function countersAtRest(proxy: RunningProxy): Promise<Record<string, number>> {
  let last = '';
  let counters: Record<string, number> = {};
  await until('counters at rest', async () => {
    // Varnish's threads publish their counters when idle; ours are published ten times per second, and reads
    // include everything counted before.
    await delay(proxy.product === 'varnish' ? 1100 : 20);
    counters = await proxy.counters();
    const now = ['client_req', 'backend_recycle', 'sess_closed', 's_fetch']
      .map((name) => counters[`MAIN.${name}`])
      .join();
    const same = now === last;
    last = now;
    return same;
  });
  return counters;
}
