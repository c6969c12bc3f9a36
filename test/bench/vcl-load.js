// How long `vcl.load` and `vcl.use` of a 1,000-line program take, in proxyd and in Varnish's daemon in the same
// run, over one open connection of the text CLI. The first load of a fresh daemon counts as cold, the median of the
// later ones, each of a text that was never seen before, as warm. Run after `npm run build`:
//   node test/bench/vcl-load.js [loads]
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const loads = Number(process.argv[2] ?? 10);
const proxyd = new URL('../../dist/daemon/proxyd.js', import.meta.url).pathname;

/** A program of about `lines` lines as operators write them: hosts, paths, cookies, cache rules, lists. */
export function makeProgram(lines, seed) {
  const backends = Math.max(1, Math.floor(lines / 40));
  let out = `vcl 4.1;\nimport std;\n# ${seed}\n`;
  for (let i = 0; i < backends; i++) {
    out += `backend b${i} {\n\t.host = "127.0.0.1";\n\t.port = "${8000 + i}";\n\t.first_byte_timeout = ${i + 1}s;\n}\n`;
  }
  out += 'acl inside {\n';
  for (let i = 0; i < lines / 20; i++) out += `\t"10.${i % 256}.0.0"/16;\n`;
  out += '}\n';
  const sites = Math.floor((lines - backends * 5 - lines / 20) / 16);
  for (let i = 0; i < sites; i++) {
    out += `sub site_${i} {
	if (req.http.Host == "www${i}.example.com") {
		set req.backend_hint = b${i % backends};
		if (req.url ~ "^/static/v${i}/.*\\.(css|js|png)$") {
			unset req.http.Cookie;
			set req.http.X-Kind = "static-${seed}";
		} elsif (req.url ~ "(?i)^/api/" && client.ip !~ inside) {
			return (synth(403, "No ${i}"));
		}
		set req.url = regsuball(req.url, "[?&]utm_[a-z]+=[^&]*", "");
		if (req.http.Cookie ~ "session=" || req.method == "POST") {
			std.log("site ${i}: " + req.url);
			return (pass);
		}
	}
}
`;
  }
  out += 'sub vcl_recv {\n';
  for (let i = 0; i < sites; i++) out += `\tcall site_${i};\n`;
  return `${out}}\nsub vcl_backend_response {\n\tset beresp.ttl = 5m;\n\tset beresp.grace = 1h;\n}\n`;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** One connection of the text CLI: `ask` gives status and text of one command. */
async function openCli(port, secret) {
  let socket;
  for (let i = 0; ; i++) {
    socket = connect(port, '127.0.0.1');
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (open) break;
    if (i > 100) throw new Error('the daemon does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  socket.setNoDelay(true);
  let text = '';
  let waiting = null;
  const look = () => {
    const head = /^(\d{3}) (\d+) *\n/.exec(text);
    if (head === null || waiting === null) return;
    const end = head[0].length + Number(head[2]);
    if (text.length < end + 1) return;
    const answer = { status: Number(head[1]), text: text.slice(head[0].length, end) };
    text = text.slice(end + 1);
    const done = waiting;
    waiting = null;
    done(answer);
  };
  socket.on('data', (d) => {
    text += d.toString('latin1');
    look();
  });
  const answer = () =>
    new Promise((resolve) => {
      waiting = resolve;
      look();
    });
  const ask = (line) => {
    socket.write(`${line}\n`);
    return answer();
  };
  const hello = await answer();
  if (hello.status === 107) {
    const challenge = hello.text.slice(0, 32);
    const hash = createHash('sha256').update(`${challenge}\n${secret}${challenge}\n`).digest('hex');
    const welcome = await ask(`auth ${hash}`);
    if (welcome.status !== 200) throw new Error(`auth: ${welcome.text}`);
  }
  return { ask, close: () => socket.destroy() };
}

async function measure(name, command, dir) {
  mkdirSync(dir, { recursive: true });
  chmodSync(dir, 0o755);
  const secret = 'not much of a secret\n';
  writeFileSync(join(dir, 'secret'), secret);
  const boot = join(dir, 'boot.vcl');
  writeFileSync(boot, 'vcl 4.1; backend default none;\n');
  const port = await freePort();
  const args = ['-F', '-n', join(dir, 'n'), '-a', `127.0.0.1:${await freePort()}`, '-f', boot];
  args.push('-T', `127.0.0.1:${port}`, '-S', join(dir, 'secret'));
  const daemon = spawn(command[0], [...command.slice(1), ...args], { stdio: 'ignore' });
  try {
    const cli = await openCli(port, secret);
    await cli.ask('ping');
    const times = [];
    for (let i = 0; i <= loads; i++) {
      const file = join(dir, `p${i}.vcl`);
      writeFileSync(file, makeProgram(1000, `${name}${i}`));
      const start = performance.now();
      const loaded = await cli.ask(`vcl.load p${i} ${file}`);
      const used = await cli.ask(`vcl.use p${i}`);
      times.push(performance.now() - start);
      if (loaded.status !== 200 || used.status !== 200) throw new Error(`${loaded.text}${used.text}`);
    }
    cli.close();
    const warm = times.slice(1).sort((a, b) => a - b);
    return { cold: times[0], warm: warm[Math.floor(warm.length / 2)] };
  } finally {
    daemon.kill('SIGTERM');
    await new Promise((resolve) => daemon.on('exit', resolve));
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const top = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'vcl-load-'));
  chmodSync(top, 0o755);
  const ms = (n) => `${n.toFixed(1)} ms`.padStart(11);
  try {
    const ours = await measure('ours', [process.execPath, proxyd], join(top, 'ours'));
    console.log(`proxyd     cold ${ms(ours.cold)}   warm ${ms(ours.warm)}`);
    const theirs = await measure('theirs', ['varnishd'], join(top, 'theirs')).catch((e) => e);
    if (theirs instanceof Error) console.log(`Varnish's daemon did not run: ${theirs.message}`);
    else {
      console.log(`varnishd   cold ${ms(theirs.cold)}   warm ${ms(theirs.warm)}`);
      const factor = (what) => (theirs[what] / ours[what]).toFixed(1);
      console.log(`factor     cold ${factor('cold').padStart(8)}   warm ${factor('warm').padStart(11)}`);
    }
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
