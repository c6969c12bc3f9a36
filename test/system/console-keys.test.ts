// Keys to an answer, counted: what an operator asks at night is answered by the real console in a real terminal, from the
// dashboard on, with traffic that was there before the console.
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
import { command, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) process.stderr.write('console-keys.test.ts is skipped: tmux is not installed\n');

describe.skipIf(missing)('keys to an answer', () => {
  const box = new Sandbox('proxyd-keys');
  let origin: Origin;
  let proxy: RunningProxy;
  let terminal: TestTerminal;
  let pressed = 0;

  /** Presses keys as an operator does, and counts them. */
  async function press(...keys: string[]): Promise<void> {
    pressed += keys.length;
    await terminal.press(...keys);
  }

  /** A request from another address than the others. */
  function from(localAddress: string, path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: proxy.port,
        localAddress,
        path,
        headers: { Host: 'shop.example' },
      };
      request(options, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });
  }

  beforeAll(async () => {
    origin = await Origin.start();
    const fresh = { 'Cache-Control': 'max-age=1000' };
    origin.on('*', respond('200 OK', fresh, 'hello\n'));
    origin.on('/basket', respond('200 OK', { ...fresh, 'Set-Cookie': 'id=1' }, 'yours\n'));
    origin.on('/slow', [{ wait: 400 }, ...respond('200 OK', { 'Cache-Control': 'no-store' }, 'late\n')]);
    const at = `{ .host = "127.0.0.1"; .port = "${origin.port}"; }`;
    const program = `vcl 4.1;
backend quick ${at}
backend snail ${at}
sub vcl_recv { if (req.url == "/slow") { set req.backend_hint = snail; } }`;
    proxy = await startProxy(box, { program });
    for (let n = 0; n < 9; n++) await from('127.0.0.9', '/deployed');
    for (let n = 0; n < 5; n++) await from('127.0.0.1', '/basket');
    for (let n = 0; n < 3; n++) await from('127.0.0.1', '/slow');
    terminal = await TestTerminal.open(box, 100, 30);
  });

  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin.close();
  });

  beforeEach(async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`clear; ${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    // The ring's contents have arrived: an empty console would not offer them.
    await terminal.waitFor(/1 Dash[\s\S]*● running[\s\S]*p50 [\d.]+/);
    pressed = 0;
  });

  afterEach(async () => {
    await terminal.press('Escape', 'q');
    await terminal.waitFor(/status 0/);
  });

  it('which backend is slow? 1', async () => {
    await press('4');
    // 400 ms at the origin, and on a busy machine more.
    const screen = await terminal.waitFor(
      /BACKEND.* P50 +P99 [\s\S]*boot\.snail .* (?:[4-9]\d\dms|[\d.]+s) +(?:[4-9]\d\dms|[\d.]+s)[\s\S]*Time +first byte after/,
    );
    const half = /boot\.quick .* ([\d.]+)(µs|ms|s) +[\d.]+(?:µs|ms|s)/.exec(screen);
    expect(half?.[2]).not.toBe('s');
    expect(half?.[2] === 'ms' ? Number(half[1]) : 0).toBeLessThan(400);
    expect(pressed).toBeLessThanOrEqual(1);
  });

  it('why is our hit rate low? 1', async () => {
    await press('#');
    await terminal.waitFor(/WHY +REQUESTS +COSTS[\s\S]*Set-Cookie.* [45] +2\d\.\d pp.*\/basket/);
    expect(pressed).toBeLessThanOrEqual(1);
  });

  it('who hammers us? 2', async () => {
    await press('9', 'c');
    await terminal.waitFor(/by client[\s\S]*REQ\/S[\s\S]*\n 127\.0\.0\.9 +(9|[1-9]\d) /);
    expect(pressed).toBeLessThanOrEqual(2);
  });

  it('why did this URL miss? 3', async () => {
    // The first URL by misses.
    await press('#');
    await terminal.waitFor(/Set-Cookie.*\/basket/);
    await press('Enter');
    await terminal.waitFor(/query .*ReqURL eq "\/basket"[\s\S]*\d\d:\d\d:\d\d .* GET +\/basket/);
    await press('w');
    await terminal.waitFor(
      /Set-Cookie[\s\S]*BerespHeader +Set-Cookie: id=1|because the response .*Set-Cookie/,
    );
    expect(pressed).toBeLessThanOrEqual(3);
  });

  it('would it be another page, fetched again? 3', async () => {
    origin.on('/deployed', respond('200 OK', { 'Cache-Control': 'max-age=1000' }, 'another page\n'));
    await press('9');
    await terminal.waitFor(/\n \/deployed +\d/);
    await press('R');
    await terminal.waitFor(/GET \/deployed at 127\.0\.0\.1:\d+, Host: shop\.example, User-Agent: proxyadm/);
    await press('y');
    await terminal.waitFor(
      /Changed: the body[\s\S]*status +200 +200[\s\S]*cache +hit +miss[\s\S]*time to live +\d+m\d+s +16m40s[\s\S]*body +6 B +\d+ B/,
    );
    expect(pressed).toBeLessThanOrEqual(3);
    await terminal.press('Escape');
  });

  it('purge this URL: 3, on the smallest terminal too', async () => {
    const asked = origin.requests.length;
    await from('127.0.0.9', '/deployed');
    expect(origin.requests.length).toBe(asked);
    await terminal.resize(60, 20);
    await press('9');
    await terminal.waitFor(/\n \/deployed +\d/);
    await press('p');
    await terminal.waitFor(
      /ban req\.http\.host == shop\.example && req\.url ==[\s\S]*\/deployed[\s\S]*1 of \d+ objects match\. Ban them\? y\/n/,
    );
    await press('y');
    await terminal.waitFor(/\n done: ban req\.http\.host == shop\.example/);
    expect(pressed).toBeLessThanOrEqual(4);
    await until('it is fetched again', async () => {
      await from('127.0.0.9', '/deployed');
      return origin.requests.length > asked;
    });
    await terminal.resize(100, 30);
  });
});
