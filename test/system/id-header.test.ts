// The header of transaction ids under a name of the operator's choice: everywhere that the daemon writes or takes it
// away, and when the name changes while objects are in the cache.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-id-header');
let origin: Origin;
let proxy: RunningProxy;

const PROGRAM = `
sub vcl_recv {
  if (req.url ~ "^/synth") { return (synth(700)); }
  if (req.url ~ "^/pipe") { return (pipe); }
}
sub vcl_synth { if (resp.status == 700) { set resp.http.seen = resp.http.X-Varnish; return (deliver); } }
sub vcl_backend_response { if (bereq.url ~ "^/retry" && bereq.retries == 0) { return (retry); } }
`;

beforeAll(async () => {
  origin = await Origin.start();
  const fresh = { 'Cache-Control': 'max-age=1000' };
  origin.on('*', respond('200 OK', { ...fresh, 'X-Varnish': 'origin', 'X-Other': 'origin' }, 'abc'));
  for (const url of ['/hot', '/cold'])
    origin.on(url, respond('200 OK', { ...fresh, 'X-Other': 'origin' }, 'abc'));
  origin.on('/plain', respond('200 OK', fresh, 'abc'));
  proxy = await startProxy(box, {
    program: backendProgram(origin.port, PROGRAM),
    params: { id_header: 'X-Varnish' },
  });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** The values of a header in a head, in their order. */
function values(head: string, name: string): string[] {
  const lines = head.split('\r\n').filter((l) => l.toLowerCase().startsWith(`${name.toLowerCase()}: `));
  return lines.map((l) => l.slice(name.length + 2));
}

async function headOf(url: string, method = 'GET'): Promise<string> {
  const response = await fetchOnce(proxy.port, url, { method });
  return response.head;
}

const MISS = [expect.stringMatching(/^\d+$/)];
const HIT = [expect.stringMatching(/^\d+ \d+$/)];

describe('id_header', () => {
  it('names the header of a miss, and of hits on objects with a field of that name', async () => {
    expect(values(await headOf('/a'), 'X-Varnish')).toEqual(MISS);
    // From the stored bytes at first, then from a head that is ready.
    for (let i = 0; i < 6; i++) expect(values(await headOf('/a'), 'X-Varnish')).toEqual(HIT);
    expect(values(await headOf('/a', 'HEAD'), 'X-Varnish')).toEqual(HIT);
    expect(await headOf('/a')).not.toMatch(/X-Proxy-Id/i);
  });

  it('names it toward the origin, also in a retry and in a pipe', async () => {
    await headOf('/b');
    expect(values(origin.seen('/b')[0]?.head ?? '', 'X-Varnish')).toEqual(MISS);
    await headOf('/retry');
    const ids = origin.seen('/retry').map((r) => values(r.head, 'X-Varnish'));
    expect(ids).toEqual([MISS, MISS]);
    expect(ids[0]).not.toEqual(ids[1]);
    await headOf('/pipe');
    expect(values(origin.seen('/pipe')[0]?.head ?? '', 'X-Varnish')).toEqual(MISS);
    for (const { head } of origin.requests) expect(head).not.toMatch(/X-Proxy-Id/i);
  });

  it('names it in pages that are made here, where programs see it', async () => {
    const head = await headOf('/synth');
    expect(values(head, 'X-Varnish')).toEqual(MISS);
    expect(values(head, 'seen')).toEqual(values(head, 'X-Varnish'));
  });

  it('changes at once, also for objects that came with a field of the new name', async () => {
    // One that is hot, one that is not.
    for (let i = 0; i < 6; i++) await headOf('/hot');
    await headOf('/cold');
    expect(await proxy.adm('param.set', 'id_header', 'X-Other')).toMatchObject({ code: 0 });
    for (const url of ['/hot', '/cold', '/cold', '/cold', '/cold', '/hot']) {
      expect(values(await headOf(url), 'X-Other'), url).toEqual(HIT);
    }
    expect(values(await headOf('/new'), 'X-Other')).toEqual(MISS);
    for (let i = 0; i < 4; i++) expect(values(await headOf('/new'), 'X-Other')).toEqual(HIT);
    // The field of the old name is the origin's.
    expect(values(await headOf('/new'), 'X-Varnish')).toEqual(['origin']);
    expect(await proxy.adm('param.reset', 'id_header')).toMatchObject({ code: 0 });
    expect(values(await headOf('/new'), 'X-Proxy-Id')).toEqual(HIT);
    expect(values(await headOf('/new'), 'X-Other')).toEqual(['origin']);
  });

  it('may have a name of 126 characters', async () => {
    const name = `X-${'n'.repeat(124)}`;
    expect(await proxy.adm('param.set', 'id_header', name)).toMatchObject({ code: 0 });
    expect(values(await headOf('/plain'), name)).toEqual(MISS);
    for (let i = 0; i < 6; i++) expect(await headOf('/plain')).toMatch(/n: \d+ \d+\r\nAge: \d+\r\nVia: /);
  });

  it('is refused the names of headers that mean something, and names that are none', async () => {
    for (const name of ['Content-Length', 'age', 'X Id', '""', `X-${'n'.repeat(125)}`]) {
      const { code, stderr, stdout } = await proxy.adm('param.set', 'id_header', name);
      expect(code, name).not.toBe(0);
      expect(`${stderr}${stdout}`, name).toMatch(
        /choose another name|Not the name of a header|Too many|usage/i,
      );
    }
  });
});
