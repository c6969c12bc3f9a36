// How fast the ban lurker works, Varnish's daemon and proxyd one after the other: the same objects (made by the
// program, there is no origin), ten bans that match none of them, and the time until the list is short again.
// Arguments: number of objects (50000), then parameters for both as name=value.
// Runs the compiled code: `npm run build` first. Skips Varnish's daemon when it is not installed.

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const objects = Number(process.argv[2] ?? 50_000);
const params = process.argv.slice(3).flatMap((p) => ['-p', p]);
const dist = new URL('../../dist/', import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), 'lurker-'));
const program = join(dir, 'bench.vcl');
writeFileSync(
  program,
  `vcl 4.1;
backend default none;
sub vcl_backend_error {
  set beresp.status = 200; set beresp.ttl = 1h; set beresp.http.X-Url = bereq.url;
  synthetic("x"); return (deliver);
}`,
);
const PRODUCTS = {
  varnish: { daemon: ['varnishd'], adm: ['varnishadm'], stat: ['varnishstat'], lead: ['-j', 'none'] },
  proxyd: {
    daemon: [process.execPath, `${dist}daemon/proxyd.js`],
    adm: [process.execPath, `${dist}console/bin/proxyadm.js`],
    stat: [process.execPath, `${dist}console/bin/proxystat.js`],
    lead: [],
  },
};
const PORTS = { varnish: 21_890, proxyd: 21_891 };
const SECRET = join(dir, 'secret');
writeFileSync(SECRET, 'lurker\n');

function run([program_, ...lead], args) {
  return execFileSync(program_, [...lead, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** A connection to the admin port, which both have: asking a program each time would take longer than the lurker. */
async function openCli(port) {
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  let onLine = () => undefined;
  socket.setEncoding('latin1');
  socket.on('data', (text) => {
    seen += text;
    onLine();
  });
  const answer = async () => {
    for (;;) {
      const head = /^(\d{3}) (\d+) *\n/.exec(seen);
      const end = head === null ? 0 : head[0].length + Number(head[2]) + 1;
      if (head !== null && seen.length >= end) {
        const reply = { status: Number(head[1]), body: seen.slice(head[0].length, end - 1) };
        seen = seen.slice(end);
        return reply;
      }
      await new Promise((resolve) => {
        onLine = resolve;
      });
    }
  };
  const ask = (line) => {
    socket.write(`${line}\n`);
    return answer();
  };
  const challenge = (await answer()).body.slice(0, 32);
  const { status } = await ask(
    `auth ${createHash('sha256').update(`${challenge}\nlurker\n${challenge}\n`).digest('hex')}`,
  );
  if (status !== 200) throw new Error(`the admin port says ${status}`);
  return { ask, close: () => socket.destroy() };
}

/** Requests every object once, this many requests ahead of the responses. */
async function fill(port) {
  const socket = connect(port, '127.0.0.1');
  let seen = 0;
  let sent = 0;
  await new Promise((resolve, reject) => {
    socket.on('error', reject);
    const more = () => {
      let text = '';
      for (; sent < objects && sent - seen < 100; sent++) text += `GET /${sent} HTTP/1.1\r\nHost: x\r\n\r\n`;
      if (text !== '') socket.write(text);
    };
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1').split('HTTP/1.1 200').length - 1;
      if (seen >= objects) resolve();
      else more();
    });
    more();
  });
  socket.destroy();
}

async function measure(name) {
  const { daemon, adm, stat, lead } = PRODUCTS[name];
  const home = join(dir, name);
  const [file, ...first] = daemon;
  const args = ['-F', '-n', home, '-a', `127.0.0.1:${PORTS[name]}`, '-f', program, '-s', 'malloc,2g'];
  args.push('-T', `127.0.0.1:${PORTS[name] + 10}`, '-S', SECRET);
  const child = spawn(file, [...first, ...lead, ...args, '-p', 'ban_lurker_age=600', ...params], {
    stdio: 'ignore',
  });
  const counters = () => {
    const all = JSON.parse(run(stat, ['-n', home, '-j'])).counters;
    return Object.fromEntries(Object.entries(all).map(([key, c]) => [key, c.value]));
  };
  let cli;
  try {
    for (let tries = 0; ; tries++) {
      await delay(200);
      try {
        if (run(adm, ['-n', home, 'status']).includes('running')) break;
      } catch (error) {
        if (tries > 100) throw error;
      }
    }
    await fill(PORTS[name]);
    cli = await openCli(PORTS[name] + 10);
    for (let i = 0; i < 9; i++) await cli.ask(`ban obj.http.x-url == /nothing/${i}`);
    await cli.ask('param.set ban_lurker_age 0');
    // The last ban wakes both.
    const start = performance.now();
    await cli.ask('ban obj.http.x-url == /nothing/9');
    const isShort = async () => (await cli.ask('ban.list')).body.trim().split('\n').length <= 2;
    while (!(await isShort()) && performance.now() - start < 300_000) await delay(10);
    const seconds = (performance.now() - start) / 1000;
    const tests = counters()['MAIN.bans_lurker_tests_tested'];
    console.log(
      `${name}: ${tests} tests in ${seconds.toFixed(1)} s, ${Math.round(tests / seconds)} a second`,
    );
    return tests / seconds;
  } finally {
    cli?.close();
    child.kill('SIGTERM');
    await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve()));
  }
}

try {
  const rates = {};
  for (const name of Object.keys(PRODUCTS)) {
    try {
      rates[name] = await measure(name);
    } catch (error) {
      console.log(`${name}: ${error.message}`);
    }
  }
  if (rates.varnish && rates.proxyd)
    console.log(`proxyd / varnish: ${(rates.proxyd / rates.varnish).toFixed(2)}`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
