// Conversions, arithmetic, comparisons and assignments at run time: both daemons run the same program, in which
// each line of vcl-values.txt is one request, and show the result in a header. Failures are compared by the status
// they give and by their VCL_Error records.
import { mkdtempSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClientConnection, requestText } from '../harness/http-client.ts';
import { Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const LINES = readFileSync(new URL('vcl-values.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((l) => l !== '' && !l.startsWith('# '));

/** A line that stands there again has its number. */
const KEYS = LINES.map((line, i) => (LINES.indexOf(line) < i ? `${i}: ${line}` : line));

function program(): string {
  const cases = LINES.map((line, i) => {
    const body = line.startsWith('!!') && line.includes(';') ? line.slice(2) : `set req.http.v = ${line};`;
    return `  if (req.url == "/${i}") { ${body} set req.http.done = "1"; return (synth(200)); }\n`;
  });
  return `vcl 4.1;
import std;
probe pr { .interval = 1000s; }
backend d { .host = "127.0.0.1"; .port = "1"; .probe = pr; }
acl ac { "1.2.3.4"; }
sub su { }
sub use { if (client.ip ~ ac) { call su; } }
sub vcl_pass { call use; }
sub vcl_recv {
${cases.join('')}  return (synth(404));
}
sub vcl_synth {
  if (req.http.v) { set resp.http.v = "[" + req.http.v + "]"; }
  set resp.http.done = req.http.done;
  set resp.body = "";
  return (deliver);
}
`;
}

/** By line: status, reason, the value, whether the statements came to their end, and the failures logged. */
async function play(box: Sandbox, product: Product): Promise<Answers<string>> {
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const proxy = await startProxy(box, { product, program: program(), dir, args: ['-i', 'id'] });
  try {
    const seen: string[] = [];
    const fields = { 'X-A': 'aValue', Empty: '', Cookie: 'b=2; a=1', Num: '42' };
    for (let i = 0; i < LINES.length; i++) {
      const connection = await ClientConnection.open(proxy.port);
      connection.send(requestText(`/${i}`, { host: 'Example.com', fields }));
      const r = await connection.response('GET').catch((cause: unknown) => {
        throw new Error(`${product} gave no response to: ${LINES[i]}`, { cause });
      });
      connection.close();
      const field = (name: string): string => r.fields.find(([n]) => n.toLowerCase() === name)?.[1] ?? '-';
      seen.push(`${r.status} ${r.reason} ${field('v')} ${field('done')}`);
    }
    await proxy.requestsLogged(LINES.length);
    let at = -1;
    for (const line of (await proxy.log('-g', 'request', '-i', 'ReqURL,VCL_Error')).split('\n')) {
      const record = /^-+\s+(\w+)\s+(.*)$/.exec(line);
      if (record?.[1] === 'ReqURL' && at < 0) at = Number(record[2]?.trim().slice(1));
      if (line.startsWith('*')) at = -1;
      if (record?.[1] === 'VCL_Error' && at >= 0) seen[at] += ` | ${record[2]?.trim()}`;
    }
    return new Map(KEYS.map((key, i) => [key, seen[i] ?? '']));
  } finally {
    if (proxy.daemon.running) await proxy.stop().catch(() => {});
  }
}

const answers = recording('vcl-values');

describe('values of a program', () => {
  const box = new Sandbox('proxyd-values');
  let reference: Reference<string>;
  let ours: Answers<string>;

  beforeAll(async () => {
    [reference, ours] = await answers.both(inputsOf('', KEYS), (product) => play(box, product));
  });
  afterAll(() => box.dispose());

  it.each(KEYS)('%s', (key) => {
    expect(ours.get(key)).toBe(reference.get(key));
  });
});
