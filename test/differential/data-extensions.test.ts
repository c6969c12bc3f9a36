// The extensions blob, bodyaccess and vsthrottle through Varnish's daemon and through ours: values, failures and
// records. Those of Varnish's module collection are compared where it is installed.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { exchange } from '../harness/raw-exchange.ts';
import { type Answers, type Reference, recording } from './recording.ts';
import { varnishKnows } from './varnish-modules.ts';

const box = new Sandbox('proxyd-data-ext');
afterAll(() => box.dispose());

const collection = varnishKnows('bodyaccess', 'vsthrottle');

interface Sent {
  /** Part of the URL after the number of the exchange. */
  url: string;
  fields?: string;
  body?: string;
  chunked?: boolean;
}

function requestBytes(sent: Sent, n: number): Buffer {
  const { body } = sent;
  let head = `${body === undefined ? 'GET' : 'POST'} /${n}${sent.url} HTTP/1.1\r\nHost: a\r\n`;
  head += `Connection: close\r\n${sent.fields ?? ''}`;
  if (body === undefined) return Buffer.from(`${head}\r\n`, 'latin1');
  if (sent.chunked !== true) {
    return Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, 'latin1');
  }
  const half = body.length >> 1;
  const chunks = [body.slice(0, half), body.slice(half), '']
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('');
  return Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${chunks}`, 'latin1');
}

/** Records of these tags by the number in the request's URL. */
async function records(proxy: RunningProxy): Promise<Map<number, string[]>> {
  const byNumber = new Map<number, string[]>();
  let own: string[] = [];
  const tags = 'ReqURL,VCL_Error,Debug,Hash';
  for (const line of (await proxy.log('-g', 'request', '-i', tags)).split('\n')) {
    const [, tag, text = ''] = /^-+ +(\S+) +(.*)$/.exec(line) ?? [];
    if (tag === 'ReqURL') {
      own = [];
      byNumber.set(Number(/\d+/.exec(text)?.[0]), own);
    } else if (tag !== undefined && !/sockopt|RES_MODE|XXX REF/.test(text)) own.push(`${tag} ${text}`);
  }
  return byNumber;
}

/** Status line, fields r and s, and records of each exchange. */
async function play(product: Product, program: string, all: readonly Sent[]): Promise<string[]> {
  const params = { vsl_mask: '+Hash,+Debug', vsl_space: '40M' };
  // Varnish's compiler may take longer than a start is waited for.
  const proxy = await startProxy(box, { product, program, params, mode: 'd' });
  try {
    await until('the program compiled', async () => (await proxy.adm('ping')).code === 0, 60_000);
    await proxy.adm('start');
    await proxy.serving();
    const seen: string[] = [];
    for (const [n, sent] of all.entries()) {
      const output = await exchange({ port: proxy.port }, requestBytes(sent, n));
      const lines = output.split('\r\n').filter((l, i) => i === 0 || /^[rs]: /.test(l));
      seen.push(lines.join(' | '));
    }
    await proxy.requestsLogged(seen.length);
    const logged = await records(proxy);
    return seen.map((s, n) => [s, ...(logged.get(n) ?? [])].join('; '));
  } finally {
    await proxy.stop();
  }
}

const SYNTH =
  'sub vcl_synth { set resp.http.r = req.http.r; set resp.http.s = req.http.s; set resp.body = ""; return (deliver); }';

/** A comparison of one program: what it is asked, and a test that both answer alike. */
function compare(name: string, title: string, program: string, all: readonly Sent[]): void {
  const recorded = recording(name);
  const keys = all.map((sent, n) => `${n} ${sent.url}`);
  describe(title, () => {
    let reference: Reference<string>;
    let ours: Answers<string>;
    beforeAll(async () => {
      const inputs = new Map(all.map((sent, n) => [keys[n] as string, program + JSON.stringify(sent)]));
      [reference, ours] = await recorded.both(inputs, async (product) => {
        const seen = await play(product, program, all);
        return new Map(keys.map((key, n) => [key, seen[n] ?? '']));
      });
    });

    it('is the same in both', () => {
      const theirs = reference.values();
      // Silence on both sides would be no agreement.
      expect(theirs.filter((line) => line.startsWith('HTTP/1.1 ')).length).toBeGreaterThan(all.length * 0.8);
      const differences = keys.flatMap((key, n) =>
        ours.get(key) === theirs[n] ? [] : [{ sent: all[n], reference: theirs[n], ours: ours.get(key) }],
      );
      expect(differences).toEqual([]);
    });
  });
}

describe('beside Varnish', () => {
  {
    const cases = readFileSync(new URL('blob-cases.txt', import.meta.url), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const call = (name: string): string =>
      cases.map((c, n) => `if (req.url == "/${n}") { set ${name} = ${c}; }`).join('\n');
    const program = `vcl 4.1; import blob; backend default none;
sub vcl_init {
  new b1 = blob.blob(encoded="foo"); new b2 = blob.blob(BASE64, "Zm9v");
  new e1 = blob.blob(encoded=""); new e2 = blob.blob(HEX, ""); new hx = blob.blob(HEX, "00fF2fa");
}
sub vcl_recv {
${call('req.http.r')}
  return (synth(200));
}
# What fails in vcl_recv comes here too, and fails here again.
${SYNTH.replace('set resp.body', `if (resp.status != 200) {\n${call('resp.http.s')}\n} set resp.body`)}`;
    const fields = 'a: abc\r\nhi: \xe9\xff\r\n';
    it('blob has many cases', () => {
      expect(cases.length).toBeGreaterThan(130);
    });
    compare(
      'blob',
      'what blob gives, fails at and logs',
      program,
      cases.map(() => ({ url: '', fields })),
    );
  }

  if (collection) {
    const program = `vcl 4.1; import bodyaccess; import std; backend default none;
sub vcl_recv {
  if (req.http.c) { set req.http.s = std.cache_req_body(std.bytes(req.http.c, 1KB)); }
  if (req.url ~ "len") { set req.http.r = bodyaccess.len_req_body(); }
  if (req.url ~ "match") { set req.http.r = bodyaccess.rematch_req_body("fo+\\s"); }
  if (req.url ~ "log1") { bodyaccess.log_req_body(); }
  if (req.url ~ "log2") { bodyaccess.log_req_body("PREFIX:", 3); }
  if (req.url ~ "log3") { bodyaccess.log_req_body(length=1000); }
  if (req.url ~ "hash-in-recv") { bodyaccess.hash_req_body(); }
  if (req.url ~ "hash") { return (hash); }
  return (synth(200));
}
sub vcl_hash { if (req.url ~ "hash") { bodyaccess.hash_req_body(); } hash_data("x"); return (lookup); }
sub vcl_backend_error { set beresp.http.r = "none"; return (deliver); }
${SYNTH.replace('set resp.http.s', 'if (req.url ~ "synth") { set req.http.s = bodyaccess.len_req_body(); } set resp.http.s')}`;
    const cached = 'c: 100KB\r\n';
    const bodies = ['', 'foo bar', 'a fo', 'a\nb\0c\xe9d', 'x'.repeat(700), `${'q'.repeat(70_000)}foo x`];
    const all: Sent[] = [];
    for (const url of ['len', 'match', 'log1', 'log2', 'log3', 'hash', 'hash-in-recv', 'synth-len']) {
      all.push({ url, fields: '' }, { url, body: 'foo bar' });
      for (const body of bodies) {
        // Varnish hashes a large body piece by piece, as it happened to arrive.
        if (url.startsWith('hash') && body.length > 1000) continue;
        // Seventy thousand bytes are hundreds of records.
        if (url.startsWith('log') && body.length > 1000) continue;
        all.push({ url, body, fields: cached });
      }
      all.push({ url, body: 'foo bar', fields: cached, chunked: true });
    }
    compare('bodyaccess', 'what bodyaccess reads, hashes and logs', program, all);
  }

  if (collection) {
    // Long periods: no token is returned while the test runs. Blocks are rounded to hundreds of seconds: the elapsed
    // part differs between the two.
    const rule =
      'req.http.k, std.integer(req.http.l, 3), std.duration(req.http.p, 10000s), std.duration(req.http.b, 0s)';
    const program = `vcl 4.1; import std; import vsthrottle; backend default none;
sub vcl_recv {
  if (req.url ~ "deny") { set req.http.r = vsthrottle.is_denied(${rule}); }
  if (req.url ~ "return") { vsthrottle.return_token(${rule}); }
  if (req.url ~ "remaining") { set req.http.s = vsthrottle.remaining(${rule}); }
  if (req.url ~ "blocked") { set req.http.s = std.integer(duration=vsthrottle.blocked(${rule}) * 0.01 + 0.5s); }
  return (synth(200));
}
${SYNTH}`;
    const keys = [
      'k: a\r\n',
      'k: a\r\nb: 1000s\r\n',
      'k: a\r\nl: 5\r\n',
      `k: ${'x'.repeat(500)}\r\n`,
      'k:\r\n',
      '',
    ];
    keys.push('k: z\r\nl: 0\r\n', 'k: y\r\nl: 1\r\np: 5000s\r\nb: 700s\r\n');
    const steps = [
      'remaining',
      'blocked',
      ...new Array(5).fill('deny-remaining'),
      'deny-blocked',
      'return-remaining',
    ];
    steps.push('return-remaining', 'deny-remaining', ...new Array(6).fill('return-remaining'), 'blocked');
    const all = steps.flatMap((url) => keys.map((fields) => ({ url, fields })));
    compare('vsthrottle', 'what vsthrottle denies, blocks and gives back', program, all);
  }
});
