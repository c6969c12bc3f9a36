// Starts what the bench measures, each pinned to one core with taskset: a bare net server, proxyd, and,
// where they are installed, varnishd and nginx as caches before the same origin. A started server is
// {name, port, pid, stop}; its CPU time is that of the whole process tree under pid.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

export const ROOT = new URL('../../../', import.meta.url).pathname;
/** The core of the server under test, and that of its load. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;
export const PROXYD = join(ROOT, 'dist/daemon/proxyd.js');
const PROXYADM = join(ROOT, 'dist/console/bin/proxyadm.js');

/** Full path of a program on the PATH or in the sbin folders, or null. */
export function find(program) {
  for (const dir of [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']) {
    if (dir !== '' && existsSync(join(dir, program))) return join(dir, program);
  }
  return null;
}

/** The binary of the recommended Node, from npm's package of that name; null where it cannot be had. */
export function newestNode() {
  const args = ['-y', '-p', `node@${process.env.NEWEST_NODE ?? '26'}`, 'node', '-p', 'process.execPath'];
  const { status, stdout } = spawnSync('npx', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? stdout.trim() : null;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function start(cpu, program, args, stdout = 'ignore', env = {}) {
  const child = spawn('taskset', ['-c', String(cpu), program, ...args], {
    stdio: ['ignore', stdout, 'pipe'],
    env: { ...process.env, ...env },
  });
  child.notes = '';
  child.stderr.on('data', (d) => {
    child.notes = `${child.notes}${d}`.slice(-4000);
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([gone, sleep(5000).then(() => child.kill('SIGKILL'))]);
}

/** A Node script that prints the port it listens on. */
export async function startScript(cpu, name, file, ...args) {
  const child = start(cpu, process.execPath, [join(ROOT, 'test/bench/servers', file), ...args], 'pipe');
  const port = await new Promise((resolve, reject) => {
    child.stdout.once('data', (d) => resolve(Number(String(d))));
    child.once('exit', () => reject(new Error(`${file} has ended`)));
  });
  return { name, port, pid: child.pid, stop: () => end(child) };
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Waits until a port accepts a connection; a long program takes Varnish's compiler a minute. */
async function accepts(name, child, port) {
  for (let i = 0; i < 4500; i++) {
    if (child.exitCode !== null) throw new Error(`${name} has ended with ${child.exitCode}: ${child.notes}`);
    const open = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await sleep(20);
  }
  throw new Error(`${name} does not listen on port ${port}`);
}

/** Arguments that name the origin: with `pass` nothing is cached, and with a text for it the text is the program. */
function program(dir, originPort, pass) {
  if (!pass) return ['-b', `127.0.0.1:${originPort}`];
  const file = join(dir, 'bench.vcl');
  const backend = `backend default { .host = "127.0.0.1"; .port = "${originPort}"; }`;
  const body = pass === true ? 'sub vcl_recv { return (pass); }' : pass;
  writeFileSync(file, `vcl 4.1;\n${backend}\n${body}\n`);
  return ['-f', file];
}

/**
 * @param cpu a number, or several as taskset takes them
 * @param env further environment of its processes
 * @param more further arguments
 * @param file the daemon of another checkout
 * @param node the runtime
 */
export async function startProxyd(
  cpu,
  dir,
  originPort,
  pass = false,
  storage = 'malloc,64m',
  env = {},
  more = [],
  file = PROXYD,
  node = process.execPath,
) {
  const work = join(dir, 'proxyd');
  mkdirSync(work, { recursive: true });
  const port = await freePort();
  const args = [file, '-F', '-n', work, '-a', `127.0.0.1:${port}`, ...program(dir, originPort, pass)];
  const child = start(cpu, node, [...args, '-s', storage, ...more], 'ignore', env);
  await accepts('proxyd', child, port);
  const adm = (...words) =>
    spawnSync(process.execPath, [PROXYADM, '-n', work, ...words], { encoding: 'utf8' });
  return { name: pass ? 'proxyd pass' : 'proxyd hit', port, pid: child.pid, stop: () => end(child), adm };
}

export async function startVarnish(cpu, dir, originPort, pass = false, storage = 'malloc,64m', more = []) {
  const varnishd = find('varnishd');
  if (varnishd === null) return null;
  const work = join(dir, 'varnish');
  mkdirSync(work);
  const port = await freePort();
  const source = program(dir, originPort, pass);
  const args = ['-j', 'none', '-F', '-n', work, '-a', `127.0.0.1:${port}`, ...source];
  const child = start(cpu, varnishd, [...args, '-s', storage, ...more]);
  await accepts('varnishd', child, port);
  return { name: pass ? 'varnishd pass' : 'varnishd hit', port, pid: child.pid, stop: () => end(child) };
}

/** Any program that will listen on this port. */
export async function startProgram(cpu, name, program, args, port) {
  const child = start(cpu, program, args);
  await accepts(name, child, port);
  return { name, port, pid: child.pid, stop: () => end(child) };
}

/**
 * @param tls `{cert, key}` of its listener; null for plain HTTP
 * @param http2Plain a port on which it speaks HTTP/2 in clear and nothing else; HTTP/2 is then offered over TLS, too
 * @param more further lines of its server
 */
export async function startNginx(cpu, dir, originPort, pass = false, tls = null, http2Plain = 0, more = '') {
  const nginx = find('nginx');
  if (nginx === null) return null;
  const work = join(dir, 'nginx');
  mkdirSync(work);
  const port = await freePort();
  const conf = join(work, 'nginx.conf');
  writeFileSync(
    conf,
    `worker_processes 1;
daemon off;
pid ${work}/nginx.pid;
error_log ${work}/error.log;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 16384; }
http {
  access_log ${work}/access.log;
  keepalive_requests 100000000;
  client_body_temp_path ${work}/body;
  proxy_temp_path ${work}/temp;
  fastcgi_temp_path ${work}/fcgi;
  uwsgi_temp_path ${work}/uwsgi;
  scgi_temp_path ${work}/scgi;
  proxy_cache_path ${work}/cache keys_zone=bench:16m;
  upstream origin {
    server 127.0.0.1:${originPort};
    keepalive 128;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=8192${tls === null ? '' : ' ssl'}${http2Plain === 0 ? '' : ' http2'};
    ${http2Plain === 0 ? '' : `listen 127.0.0.1:${http2Plain} http2; keepalive_timeout 600s; send_timeout 600s;`}
    ${tls === null ? '' : `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:tls:8m;`}
    ${more}
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      ${pass ? '' : 'proxy_cache bench;'}
    }
  }
}
`,
  );
  const child = start(cpu, nginx, ['-p', work, '-c', conf, '-e', join(work, 'error.log')]);
  await accepts('nginx', child, port).catch((cause) => {
    const log = existsSync(join(work, 'error.log')) ? readFileSync(join(work, 'error.log'), 'utf8') : '';
    throw new Error(`nginx: ${log}`, { cause });
  });
  return { name: pass ? 'nginx pass' : 'nginx hit', port, pid: child.pid, stop: () => end(child) };
}
