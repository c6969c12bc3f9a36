// Failures of ssh and of the remote shell: each has a message with cause, place and advice, nothing blocks forever,
// and the source reconnects when it can.
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ConnectionState } from '../../../console/client/source.ts';
import { parseVarnishTarget } from '../../../console/client/varnish-target.ts';
import { AskingShell } from '../../../console/varnish/asking-shell.ts';
import { FarShell, type ShellEnd, whyNothing } from '../../../console/varnish/far-shell.ts';
import { VarnishSource } from '../../../console/varnish/varnish-source.ts';
import { Sandbox, until } from '../../harness/processes.ts';

const box = new Sandbox('fake-ssh');
const { PATH } = process.env;
const open: VarnishSource[] = [];

const script = (name: string, text: string): void => {
  writeFileSync(join(box.dir, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(box.dir, 'bin', name), 0o755);
};

beforeAll(() => {
  mkdirSync(join(box.dir, 'bin'));
  script(
    'ssh',
    `while [ "$1" != -- ]; do shift; done
host=$2; command=$3; here=${box.dir}
fail() { echo "$1" >&2; exit 255; }
case $host in
  nohost) fail "ssh: Could not resolve hostname nohost: Name or service not known";;
  refused) fail "ssh: connect to host refused port 22: Connection refused";;
  far) fail "ssh: connect to host far port 22: No route to host";;
  ops@asks) fail "ops@asks: Permission denied (publickey,password).";;
  new) echo "No ED25519 host key is known for new." >&2; fail "Host key verification failed.";;
  closed) fail "Connection closed by 192.0.2.1 port 22";;
  nologin) echo "This account is currently not available."; exit 1;;
  bare) exec /bin/sh -c "$(printf %s "$command" | sed 's/PATH="[^"]*"/PATH=\\/nowhere/')";;
  silent) exec sleep 1000;;
  loud) echo "Welcome to loud"; echo "be careful" >&2;;
  drops) test -e $here/again || { exec 3<&0; /bin/sh -c "$command" <&3 & until test -e $here/cut; do sleep 0.05; done; kill $!; fail "client_loop: send disconnect: Broken pipe"; };;
esac
exec /bin/sh -c "$command"`,
  );
  script(
    'varnishstat',
    `case "$*" in *none*) echo "Could not get hold of varnishd, is it running?" >&2; exit 1;; *-V*) echo "varnishstat (varnish-6.0.8 revision x)";;
*) echo '{"timestamp": "t", "MAIN.uptime": {"flag": "c", "format": "d", "value": 5}}';; esac`,
  );
  script(
    'varnishadm',
    'case "$*" in *secret*) echo "Cannot open /etc/varnish/secret: Permission denied"; exit 2;; esac; echo help',
  );
  script('varnishlog', `case "$1" in -h) echo "[-u]"; exit 1;; *) printf 'VSL\\0'; exec sleep 1000;; esac`);
  process.env.PATH = `${join(box.dir, 'bin')}:${PATH}`;
});

afterEach(() => {
  for (const source of open.splice(0)) source.close();
});

afterAll(async () => {
  process.env.PATH = PATH;
  await box.dispose();
});

function connect(place: string): { source: VarnishSource; states: ConnectionState[] } {
  const source = new VarnishSource(parseVarnishTarget(place));
  open.push(source);
  const states: ConnectionState[] = [];
  const ignore = (): void => undefined;
  const connection = (state: ConnectionState): void => void states.push(state);
  source.start({ connection, counters: ignore, values: ignore, past: ignore, event: ignore });
  return { source, states };
}

it.each([
  [
    'nohost',
    'ssh nohost: Could not resolve hostname nohost: Name or service not known (check the name, or add it to ~/.ssh/config)',
  ],
  ['refused', /^ssh refused: connect to host refused port 22: Connection refused \(check that sshd listens/],
  ['far', /^ssh far: connect to host far port 22: No route to host \(check that it is up/],
  ['ops@asks', /^ssh ops@asks: .*Permission denied .* \(ssh cannot prompt here: .*try ssh by hand\)/],
  ['new', 'ssh new: Host key verification failed. (ssh cannot prompt here: try ssh by hand)'],
  ['closed', 'ssh closed: Connection closed by 192.0.2.1 port 22'],
  ['nologin', 'varnishstat on nologin ended: This account is currently not available.'],
  ['bare', /^varnishstat on bare is not found: Varnish is not installed, or its tools are not in the PATH/],
  [
    'web1/none',
    /^cannot read a Varnish on web1 under the name none: it is not running, or this needs root or the group varnish/,
  ],
])('says why there is nothing: %s', async (place, reason) => {
  const { states } = connect(`ssh://${place}`);
  const state = await until('an attempt', () => states.find((one) => one.state === 'waiting'));
  expect(state).toMatchObject({
    reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
  });
  // And tries again.
  await until('another', () => states.filter((one) => one.state === 'waiting').length > 1);
});

it('takes no greeting for an answer', async () => {
  const { source, states } = connect('ssh://loud');
  expect(await until('connected', () => states[0])).toMatchObject({ state: 'up', version: 'varnish-6.0.8' });
  expect(await source.command('status')).toEqual({ status: 200, body: 'help' });
});

it('reports which user may give commands', async () => {
  const { source, states } = connect('ssh://web1/secret');
  await until('connected', () => states[0]?.state === 'up');
  expect(await source.command('status')).toEqual({
    status: 0,
    body: 'varnishadm on web1 ended: Cannot open /etc/varnish/secret: Permission denied (the user who runs commands must be able to read this file)',
  });
});

it('comes back after a connection that broke off', async () => {
  const { states } = connect('ssh://drops');
  await until('connected', () => states[0]?.state === 'up');
  writeFileSync(join(box.dir, 'cut'), '');
  const lost = await until('lost', () => states[1]);
  expect(lost).toMatchObject({
    state: 'waiting',
    reason: 'ssh drops: client_loop: send disconnect: Broken pipe',
  });
  expect(existsSync(join(box.dir, 'again'))).toBe(false);
  writeFileSync(join(box.dir, 'again'), '');
  await until('connected again', () => states.at(-1)?.state === 'up');
});

it('gives up a connection, or a tool, that says nothing', async () => {
  const target = parseVarnishTarget('ssh://silent');
  const ends: ShellEnd[] = [];
  const end = (how: ShellEnd): void => void ends.push(how);
  new FarShell(target, 'cat', { data: () => undefined, end }, 0.1);
  await until('given up', () => ends[0]);
  expect(whyNothing(target, 'varnishstat', ends[0] as ShellEnd)).toBe('ssh silent: no answer in 0.1 s');
  const here = { host: '', port: '', name: '' };
  const shell = new AskingShell(here, () => 'while read -r line; do sleep 1000; done', 0.1, end);
  expect(await shell.ask('x')).toBeNull();
  expect(whyNothing(here, 'varnishstat', ends[1] as ShellEnd)).toBe('varnishstat: no answer in 0.1 s');
});

it.each([
  '-oProxyCommand=x',
  '-host',
  'a b',
  'a;b',
  'a$(b)',
  "a'b",
  'a`b`',
  'user@-host',
  '-user@host',
  'a/-n',
  'a/$(b)',
  "a/b'c",
  'a/b c',
])('refuses the place %s', (place) => {
  expect(() => parseVarnishTarget(`ssh://${place}`)).toThrow(/is not a /);
});
