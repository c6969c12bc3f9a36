// Records that the cases of basic.test.ts do not provoke: how broken messages are logged, the way through a program,
// what lists of addresses say, the ends of objects, and what belongs to no transaction. Both daemons get the same
// requests; of each transaction the chosen records must be the same.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\n';

/** The origin's bytes for each path before it hangs up. */
const ANSWERS: Readonly<Record<string, string>> = {
  '/chunk/cut': `${CHUNKED}3\r\nab`,
  '/chunk/tail-cut': `${CHUNKED}3\r\nabc`,
  '/chunk/head-cut': `${CHUNKED}3\r\nabc\r\n`,
  '/chunk/letters': `${CHUNKED}xyz\r\n`,
  '/chunk/no-end-of-line': `${CHUNKED}3x\r\nabc`,
  '/chunk/too-long': `${CHUNKED}${'f'.repeat(23)}\r\n`,
  '/chunk/surplus': `${CHUNKED}3\r\nabcd\r\n0\r\n\r\n`,
  '/length/letters': `${OK}Content-Length: x\r\n\r\nabc`,
  '/length/with-coding': `${OK}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
  '/length/cut': `${OK}Content-Length: 9\r\n\r\nabc`,
  '/length/none-allowed': 'HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc',
  '/coding/unknown': `${OK}Transfer-Encoding: gzip\r\n\r\nabc`,
  '/head/status': 'HTTP/1.1 2x0 OK\r\n\r\n',
  '/head/name': `${OK}Foo bar\r\nContent-Length: 3\r\n\r\nabc`,
  '/head/no-name': `${OK}: bar\r\nContent-Length: 3\r\n\r\nabc`,
  '/head/control': `${OK}Foo: b\x01r\r\nContent-Length: 3\r\n\r\nabc`,
  '/head/no-http': 'abc\r\n\r\n',
  '/ok': `${OK}Connection: close\r\nContent-Length: 3\r\nETag: "e"\r\n\r\nabc`,
  '/short': `${OK}Connection: close\r\nContent-Length: 3\r\nAge: 5\r\n\r\nabc`,
};
const PATHS = Object.keys(ANSWERS);
const RANGES = ['bytes=9-', 'bytes=2-1', 'bytes=x', 'bytes=-', 'bytes=0-1,2-2', 'bytes=-0'];
const SAID =
  /^(FetchError|Error|HttpGarbage|BogoHeader|BerespStatus|BerespReason|BackendClose|TTL|VCL_acl|VCL_Error|VCL_Log|Debug) /;

/** Lines and columns of this text are compared. */
const PROGRAM = `
import std;
acl masked +log -pedantic { "127.0.0.1"/24; }
acl negated +log { ! "127.0.0.1"; "127.0.0.0"/8; }
sub vcl_recv {
	if (client.ip ~ masked) { std.log("masked"); }
	elsif (client.ip ~ negated) {
		std.log("negated");
	}
	if (client.ip ~ negated) { std.log("not negated"); } else { std.log("negated"); }
	call aside;
	if (req.method == "PURGE") { return (purge); }
	return (hash);
}
sub vcl_backend_response {
	set beresp.do_stream = false;
	set beresp.grace = 0s;
	if (bereq.url == "/short") { set beresp.ttl = -1s; set beresp.ttl = -9s; set beresp.ttl = 0.4s; return (deliver); }
}`;

interface Records {
  /** Chosen records of the fetch, by path. */
  fetches: Map<string, string[]>;
  /** Way through vcl_recv, and the acl records, of the first request for /ok. */
  way: string[];
  ranges: string[];
  /** Kinds of ExpKill records about the object that was stored and purged. */
  ends: string[];
  /** Records about commands, from the start. */
  commands: string[];
}

const recorded = recording('log-events');
const PARTS = ['way', 'ranges', 'ends', 'commands'] as const;
/** The name of a fetch among the answers. */
const fetchOf = (path: string): string => `fetch of ${path}`;

describe('records of rare events', () => {
  const box = new Sandbox('log-events');
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;
  let origin: Origin;

  const play = async (product: Product): Promise<Answers<string[]>> => {
    const aside = box.path('aside.vcl');
    writeFileSync(aside, 'sub aside { set req.http.aside = "1";\n  { unset req.http.aside; } }\n');
    const program = `vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "${origin.port}"; }\ninclude "${aside}";${PROGRAM}`;
    const proxy = await startProxy(box, {
      product,
      program,
      params: { vsl_mask: '+ExpKill,+VCL_trace,+Debug', max_retries: '0', ping_interval: '1' },
    });
    try {
      const { fetches, ...parts } = await record(proxy);
      return new Map([
        ...PATHS.map((path) => [fetchOf(path), (fetches.get(path) ?? []).map(hideTimes)] as const),
        ...PARTS.map((part) => [part, parts[part]] as const),
      ]);
    } finally {
      await proxy.stop();
    }
  };

  const record = async (proxy: RunningProxy): Promise<Records> => {
    for (const path of PATHS) await fetchOnce(proxy.port, path).catch(() => null);
    for (const range of RANGES) await fetchOnce(proxy.port, '/ok', { fields: { Range: range } });
    await fetchOnce(proxy.port, '/ok', { method: 'PURGE' });
    let raw: { vxid: number; tag: string; text: string }[] = [];
    const idOf = (tag: string, path: string): number =>
      raw.find((r) => r.tag === tag && r.text === path)?.vxid ?? -1;
    const expired = (path: string): boolean => {
      const text = `EXP_Expired x=${idOf('BereqURL', path)} t=-0`;
      return raw.some((r) => r.tag === 'ExpKill' && r.text === text);
    };
    const refused = (): string[] =>
      raw.flatMap((r) => (r.tag === 'Debug' && r.text.includes('RANGE_FAIL') ? [r.text] : [])).sort();
    await until('both objects have gone', async () => {
      raw = parse(await proxy.log('-g', 'raw'));
      const pinged = raw.some((r) => r.tag === 'CLI' && r.text.includes('ping'));
      return expired('/ok') && expired('/short') && pinged && refused().length === RANGES.length;
    });
    const of = (vxid: number, tags: RegExp): string[] =>
      raw.flatMap((r) => (r.vxid === vxid && tags.test(`${r.tag} `) ? [`${r.tag} ${r.text}`] : []));
    const fetches = new Map(PATHS.map((p) => [p, of(idOf('BereqURL', p), SAID)]));
    const first = idOf('ReqURL', '/ok');
    const way = of(first, /^(VCL_trace|VCL_acl|VCL_Log) /).map((r) => r.replace(/^(VCL_trace) \S+/, '$1'));
    // The purged one is the one whose expiry was changed.
    const ends = raw.flatMap((r) => (r.tag === 'ExpKill' ? [r.text] : []));
    const purged = / p=\S+/.exec(ends.find((text) => text.startsWith('EXP_Rearm')) ?? '')?.[0] ?? 'none';
    const kinds = ends.flatMap((text) => (text.includes(`${purged} `) ? [text.split(' ')[0] as string] : []));
    return {
      fetches,
      // Only records of the program itself: the builtin program has other line numbers here.
      way: way.filter((r) => !/^VCL_trace \d+ [2-9]\./.test(r)),
      ranges: refused(),
      ends: [...new Set(kinds)].sort(),
      commands: raw.flatMap((r) => (r.tag === 'CLI' ? [commandShape(r.text)] : [])).slice(0, 6),
    };
  };

  beforeAll(async () => {
    origin = await Origin.start();
    for (const [path, answer] of Object.entries(ANSWERS))
      origin.on(path, [{ send: Buffer.from(answer, 'latin1') }, { close: true }]);
    const inputs = inputsOf(PROGRAM + RANGES.join(' '), [...PATHS.map(fetchOf), ...PARTS]);
    for (const path of PATHS) inputs.set(fetchOf(path), PROGRAM + ANSWERS[path]);
    [reference, ours] = await recorded.both(inputs, play);
  });

  afterAll(async () => {
    await origin.close();
    await box.dispose();
  });

  it.each(PATHS)('of a fetch of %s', (path) => {
    const field = reference.get(fetchOf(path));
    expect(field.length).toBeGreaterThan(1);
    const own = ours.get(fetchOf(path)) ?? [];
    // Which rule was broken, ours alone says in words, once for each try.
    const words = (line: string): boolean => line.startsWith('Error response refused: ');
    expect(own.filter((line) => !words(line))).toEqual(field);
    const refused = field.some((line) =>
      /^(HttpGarbage|Error Body cannot|FetchError chunked (header|tail))/.test(line),
    );
    expect(own.some(words)).toBe(refused);
  });

  it.each(PARTS)('the %s', (what) => {
    const field = reference.get(what);
    expect(field.length).toBeGreaterThan(1);
    expect(ours.get(what)).toEqual(field);
  });
});

function parse(text: string): { vxid: number; tag: string; text: string }[] {
  return text.split('\n').flatMap((line) => {
    const m = /^ *(\d+) (\S+) +[cb-] (.*)$/.exec(line);
    return m === null ? [] : [{ vxid: Number(m[1]), tag: m[2] as string, text: m[3] as string }];
  });
}

function hideTimes(line: string): string {
  return line.replace(/\b1\d{9}\b/g, 'TIME').replace(/^(BackendClose) \d+/, '$1 FD');
}

/** The word of a command and the kind of its answer: names of files and sizes are each daemon's own. */
function commandShape(text: string): string {
  return text.split(' ').slice(0, 2).join(' ');
}
