// Directors besides key mapping: every method in client and backend states with its errors and log records, lazy
// resolution with parameters set by the fetch, retries on alternatives, nesting, pipes, members that become sick and
// recover. The same requests go through Varnish's daemon and through proxyd.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const recorded = recording('directors-behaviour');

/** Each runs in vcl_recv and in vcl_backend_fetch; X is the message it may leave an answer in. */
const STATEMENTS = [
  'p.set(by=URL);',
  'p.set(by=KEY, key=77, alt=2, warmup=0.25, rampup=false, healthy=IGNORE); set X.http.x = p.get_by() + p.get_key() + p.get_alt() + p.get_warmup() + p.get_rampup() + p.get_healthy();',
  'p.set(by=URL, alt=1); p.set(healthy=ALL); set X.http.x = p.get_by() + p.get_alt() + p.get_healthy();',
  'p.clear();',
  'set X.http.x = p.get_by() + p.get_alt() + p.get_warmup() + p.get_rampup() + p.get_healthy();',
  'set X.http.x = p.get_key();',
  'd.associate(p.use());',
  'set X.http.x = d.backend(param=p.use());',
  'set X.http.x = d.backend(by=KEY);',
  'set X.http.x = d.backend(by=KEY, key=-1);',
  'set X.http.x = d.backend(by=KEY, key=4294967296);',
  'set X.http.x = d.backend(by=BLOB);',
  'set X.http.x = d.backend(by=BLOB, key_blob=blob.decode(HEX, encoded=""));',
  'set X.http.x = d.backend(by=BLOB, key_blob=blob.decode(HEX, encoded="ff"));',
  'set X.http.x = d.backend(key=1);',
  'set X.http.x = d.backend(by=URL, key=1);',
  'set X.http.x = d.backend(alt=-1);',
  'set X.http.x = d.backend(alt=3);',
  'set X.http.x = d.backend(alt=99, healthy=IGNORE);',
  'set X.http.x = d.backend(warmup=2);',
  'set X.http.x = d.backend(warmup=-0.1);',
  'set X.http.x = d.backend(resolve=LAZY);',
  'set X.http.x = d.backend(resolve=LAZY, by=URL);',
  'set X.http.x = d.backend(resolve=LAZY, param=p.use());',
  'set X.http.x = d.backend(param=blob.decode(HEX, encoded="00"));',
  'd.associate(blob.decode(HEX, encoded="00"));',
  'd.associate();',
  'set X.http.x = e.backend();',
  'set X.http.x = e.backend(resolve=LAZY);',
  'if (d.add_backend(none)) { std.log("added"); }',
  'if (d.remove_backend()) { std.log("removed"); }',
  'if (d.remove_backend(b4)) { std.log("removed"); }',
  'if (d.add_backend(b1)) { std.log("added"); }',
  'if (d.add_backend(b2, weight=0.1)) { std.log("added"); }',
  'if (d.add_backend(b4, ident="b1")) { std.log("added"); }',
  'if (d.reconfigure(0)) { std.log("reconfigured"); }',
  'if (d.reconfigure(-5)) { std.log("reconfigured"); }',
  'if (d.reconfigure(10)) { std.log("reconfigured"); }',
  'd.add_backend(b4); set X.http.x = d.backend(healthy=IGNORE, alt=3);',
  // The former task's end adds b4, perhaps only after this one has begun: nothing here may depend on the number.
  'set X.http.x = d.backend(healthy=IGNORE, alt=2);',
  'd.remove_backend(b4); d.add_backend(b4); d.add_backend(b4, ident="again"); d.reconfigure(20); set X.http.x = d.backend(by=URL);',
  'd.add_backend(b4, ident="again"); d.remove_backend(ident="again"); d.remove_backend(b4);',
  'd.add_backend(b4); d.clear(); set X.http.x = d.backend();',
  'set X.http.x = d.backend() + std.healthy(d.backend(resolve=LAZY));',
  'd.add_backend(b1); d.add_backend(b2); d.add_backend(b3); if (d.reconfigure()) { std.log("reconfigured"); }',
  'set X.http.x = d.backend();',
  'rr.add_backend(none);',
  'rr.remove_backend(none);',
  'rr.remove_backend(b4);',
  'fb.add_backend(none);',
  'ra.add_backend(none, 1);',
  'ha.add_backend(none);',
  'set X.http.x = rr.backend() + fb.backend() + ra.backend();',
  'set X.http.x = ha.backend("") + ha.backend(X.http.nope);',
  'set X.http.x = "x" + eh.backend("") + std.healthy(eh.backend(""));',
  'set X.http.x = std.healthy(rr.backend()) + std.healthy(er.backend()) + std.healthy(e.backend(resolve=LAZY)) + std.healthy(d.backend(resolve=LAZY));',
  'd.set_warmup(2);',
  'd.set_warmup(1);',
  'd.set_warmup(0);',
  'd.set_rampup(0s);',
  'set X.http.x = d.key("") + d.key(X.http.nope) + " " + d.key("a" + "b");',
  'd.debug(0);',
] as const;

const branch = (prefix: string, message: string, url: string): string =>
  STATEMENTS.map((s, i) => `  if (${url} == "/${prefix}${i}") { ${s.replaceAll('X.', `${message}.`)} }`).join(
    '\n',
  );

const program = (ports: readonly number[]): string => `vcl 4.1;
import blob;
import directors;
import std;
${ports.map((port, i) => `backend b${i + 1} { .host = "127.0.0.1"; .port = "${port}"; }`).join('\n')}
backend none none;
sub vcl_init {
  new p = directors.shard_param();
  new d = directors.shard();
  d.add_backend(b1); d.add_backend(b2); d.add_backend(b3); d.reconfigure();
  new e = directors.shard();
  new s = directors.shard();
  s.add_backend(b1); s.add_backend(b2); s.add_backend(b3); s.add_backend(b4); s.reconfigure();
  new t = directors.shard();
  t.add_backend(b4); t.add_backend(b2); t.associate(p.use());
  new rr = directors.round_robin();
  rr.add_backend(b1); rr.add_backend(b2); rr.add_backend(b3);
  new er = directors.round_robin();
  new fb = directors.fallback();
  fb.add_backend(b3); fb.add_backend(b1); fb.add_backend(b2);
  new sticky = directors.fallback(sticky = true);
  sticky.add_backend(b3); sticky.add_backend(b1); sticky.add_backend(b2);
  new ra = directors.random();
  ra.add_backend(b2, 5);
  new ha = directors.hash();
  ha.add_backend(b1); ha.add_backend(b2);
  new eh = directors.hash();
  new nested = directors.fallback();
  nested.add_backend(er.backend()); nested.add_backend(s.backend()); nested.add_backend(rr.backend());
  new around = directors.round_robin();
  around.add_backend(sticky.backend()); around.add_backend(t.backend());
  new found = directors.round_robin();
  found.add_backend(directors.lookup("b4"));
}
sub vcl_recv {
  set req.http.x-was = req.http.x-was;
${branch('c', 'req', 'req.url')}
  if (req.url ~ "^/c[0-9]") { return (synth(200)); }
  if (req.url ~ "^/rr") { set req.backend_hint = rr.backend(); }
  if (req.url ~ "^/fb") { set req.backend_hint = fb.backend(); }
  if (req.url ~ "^/sticky") { set req.backend_hint = sticky.backend(); }
  if (req.url ~ "^/ra") { set req.backend_hint = ra.backend(); }
  if (req.url ~ "^/ha") { set req.backend_hint = ha.backend(req.url); }
  if (req.url ~ "^/er") { set req.backend_hint = er.backend(); }
  if (req.url ~ "^/eh") { set req.backend_hint = eh.backend("x"); }
  if (req.url ~ "^/es") { set req.backend_hint = e.backend(resolve = LAZY); }
  if (req.url ~ "^/none") { set req.backend_hint = none; }
  if (req.url ~ "^/nested") { set req.backend_hint = nested.backend(); }
  if (req.url ~ "^/around") { set req.backend_hint = around.backend(); }
  if (req.url ~ "^/found") { set req.backend_hint = found.backend(); }
  if (req.url ~ "^/now") { set req.backend_hint = s.backend(); }
  if (req.url ~ "^/(lazy|retry|args|alt|pipe)") { set req.backend_hint = s.backend(resolve = LAZY); }
  if (req.url ~ "^/assoc") { set req.backend_hint = t.backend(resolve = LAZY); }
  if (req.url ~ "^/restart") {
    set req.backend_hint = s.backend(by = KEY, key = 12345, alt = req.restarts, healthy = ALL);
  }
  set req.http.hint = req.backend_hint;
  if (req.url ~ "^/pipe") { return (pipe); }
  return (pass);
}
sub vcl_pipe {
  if (req.url ~ "^/pipe/alt") { s.backend(resolve = LAZY, by = KEY, key = 12345, alt = 2); }
  if (req.url ~ "^/pipe/param") { p.set(by = KEY, key = 99); s.backend(resolve = LAZY, param = p.use()); }
  if (req.url ~ "^/pipe/empty") { set bereq.backend = er.backend(); }
}
sub vcl_deliver {
  if (req.url ~ "^/restart" && req.restarts < 2) { return (restart); }
  set resp.http.hint = req.http.hint;
  set resp.http.restarts = req.restarts;
}
sub vcl_synth {
  set resp.http.x = req.http.x;
  return (deliver);
}
sub vcl_backend_fetch {
${branch('b', 'bereq', 'bereq.url')}
  if (bereq.url ~ "^/b[0-9]") { return (error(200)); }
  if (bereq.url ~ "^/lazy/url") { p.set(by = URL); s.backend(resolve = LAZY, param = p.use()); }
  if (bereq.url ~ "^/lazy/late") { s.backend(resolve = LAZY, param = p.use()); p.set(by = KEY, key = 4000000000); }
  if (bereq.url ~ "^/args") { p.set(by = URL, alt = 2); s.backend(resolve = LAZY, alt = 1, param = p.use()); }
  if (bereq.url ~ "^/args/twice") { s.backend(resolve = LAZY, by = KEY, key = 1); }
  if (bereq.url ~ "^/assoc") { p.set(by = KEY, key = 1); }
  if (bereq.url ~ "^/assoc/alt") { p.set(by = KEY, key = 1, alt = 1); }
  if (bereq.url ~ "^/alt") { set bereq.backend = s.backend(by = KEY, key = 5, alt = 1); }
  if (bereq.url ~ "^/retry") { s.backend(resolve = LAZY, by = URL, alt = bereq.retries, healthy = ALL); }
  set bereq.http.trace = bereq.http.trace + " " + bereq.backend;
}
sub vcl_backend_response {
  set bereq.http.trace = bereq.http.trace + ":" + beresp.backend + "(" + std.healthy(bereq.backend) + ")";
  if (bereq.url ~ "^/retry" && bereq.retries < 3) { return (retry); }
  set beresp.http.trace = bereq.http.trace;
}
sub vcl_backend_error {
  set beresp.http.x = bereq.http.x;
  set beresp.http.trace = bereq.http.trace + "/" + bereq.backend + "/" + beresp.backend;
  return (deliver);
}
`;

const SHOWN = ['x', 'origin', 'trace', 'hint', 'restarts'];
const TAGS = 'ReqURL,Error,VCL_Error,Notice,FetchError,VCL_Log,BackendOpen';

const times = (n: number, url: string): string[] => Array.from({ length: n }, () => url);
const many = (url: string): string[] => Array.from({ length: 8 }, (_, i) => `${url}/${i}`);

/** Admin commands in braces between the requests. */
const STEPS: readonly string[] = [
  ...STATEMENTS.flatMap((_, i) => [`/c${i}`]),
  ...STATEMENTS.flatMap((_, i) => [`/b${i}`]),
  ...times(7, '/rr'),
  ...times(2, '/fb'),
  ...times(2, '/sticky'),
  ...times(2, '/ra'),
  ...['/er', '/eh', '/es', '/none', '/found'],
  ...many('/ha'),
  ...many('/now'),
  ...many('/lazy'),
  ...many('/lazy/url'),
  '/lazy/late',
  ...many('/args'),
  '/args/twice',
  '/assoc',
  '/assoc/alt',
  '/alt',
  ...many('/retry'),
  '/restart',
  '/pipe',
  '/pipe/alt',
  '/pipe/param',
  '/pipe/empty',
  ...many('/nested'),
  ...times(4, '/around'),
  '{backend.set_health b3 sick}',
  ...times(4, '/rr'),
  ...times(2, '/fb'),
  ...times(2, '/sticky'),
  ...many('/lazy'),
  ...many('/retry'),
  '/restart',
  '{backend.list *.?*r*}',
  '{backend.set_health b3 auto}',
  ...times(3, '/rr'),
  ...times(2, '/fb'),
  ...times(2, '/sticky'),
  '{backend.list -p *.s*}',
  '{backend.set_health b2 sick}',
  '{backend.set_health b1 sick}',
  ...times(2, '/sticky'),
  ...times(2, '/ra'),
  ...times(3, '/around'),
  '{backend.set_health s sick}',
  ...many('/nested'),
  '{backend.set_health s healthy}',
  '{backend.set_health b* sick}',
  '{backend.set_health b1 sick}',
  '{backend.set_health b2 sick}',
  '{backend.set_health b3 sick}',
  '{backend.set_health b4 sick}',
  ...['/rr', '/fb', '/sticky', '/ra', '/ha', '/now', '/lazy', '/nested', '/around'],
  '{backend.list -p *.s*}',
];

async function play(proxy: RunningProxy): Promise<Answers<string[]>> {
  const answers: string[] = [];
  for (const step of STEPS) {
    if (step.startsWith('{')) {
      const done = await proxy.adm(...step.slice(1, -1).split(' '));
      const list = done.stdout.replace(/\w\w\w, .*GMT/g, 'DATE').replace(/[\d.]+% +[\d.]+s/g, 'RAMP');
      answers.push(`${step} ${done.code} ${list}`);
      continue;
    }
    const response = await proxy.get(step).catch(() => null);
    const fields = SHOWN.map((n) => `${n}=${response === null ? '' : (field(response, n) ?? '')}`);
    answers.push(`${step} ${response?.status ?? 'closed'} ${fields.join(' ')}`);
  }
  const asked = STEPS.filter((step) => !step.startsWith('{')).length;
  const text = await until('the whole log', async () => {
    const all = await proxy.log('-g', 'request', '-i', TAGS);
    return (all.match(/^- {3}ReqURL /gm) ?? []).length >= asked ? all : null;
  });
  const log = text
    .split('\n')
    // Whether a restart meets the end of the body it drops is a matter of luck.
    .filter((line) => line.startsWith('-') && !line.endsWith('client went away'))
    .map((line) => line.replace(/^-[-0-9]* +/, '').replace(/(BackendOpen +)\d+ (\w+) .*/, '$1$2'));
  return new Map([
    ['answers', answers],
    ['log', byUrl(log)],
  ]);
}

/** The lines of each request. Sorted: a log tool prints a transaction when it has its end, not when it began. */
function byUrl(log: readonly string[]): string[] {
  const groups: string[] = [];
  for (const line of log) {
    if (line.startsWith('ReqURL')) groups.push(line);
    else groups.push(`${groups.pop()} | ${line.replace(/ +/g, ' ')}`);
  }
  return groups.toSorted();
}

describe('directors beside Varnish’s', () => {
  const box = new Sandbox('proxyd-directors');
  const origins: Origin[] = [];
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;

  beforeAll(async () => {
    for (let i = 1; i <= 4; i++) {
      const origin = await Origin.start();
      origin.on('*', respond('200 OK', { Origin: `b${i}`, 'Cache-Control': 'max-age=1' }, 'x'));
      origins.push(origin);
    }
    const text = program(origins.map((o) => o.port));
    const run = async (product: Product): Promise<Answers<string[]>> => {
      // Members that a request adds or removes are those of its thread.
      const params: Record<string, string> =
        product === 'varnish' ? { vcc_err_unref: 'off' } : { worker_threads: '1' };
      return play(await startProxy(box, { product, program: text, params }));
    };
    const inputs = inputsOf([program([1, 2, 3, 4]), ...STEPS].join('\n'), ['answers', 'log']);
    [reference, ours] = await recorded.both(inputs, run, 'in turn');
  });
  afterAll(async () => {
    await box.dispose();
    for (const origin of origins) await origin.close();
  });

  it('answers the same', () => {
    const wanted = reference.get('answers');
    expect(ours.get('answers')).toEqual(wanted);
    // The statements do what they are here for.
    expect(wanted.filter((a) => a.includes(' 503 ')).length).toBeGreaterThan(40);
  });

  it('logs the same', () => {
    expect(ours.get('log')).toEqual(reference.get('log'));
  });
});
