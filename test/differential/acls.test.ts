// The notations of acl entries, compared with Varnish: one program has all the lists, one request tests a list
// against all addresses, and verdicts and match records are compared.
import { mkdtempSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Sandbox } from '../harness/processes.ts';
import { type Product, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

/** Flags before the brace, entries inside it. */
const LISTS = [
  '{ "10"; }',
  '{ "192.168"; }',
  '{ "192.168"/16; }',
  '{ "192.168"/24; }',
  '{ "192.168"/15; }',
  '{ "192.168"/32; }',
  '{ "192.168/16"; }',
  '{ "1.2.3"; }',
  '{ "1.2.3.0/24"; }',
  '{ "1.2.3.0"/024; }',
  '{ "127.1"; }',
  '{ "127.0.1"; }',
  '{ "010"; "010.1"; }',
  '{ "0.0.0.010"; "08"; }',
  '{ "0"; }',
  '{ "0"/0; }',
  '{ "0/0"; }',
  '{ " 10"; }',
  '{ "+10"; }',
  '{ "256"; "0x7f.1"; "2130706433"; }',
  '{ ("192.168"); ! "192.168.5"; "192.168.5.6"; }',
  '{ ! "192.168"; "192.168.5.6"; }',
  '{ "10"; "10"; "10.1"; ! ("10.1.2"); }',
  '-pedantic { "192.168"/12; }',
  '-pedantic { "192.168/12"; }',
  '-pedantic { "1.2.3.4/24"; "1.2.3.4"; }',
  '-pedantic { "10"/4; ! "8.1.2.3"/8; }',
  '{ "2001:db8::/32"; "fe80::"/10; "::1"; }',
  '{ "::ffff:1.2.3.4"; "::1.2.3.4"/128; "fe80::1%lo"; }',
  '{ "::"/0; ! "0.0.0.0"/0; }',
  '{ "localhost"; "127.0.0.1"; ("no-such-name.invalid"); }',
  '-pedantic { "localhost"/8; }',
  '-pedantic { "localhost/8"; }',
  '{ }',
];

const ADDRESSES = [
  ...['10.0.0.0', '10.1.2.3', '0.0.0.10', '0.0.0.8', '8.0.0.0', '11.0.0.1', '0.0.0.0', '200.1.1.1'],
  ...['192.168.0.168', '192.0.0.168', '192.168.5.6', '192.168.0.0', '192.160.0.1', '192.169.0.1'],
  ...['1.2.3.4', '1.2.3.0', '1.2.0.3', '127.0.0.1', '127.1.0.0', '127.1.2.3', '127.0.1.5', '0.0.1.0'],
  ...['::1', '::2', '::ffff:1.2.3.4', 'fe80::1', 'fe81::5', '2001:db8::5', '::1.2.3.4', '::'],
];

function program(): string {
  const acls = LISTS.map((list, i) => `acl a${i} ${list.replace('{', '+log {')}\n`);
  const asked = LISTS.map((_, i) => {
    const each = ADDRESSES.map(
      (a) =>
        `if (std.ip("${a}", "9.9.9.9") ~ a${i}) { set req.http.v = req.http.v + " ${a}"; }
         else { set req.http.v = req.http.v + " -"; }\n`,
    );
    return `if (req.url == "/${i}") {\n${each.join('')} return (synth(200)); }\n`;
  });
  return `vcl 4.1;\nimport std;\nbackend b none;\n${acls.join('')}
sub vcl_recv { ${asked.join('')} }
sub vcl_synth { set resp.http.v = req.http.v; return (deliver); }\n`;
}

/** By list: the addresses on it, then its records. */
async function play(box: Sandbox, product: Product): Promise<Answers<string>> {
  const dir = mkdtempSync(`${box.dir}/${product}-`);
  const proxy = await startProxy(box, { product, program: program(), dir });
  try {
    const seen: string[] = [];
    for (const i of LISTS.keys()) {
      const r = await fetchOnce(proxy.port, `/${i}`);
      seen.push(`${r.status}${r.fields.find(([n]) => n.toLowerCase() === 'v')?.[1] ?? ''}\n`);
    }
    await proxy.requestsLogged(LISTS.length);
    let at = -1;
    for (const line of (await proxy.log('-g', 'raw', '-i', 'ReqURL,VCL_acl')).split('\n')) {
      const [, tag, data] = /^\s*\d+ (\S+)\s+c (.*)$/.exec(line) ?? [];
      if (tag === 'ReqURL') at = Number(data?.slice(1));
      if (tag === 'VCL_acl') seen[at] += `${data}\n`;
    }
    return new Map(LISTS.map((list, i) => [list, seen[i] ?? '']));
  } finally {
    await proxy.stop().catch(() => {});
  }
}

const answers = recording('acls');

describe('an acl', () => {
  const box = new Sandbox('proxyd-acls');
  let reference: Reference<string>;
  let ours: Answers<string>;

  beforeAll(async () => {
    const inputs = inputsOf(ADDRESSES.join(' '), LISTS);
    [reference, ours] = await answers.both(inputs, (product) => play(box, product));
  });
  afterAll(() => box.dispose());

  it.each(LISTS)('%s', (list) => {
    expect(reference.get(list)).toContain('200');
    expect(ours.get(list)).toBe(reference.get(list));
  });
});
