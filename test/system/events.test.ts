// Events of a real daemon: sent to watchers, and all of them to a later one.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { Origin, respond } from '../harness/origin.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-events');
let origin: Origin;
let proxy: RunningProxy;
let healthy = true;

beforeAll(async () => {
  origin = await Origin.start();
  origin.on('*', respond('200 OK', { 'Cache-Control': 'max-age=100000' }, 'hello\n'));
  origin.on('/health', () => [...respond(healthy ? '200 OK' : '503 Oops'), { close: true }]);
  const program = `vcl 4.1;
import std;
backend shop { .host = "127.0.0.1"; .port = "${origin.port}";
  .probe = { .url = "/health"; .interval = 0.1s; .window = 2; .threshold = 2; .initial = 2; } }
sub vcl_recv { if (req.url == "/ban") { std.ban("req.url ~ ^/old"); return (synth(200)); } }
`;
  proxy = await startProxy(box, { program });
});
afterAll(async () => {
  await box.dispose();
  await origin.close();
});

/** A console that has just attached, after it received the events. */
async function attached(): Promise<DaemonSession> {
  const session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir }),
    now: () => Date.now() / 1000,
    later: (fn, ms) => setTimeout(fn, ms).unref(),
  });
  session.start();
  await until('the list of events', async () => session.events.all().length > 0);
  return session;
}

/** Without long turns, which hang on what else the machine does: turns.test.ts has those. */
const events = (session: DaemonSession) => session.events.all().filter(({ kind }) => kind !== 'turn');
const texts = (session: DaemonSession): string[] =>
  events(session).map(({ kind, text }) => `${kind}: ${text.replace(/\(\d+\)/, '(pid)')}`);

it('has health with its cause, commands, bans of programs and deaths of workers, for the first and the late', async () => {
  const watching = await attached();
  const began = Date.now() / 1000;
  healthy = false;
  await until('sick', async () => texts(watching).some((text) => text.includes('went sick')));
  healthy = true;
  await until('healthy', async () => texts(watching).some((text) => text.includes('went healthy')));
  await proxy.adm('param.set', 'default_ttl', '60');
  await proxy.get('/ban');
  await until('the ban', async () => texts(watching).some((text) => text.startsWith('ban: ')));
  process.kill(proxy.workerPid() as number, 'SIGKILL');
  await until(
    'another worker',
    async () => texts(watching).filter((text) => text.endsWith(' started')).length === 2,
  );
  const expected = [
    'worker: Child (pid) started',
    'health: boot.shop went sick (down): HTTP/1.1 503 Oops',
    'health: boot.shop went healthy (up): HTTP/1.1 200 OK',
    'parameter: default_ttl 60.000 (was 120.000)',
    'ban: ban req.url ~ ^/old (by the program, for the client 127.0.0.1)',
    'worker: Child (pid) died signal=9 (SIGKILL); restarted at once; its cache and its bans are gone',
    'worker: Child (pid) started',
  ];
  expect(texts(watching)).toEqual(expected);
  const late = await attached();
  expect(events(late)).toEqual(events(watching));
  expect(events(late).at(1)?.at).toBeGreaterThanOrEqual(began);
  const { stdout } = await proxy.adm('event.list');
  const listed = stdout.trimEnd().split('\n');
  expect(listed.filter((line) => !line.includes('was held up for'))).toHaveLength(expected.length);
  watching.close();
  late.close();
});
