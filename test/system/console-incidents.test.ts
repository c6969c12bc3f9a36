// Incidents as an operator meets them: the console in a real terminal (tmux) on a real daemon, at most two keys to the
// answer, and no word on the way that contradicts what the test has done. One size in CI; three sizes, and the console on
// a Varnish, with PROXYD_INCIDENTS=sizes; with PROXYD_INCIDENTS=all (npm run test:incidents) each answer is watched for two minutes, too.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { delay, installed, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) process.stderr.write('console-incidents.test.ts is skipped: tmux is not installed\n');

const ALL = process.env.PROXYD_INCIDENTS === 'all';
const SIZES: readonly (readonly [number, number])[] = process.env.PROXYD_INCIDENTS
  ? [
      [160, 45],
      [80, 24],
      [60, 20],
    ]
  : [[160, 45]];
const PRODUCTS: readonly Product[] =
  process.env.PROXYD_INCIDENTS && installed('varnishd') ? ['proxyd', 'varnish'] : ['proxyd'];
/** Seconds for which an answer is watched. */
const WATCHED = ALL ? 120 : 1;

const PROGRAM = `sub vcl_backend_response {
  if (bereq.url ~ "^/page") { set beresp.do_esi = true; }
  if (beresp.status >= 500) { set beresp.uncacheable = true; set beresp.ttl = 0s; }
}`;

interface Incident {
  readonly name: string;
  /** Brings it about; called again while the answer is awaited. */
  readonly happen: (proxy: RunningProxy, round: number) => Promise<unknown>;
  readonly keys: readonly string[];
  /** `y` answers a question after the keys. */
  readonly confirms?: true;
  readonly answer: RegExp;
  /** Keys and answer on a Varnish, which has no events of its own for it. */
  readonly varnish?: { readonly keys: readonly string[]; readonly answer: RegExp };
  /** Contradicts what has happened. */
  readonly never: RegExp;
}

const NO_DEATH = /worker (starting|dead|silent)|no worker/;

let badPrograms = 0;

const INCIDENTS: readonly Incident[] = [
  {
    name: 'a release with Set-Cookie',
    happen: (proxy) => proxy.get('/release'),
    keys: ['#'],
    answer: /(hit-for-miss|not kept)[^\n]*Set-Cookie/,
    never: NO_DEATH,
  },
  {
    name: 'a slow backend',
    happen: (proxy, round) => proxy.get(`/slow?${round}`),
    keys: ['4'],
    answer: /boot\.default[^\n]* \d\.\d\ds/,
    never: NO_DEATH,
  },
  {
    name: 'failures of one path',
    happen: (proxy) => proxy.get('/broken'),
    keys: [],
    answer: /Last errors[\s\S]* 503 [^\n]*GET \/broken/,
    never: NO_DEATH,
  },
  {
    name: 'one client',
    happen: (proxy) => proxy.get('/plain'),
    keys: ['9', 'c'],
    answer: /by client[\s\S]*127\.0\.0\.1 +\d/,
    never: NO_DEATH,
  },
  {
    name: 'a failed fragment',
    happen: (proxy) => proxy.get('/page'),
    keys: ['2'],
    answer: / 200 ! +GET +\/page/,
    never: NO_DEATH,
  },
  {
    name: 'a flood of bans',
    happen: (proxy, round) => proxy.adm('ban', 'req.url', '==', `/none-${round}`),
    keys: ['%'],
    answer: /ban +the newest: [^\n]* \d+ times/,
    never: NO_DEATH,
  },
  {
    name: 'a full cache',
    happen: (proxy, round) =>
      Promise.all(Array.from({ length: 30 }, (_, i) => proxy.get(`/large?${round}-${i}`))),
    keys: ['$'],
    answer: /evictions +the cache is full/,
    varnish: { keys: ['8'], answer: /[1-9][\d,]* +evicted to make room/ },
    never: NO_DEATH,
  },
  {
    name: 'a purge and its check',
    happen: (proxy) => proxy.get('/plain'),
    keys: ['2', 'R'],
    confirms: true,
    answer: /before[\s\S]*after/i,
    never: NO_DEATH,
  },
  {
    name: 'a bad program',
    happen: async (proxy, round) => {
      if (round === 0) {
        const program = 'vcl 4.1; backend none none; sub vcl_recv { return (synth(503)); }';
        const file = `${proxy.dir}.bad.vcl`;
        writeFileSync(file, program);
        const name = `bad${badPrograms++}`;
        expect((await proxy.adm('vcl.load', name, file)).code).toBe(0);
        expect((await proxy.adm('vcl.use', name)).code).toBe(0);
      }
      await proxy.get('/plain');
    },
    keys: ['$'],
    answer: /program +(using|vcl\.use) bad\d/,
    never: NO_DEATH,
  },
  {
    name: 'the death of the worker',
    happen: async (proxy, round) => {
      const answered = (): Promise<boolean> =>
        proxy.get('/plain').then(
          () => true,
          () => false,
        );
      const pid = proxy.workerPid();
      if (round === 0 && pid !== null) {
        process.kill(pid, 'SIGKILL');
        // "Running" on the screen is about this one then.
        await until('the next worker', async () => proxy.workerPid() !== pid && (await answered()));
      } else await answered();
    },
    keys: [],
    answer: /● running[\s\S]*died(: by a signal| signal=9)/,
    never: /99\.\d% of \d/,
  },
];

describe.skipIf(missing).each(PRODUCTS)('an incident of %s', (product) => {
  const box = new Sandbox(`${product}-incidents`);
  let origin: Origin;
  let proxy: RunningProxy;

  beforeAll(async () => {
    origin = await Origin.start();
    const cached = { 'Cache-Control': 'max-age=100' };
    origin.on('*', ({ url }) => [
      ...(url.startsWith('/slow') ? [{ wait: 1200 }] : []),
      ...respond('200 OK', cached, url.startsWith('/large') ? 'x'.repeat(30_000) : 'hello\n'),
    ]);
    origin.on('/release', respond('200 OK', { ...cached, 'Set-Cookie': 'id=1' }, 'hello\n'));
    origin.on('/broken', respond('503 Service Unavailable', {}, 'no\n'));
    origin.on('/fragment', respond('503 Service Unavailable', {}, 'no\n'));
    origin.on('/page', respond('200 OK', cached, '<p><esi:include src="/fragment"/></p>\n'));
    proxy = await startProxy(box, {
      product,
      program: backendProgram(origin.port, PROGRAM),
      storage: ['malloc,2m'],
    });
  });

  afterAll(async () => {
    await box.dispose();
    await origin.close();
  });

  describe.each(SIZES)('at %ix%i', (columns, rows) => {
    let terminal: TestTerminal;

    beforeAll(async () => {
      // The size before has left a bad program.
      await proxy.adm('vcl.use', 'boot');
      terminal = await TestTerminal.open(box, columns, rows);
      const [node, [proxyadm]] = command('proxyd', 'adm');
      await terminal.type(`${node} ${proxyadm} ${product === 'varnish' ? '--varnish' : '-n'} ${proxy.dir}`);
      await terminal.press('Enter');
      await terminal.waitFor(/● running/);
    });

    afterAll(async () => {
      await terminal?.close();
    });

    it.each(INCIDENTS)(
      'has its answer within two keys: $name',
      async ({ happen, confirms, never, varnish, ...incident }) => {
        const { keys, answer } = (product === 'varnish' ? varnish : undefined) ?? incident;
        expect(keys.length).toBeLessThanOrEqual(2);
        await terminal.press('1');
        let round = 0;
        for (const key of keys) {
          await terminal.press(key);
          // A question is about the row that is seen.
          if (confirms && key !== keys.at(-1)) {
            await happen(proxy, round++);
            await terminal.waitFor(/GET +\/plain/);
          }
        }
        if (confirms) {
          await terminal.waitFor(/through the proxy\? *y\/n/);
          await terminal.press('y');
        }
        const look = async (): Promise<string> => {
          await happen(proxy, round++);
          const screen = Buffer.from(await terminal.screen(), 'latin1').toString();
          expect(screen).not.toMatch(never);
          return screen;
        };
        let last = '';
        await until('the answer', async () => {
          last = await look();
          return answer.test(last);
        }).catch((cause: unknown) => {
          throw new Error(`not on the screen: ${answer}\n${last}`, { cause });
        });
        const end = Date.now() + WATCHED * 1000;
        while (Date.now() < end) {
          await delay(1000);
          expect(await look()).toMatch(answer);
        }
      },
      WATCHED * 1000 + 60_000,
    );
  });
});
