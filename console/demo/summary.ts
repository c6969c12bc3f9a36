// The demo without a terminal: one plain line per second from the proxy's counters.

import type { Client } from '../client/client.ts';
import { HitRate } from '../model/counters/hit-rate.ts';
import { bytes, percent, rate } from '../model/ui/numbers.ts';

/** Prints a line per sample; ends with the connection. */
export function printSummaries(client: Client, print: (line: string) => void): void {
  const hits = new HitRate();
  let names: string[] = [];
  let before: Map<string, bigint> | null = null;
  let at0 = 0;
  let start = 0;
  client.stat(
    { interval: 1 },
    {
      counters: (info) => {
        names = info.map((i) => i.name);
      },
      values: (at, values) => {
        const now = new Map(names.map((name, i) => [name, BigInt(values[i] ?? '0')]));
        const value = (name: string): number => Number(now.get(`MAIN.${name}`) ?? 0n);
        hits.sample(
          now.get('MAIN.cache_hit') ?? 0n,
          now.get('MAIN.cache_miss') ?? 0n,
          at0 === 0 ? 0 : at - at0,
        );
        if (before === null) start = at;
        else {
          const seconds = Math.max(0.001, at - at0);
          const per = (name: string): number =>
            (value(name) - Number(before?.get(`MAIN.${name}`) ?? 0n)) / seconds;
          print(
            `${String(Math.round(at - start)).padStart(4)} s  ${rate(per('client_req')).padStart(6)} requests/s  ` +
              `hit rate ${percent(hits.window(10).rate).padStart(6)}  ${value('client_req')} requests  ` +
              `${value('n_object')} objects  ${bytes(per('s_resp_bodybytes'))}/s`,
          );
        }
        before = now;
        at0 = at;
      },
    },
  );
}
