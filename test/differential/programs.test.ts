// Programs and labels at run time, beside Varnish's daemon: every command in good and in odd order, before and
// after `start`, with traffic between; answers, exit codes and the log's records about programs must be the same.
// Counts of busy transactions are not compared: Varnish counts what its threads remember, too.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin } from '../harness/origin.ts';
import { delay, PATIENCE, Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const walked = recording('programs');
const travelled = recording('program-labels');
const cooled = recording('program-temperatures');

const NONE = 'vcl 4.1; backend b none;';
const inline = (name: string, text: string, state = ''): string =>
  `vcl.inline ${name} "${text.replaceAll('"', '\\"')}" ${state}`.trim();
/** A program that switches to labels. */
const to = (...labels: string[]): string =>
  `${NONE} sub vcl_recv { ${labels
    .map((l, i) => `if (req.url ~ "^/${i}") { return (vcl(${l})); }`)
    .join(' ')} return (vcl(${labels.at(-1)})); }`;

/** Without a worker, then with one, then without again. FILE is a good program, BAD one with an error. */
const STEPS = [
  'vcl.list',
  'vcl.list -j',
  'vcl.deps',
  'vcl.deps -j',
  'vcl.show',
  'start',
  'vcl.state nope hot',
  'vcl.use nope',
  'vcl.state nope cold',
  'vcl.discard nope',
  'vcl.label nope nope',
  'vcl.load a FILE',
  'vcl.load a FILE',
  'vcl.load hot FILE hot',
  'vcl.load a.b FILE',
  'vcl.load -a FILE',
  'vcl.load a%b FILE',
  'vcl.load gone /no/such/file.vcl',
  'vcl.load 9gone /no/such/file.vcl',
  'vcl.load gone no-such.vcl hot',
  'start',
  'vcl.discard *',
  'vcl.load a FILE',
  'vcl.load b FILE cold',
  'vcl.use b',
  'vcl.label lb b',
  'vcl.label la a',
  'vcl.label a a',
  'vcl.label la la',
  'vcl.label l2 la',
  'vcl.label 8 a',
  'vcl.label l8% a',
  'vcl.list',
  'vcl.list -j',
  'vcl.use la',
  'vcl.use la',
  'vcl.list',
  'vcl.state a cold',
  'vcl.state la warm',
  'vcl.state la hot',
  'vcl.state b auto',
  'vcl.list',
  'vcl.discard la',
  'vcl.discard a',
  'vcl.discard b a nope',
  inline('n1', to('la')),
  inline('n0', to('nolabel')).replace('vcl.inline n0', 'vcl.inline 0n'),
  'vcl.label ln n1',
  'vcl.label la n1',
  'vcl.list',
  'vcl.list -j',
  'vcl.deps',
  'vcl.deps -j',
  inline('never', `${NONE} sub vcl_init { return (fail("not today")); }`),
  'start',
  'vcl.discard never',
  'start',
  'status',
  'start',
  'vcl.list',
  'vcl.list -j',
  inline('never', `${NONE} sub vcl_init { return (fail("not today")); }`),
  inline('never', `${NONE} sub vcl_init { return (fail); }`),
  inline('once', `import_std; ${NONE}`).replace('import_std; vcl 4.1;', 'vcl 4.1; import std;'),
  'backend.list never.*',
  'vcl.list',
  inline('n2', to('la', 'ln')),
  inline('n3', to('la', 'la')),
  'vcl.label la n2',
  'vcl.label ln n2',
  'vcl.label l9 n2',
  inline('n4', to('l9')),
  'vcl.label l4 n4',
  'vcl.label la n4',
  'vcl.label la n1',
  'vcl.list',
  'vcl.list -j',
  'vcl.deps',
  'vcl.deps -j',
  'vcl.discard la',
  'vcl.discard n1 n2 n3 n4',
  'vcl.discard l* n*',
  'vcl.use n1',
  'vcl.use n1',
  'vcl.state n1 cold',
  'vcl.discard l* n*',
  'vcl.use b',
  'vcl.state b cold',
  'vcl.state b warm',
  'vcl.state b cold',
  'vcl.discard b',
  'vcl.discard la l9 ln',
  'vcl.list',
  'vcl.label la b',
  'vcl.state b auto',
  'vcl.state b cold',
  'vcl.list',
  'vcl.discard n? l4 l9 ln la',
  'vcl.list',
  'vcl.discard [a]',
  'vcl.discard ?',
  'vcl.discard once once on*',
  'vcl.list',
  'vcl.state b warm',
  'vcl.load c FILE warm',
  'vcl.load d FILE cold',
  'vcl.state d warm',
  'vcl.state d auto',
  'vcl.state c cold',
  'vcl.state c cold',
  'vcl.state c auto',
  'vcl.list',
  'vcl.label lc c',
  'vcl.list',
  'vcl.show nope',
  'vcl.show -v c nope',
  'vcl.show c nope',
  'vcl.show -x',
  'vcl.show c',
  'vcl.show lc',
  'vcl.show',
  'param.set max_vcl 3',
  'param.set max_vcl_handling 2',
  'vcl.load e FILE',
  'vcl.load c FILE',
  'param.set max_vcl_handling 1',
  'vcl.load e FILE',
  'param.set max_vcl_handling 0',
  'vcl.load f FILE',
  'vcl.load',
  'vcl.load x',
  'vcl.load x FILE warm more',
  'vcl.use',
  'vcl.use b c',
  'vcl.state b',
  'vcl.label b',
  'vcl.discard',
  'vcl.list no',
  'vcl.deps no',
  'vcl.inline x',
  'vcl.load this-name-is-rather-long-and-makes-the-table-wider-than-a-terminal FILE',
  'vcl.list',
  'vcl.deps',
  'stop',
  'vcl.list',
  'vcl.use lc',
  'vcl.discard e f',
  'vcl.label lc d',
  'start',
  'vcl.list',
  'vcl.discard th*',
  'vcl.label lc c',
  'vcl.list',
];

type Answer = { code: number | null; stdout: string; stderr: string };

/** Steps by the name of their answer: some stand there more than once. */
const KEYS = STEPS.map((line, i) => `${i}: ${line}`);

function normalise(text: string, dir: string): string {
  return (
    text
      .replaceAll(dir, 'DIR')
      .replace(/\b1\d{9}\.\d+\b/g, 'TIME')
      .replace(/^((?:active|available|discarded) +\w+ +\w+ +)\d+/gm, '$1-')
      // vcl.list -j says in one more word what Varnish says in two.
      .replace(/,\n {4}"varnish_release": "[\d.]+"/g, '')
      .replace(/,\n {4}"state_temperature": "\w+\/\w+"(?=\n}[,\n])/g, '')
      .replace(/"busy": \d+/g, '"busy": -')
  );
}

async function ask(proxy: RunningProxy, line: string): Promise<Answer> {
  const end = await proxy.adm('--', line);
  return {
    code: end.code,
    stdout: normalise(end.stdout, proxy.dir),
    stderr: normalise(end.stderr, proxy.dir),
  };
}

async function walk(box: Sandbox, product: Product): Promise<Answers<Answer>> {
  const proxy = await startProxy(box, { product, mode: 'd' });
  // The daemon takes commands when its working directory is complete.
  await until('the daemon takes commands', async () => (await proxy.adm('ping')).code === 0);
  const file = `${proxy.dir}.good.vcl`;
  writeFileSync(file, 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "2"; }\n');
  const answers = new Map<string, Answer>();
  for (const [i, line] of STEPS.entries())
    answers.set(KEYS[i] as string, await ask(proxy, line.replace('FILE', file)));
  proxy.daemon.child.stdin?.end();
  await proxy.daemon.exit(PATIENCE);
  return answers;
}

/** Where the answers are meant to differ; the exit code must be the same nevertheless. */
const MEANT: Record<string, string> = {
  'vcl.show': 'also shows without a worker; Varnish asks its child',
};
/** Answers whose words are ours: the compiler's messages, and why a worker cannot start. */
const OURS = /^Message from VCC-compiler:\n(?!Cannot read file)/;

describe('program commands beside Varnish’s', () => {
  const box = new Sandbox('proxyd-prog');
  let reference: Reference<Answer>;
  let ours: Answers<Answer>;
  beforeAll(async () => {
    const inputs = inputsOf(STEPS.join('\n'), KEYS);
    [reference, ours] = await walked.both(inputs, (product) => walk(box, product));
  });
  afterAll(() => box.dispose());

  for (const [i, line] of STEPS.entries()) {
    const key = KEYS[i] as string;
    it(key, () => {
      const theirs = reference.get(key);
      const own = ours.get(key) as Answer;
      expect(own.code).toBe(theirs.code);
      if (line === 'start' || MEANT[line] !== undefined || OURS.test(theirs.stdout)) return;
      // A file that cannot be read is named by each in its own way.
      expect(own.stdout).toBe(theirs.stdout);
      expect(own.stderr).toBe(theirs.stderr);
    });
  }
});

const SITES = {
  sub: `sub vcl_recv {
    if (req.url ~ "rs" && req.restarts == 0) { return (restart); }
    if (req.url ~ "fail") { return (fail("no more")); }
    if (req.url ~ "again") { return (vcl(lboot)); }
  }
  sub vcl_deliver { set resp.http.who = "sub " + req.restarts;
    if (req.url ~ "dr" && req.restarts == 0) { return (restart); } }`,
  mid: `sub vcl_recv { if (req.url ~ "sub") { return (vcl(lsub)); } }
  sub vcl_deliver { set resp.http.who = "mid " + req.restarts; }`,
  top: `sub vcl_recv {
    set req.http.intop = "1"; unset req.http.accept; set req.ttl = 3s; set req.hash_always_miss = true;
    set client.identity = "me";
    if (req.url ~ "first-restart" && req.restarts == 0) { return (restart); }
    if (req.url ~ "mid") { set req.url = "/changed" + req.url; return (vcl(lmid)); }
    if (req.url ~ "sub") { return (vcl(lsub)); } }
  sub vcl_deliver { set resp.http.who = "top " + req.restarts; }`,
};

const REQUESTS: { url: string; fields?: Record<string, string> }[] = [
  { url: '/plain' },
  { url: '/sub' },
  { url: '/sub-rs' },
  { url: '/sub-dr' },
  { url: '/mid' },
  { url: '/mid-sub' },
  { url: '/sub-fail' },
  { url: '/sub-again' },
  { url: '/sub-rs-again' },
  { url: '/sub-first-restart' },
  { url: '/sub-forwarded', fields: { 'X-Forwarded-For': '192.0.2.1', Accept: 'x' } },
];

/** Requests through programs and labels: what the client and the origin saw, and the log about programs. */
async function travel(box: Sandbox, product: Product): Promise<string[]> {
  const origin = await Origin.start();
  const program = (body: string): string =>
    `vcl 4.1; backend s { .host = "127.0.0.1"; .port = "${origin.port}"; } ${body.replace(/\s+/g, ' ')}`;
  const proxy = await startProxy(box, { product, program: program('') });
  const seen: string[] = [];
  try {
    for (const line of [
      'vcl.label lboot boot',
      inline('sub', program(SITES.sub)),
      'vcl.label lsub sub',
      inline('mid', program(SITES.mid)),
      'vcl.label lmid mid',
      inline('top', program(SITES.top)),
      'vcl.use top',
    ])
      seen.push(JSON.stringify((await proxy.adm('--', line)).code));
    const get = async (url: string, fields: Record<string, string> = {}): Promise<void> => {
      const r = await proxy.get(url, { fields });
      seen.push(`${url}: ${r.status} ${r.reason} ${field(r, 'who') ?? ''}`);
      await delay(20);
    };
    for (const { url, fields } of REQUESTS) await get(url, fields);
    // Another target for the label, then the label itself as the active program.
    await proxy.adm('vcl.label', 'lsub', 'mid');
    await get('/sub-relabelled');
    await proxy.adm('vcl.use', 'lmid');
    await get('/active-label');
    await proxy.adm('vcl.label', 'lmid', 'boot');
    await get('/active-label-moved');
    for (const r of origin.requests) seen.push(`origin ${r.head.split('\r\n')[0]} ${/intop/i.test(r.head)}`);
    // Each is asked once, and three through labels that are moved.
    await proxy.requestsLogged(REQUESTS.length + 3);
    const log = await proxy.log(
      '-g',
      'session',
      '-i',
      'VCL_use,VCL_call,VCL_return,VCL_Error,ReqURL,ReqUnset,ReqHeader',
    );
    for (const line of log.split('\n')) {
      if (/(ReqHeader|ReqUnset)/.test(line) && !/forwarded|intop|accept:/i.test(line)) continue;
      const m = /^-+ +(\S+) +(.*)$/.exec(line);
      if (m !== null) seen.push(`${m[1]} ${m[2]}`);
    }
  } finally {
    await proxy.stop();
    await origin.close();
  }
  return seen;
}

describe('requests through labels beside Varnish’s', () => {
  const box = new Sandbox('proxyd-lab');
  afterAll(() => box.dispose());

  let reference: Reference<string[]>;
  let ours: Answers<string[]>;
  beforeAll(async () => {
    const inputs = inputsOf(JSON.stringify([SITES, REQUESTS]), ['the way']);
    [reference, ours] = await travelled.both(
      inputs,
      async (product) => new Map([['the way', await travel(box, product)]]),
    );
  });

  it('take the same way and leave the same records', () => {
    const theirs = reference.get('the way');
    expect(theirs.length).toBeGreaterThan(150);
    expect(ours.get('the way')).toEqual(theirs);
  });
});

/** A program becomes cold some time after it went out of use. */
async function cool(box: Sandbox, product: Product): Promise<string[]> {
  const proxy = await startProxy(box, { product, program: NONE, params: { vcl_cooldown: '1' } });
  const seen: string[] = [];
  const list = async (): Promise<string> => normalise((await proxy.adm('vcl.list')).stdout, proxy.dir);
  // When exactly a program cools depends on how busy the machine is: looks only when as many are cold as must be, and
  // so late that one too many would show.
  const untilCold = async (programs: number): Promise<void> => {
    await delay(2600);
    await until(`${programs} cold programs`, async () => (await list()).split(' cold ').length > programs);
    seen.push(await list());
  };
  const say = async (line: string): Promise<void> => {
    const a = await ask(proxy, line);
    seen.push(`${line}: ${a.code} ${a.stdout}`);
  };
  try {
    for (const name of ['unused', 'labelled', 'other']) await say(inline(name, NONE));
    await say(inline('kept', NONE, 'warm'));
    await say('vcl.label l labelled');
    await say(inline('switching', to('l')));
    await untilCold(2);
    // Warmed by use, by a label, by command; a label taken away cools what it pointed to.
    await say('vcl.use unused');
    await say('vcl.label l other');
    await say('vcl.state kept auto');
    await untilCold(3);
    await say('vcl.state kept warm');
    await say('vcl.use boot');
    await say('vcl.discard switching l');
    await untilCold(3);
  } finally {
    await proxy.stop();
  }
  return seen;
}

describe('temperatures beside Varnish’s', () => {
  const box = new Sandbox('proxyd-cool');
  afterAll(() => box.dispose());

  let reference: Reference<string[]>;
  let ours: Answers<string[]>;
  beforeAll(async () => {
    [reference, ours] = await cooled.both(
      inputsOf(NONE, ['lists']),
      async (product) => new Map([['lists', await cool(box, product)]]),
    );
  });

  it('follow use, labels and commands', () => {
    const theirs = reference.get('lists');
    expect(theirs.join('')).toContain('auto     cold');
    expect(ours.get('lists')).toEqual(theirs);
  });
});
