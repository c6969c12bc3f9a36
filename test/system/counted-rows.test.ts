// Rows of the console that open the log, on a real daemon whose log ring is small: lost records are reported, and
// existing ones are not.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LiveSource } from '../../console/client/live-source.ts';
import { DaemonSession } from '../../console/model/session/daemon-session.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('counted-rows');
let proxy: RunningProxy;
let session: DaemonSession;

beforeAll(async () => {
  proxy = await startProxy(box, {
    program: 'vcl 4.1; backend none none; sub vcl_recv { return (synth(200)); }',
    params: { vsl_space: '1M' },
  });
  session = new DaemonSession({
    source: new LiveSource({ dir: proxy.dir, name: 'test' }),
    now: () => Date.now() / 1000,
    later: (fn, ms) => setTimeout(fn, ms),
  });
  session.start();
});

afterAll(async () => {
  session.close();
  await proxy.stop();
  await box.dispose();
});

const counted = (url: string) => session.traffic.sample.all('url').find(({ key }) => key === url);

/** As Enter on its row of Top. */
const open = (url: string) => session.log.follow(`ReqURL eq "${url}"`, 'request', counted(url)?.since ?? 0);

function isLogged(url: string): Promise<boolean> {
  let found = false;
  return new Promise((resolve, reject) =>
    session.source.log(
      { grouping: 'request', query: `ReqURL eq "${url}"`, from: 'head', once: true },
      {
        batch: () => {
          found = true;
        },
        lost: () => undefined,
        failed: (message) => reject(new Error(message)),
        ended: () => resolve(found),
      },
    ),
  );
}

it('the log says what of a count it has not', async () => {
  await until('a connection', () => session.isFurnished);
  await proxy.get('/early');
  await until('a count', () => counted('/early')?.requests === 1);
  const long = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`X-Long-${i}`, 'x'.repeat(200)]));
  await until('a ring that has gone round', async () => {
    for (let i = 0; i < 50; i++) await proxy.get('/filler', { fields: long });
    return !(await isLogged('/early'));
  });
  open('/early');
  await until('an answer', () => session.log.range.shortfall(session.log.kept) !== null);
  const short = session.log.range.shortfall(session.log.kept);
  expect(short?.counted).toBe(counted('/early')?.since);
  expect(short?.there).toBeGreaterThan(short?.counted ?? 0);
  expect(session.log.shown.size).toBe(0);

  await proxy.get('/late');
  await until('a count', () => counted('/late')?.requests === 1);
  open('/late');
  await until('its row', () => session.log.shown.size === 1);
  expect(session.log.range.shortfall(session.log.kept)).toBeNull();
});
