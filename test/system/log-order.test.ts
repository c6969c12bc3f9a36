// A client that asks one request after another finds them in the log in that order, whichever threads serve them: an answer
// is with the client before the thread that wrote it has logged its end.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { ClientConnection, fetchOnce, requestText } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-log-order');
const REQUESTS = 300;
const PROGRAM = (port: number): string => `vcl 4.1;
backend b { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  if (req.url ~ "^/synth") { return (synth(200)); }
  if (req.url ~ "^/pass") { return (pass); }
}
sub vcl_hash { if (req.url ~ "^/hit") { hash_data("hit"); return (lookup); } }`;

let origin: Origin;
let proxy: RunningProxy | undefined;
afterEach(async () => {
  await proxy?.stop();
  await origin.close();
});
afterAll(() => box.dispose());

/** URLs of requests, in the order of their ends in the log. */
async function logged(grouping: string, last: string): Promise<string[]> {
  return until(`the log has ${last}`, async () => {
    const text = await (proxy as RunningProxy).log('-c', '-g', grouping, '-i', 'ReqURL');
    const urls = [...text.matchAll(/ReqURL\s+(\/\S+)/g)].map((m) => m[1] as string);
    return urls.includes(last) ? urls : null;
  });
}

describe.each([2, 4])('%i threads', (threads) => {
  it('log one client in order', async () => {
    origin = await Origin.start();
    origin.on('*', () => respond('200 OK', { 'Cache-Control': 'max-age=60' }, 'x'.repeat(1000)));
    proxy = await startProxy(box, {
      program: PROGRAM(origin.port),
      params: { worker_threads: String(threads) },
    });
    const asked: string[] = [];
    for (const kind of ['synth', 'hit', 'pass', 'miss']) {
      for (let i = 0; i < REQUESTS; i++) {
        const url = `/${kind}/${i}`;
        asked.push(url);
        await fetchOnce(proxy.port, url);
      }
    }
    const kept = await ClientConnection.open(proxy.port);
    for (let i = 0; i < REQUESTS; i++) {
      asked.push(`/synth/kept/${i}`);
      kept.send(requestText(asked.at(-1) as string));
      await kept.response();
    }
    kept.close();
    const last = asked.at(-1) as string;
    expect(await logged('vxid', last)).toEqual(asked);
    expect(await logged('request', last)).toEqual(asked);
  });
});
