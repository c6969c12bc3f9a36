// Messages of a daemon in the background, and their destinations: syslog, the file of --log-file, and its starter.
// syslog is simulated in a mount namespace, so that the machine's /dev is not touched.
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { alive, findProgram, processTree, run, Sandbox, until } from '../harness/processes.ts';
import { command, tool } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-messages');
afterAll(() => box.dispose());

const missing = ['unshare', 'logger', 'python3'].filter((program) => findProgram(program) === null);
const playable = process.getuid?.() === 0 && missing.length === 0;
if (!playable) console.warn(`the system's log is not played: it takes root, unshare, logger and python3`);

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const pid = async (dir: string, which: 'Master' | 'Worker'): Promise<number> => {
  const { stdout } = await tool('proxyd', 'adm', ['-n', dir, 'pid']);
  return Number(new RegExp(`${which}: +(\\d+)`).exec(stdout)?.[1]);
};

const end = async (manager: number): Promise<void> => {
  const tree = processTree(manager);
  process.kill(manager, 'SIGTERM');
  await until('all processes gone', () => tree.every((each) => !alive(each)));
};

describe('a daemon in the background', () => {
  it('reports the death of a worker in the file of --log-file, also after a rotation', async () => {
    const dir = box.path('file');
    const log = `${dir}.log`;
    const args = ['-n', dir, '-a', '127.0.0.1:0', '-b', 'none', '--log-file', log];
    expect(await tool('proxyd', 'daemon', args)).toMatchObject({ code: 0, stderr: '' });
    const manager = await pid(dir, 'Master');
    box.adopt(manager);
    expect(statSync(log).mode & 0o777).toBe(0o640 & ~process.umask());
    expect(read(log)).toMatch(/ Info: Child launched OK\n$/);
    renameSync(log, `${log}.1`);
    process.kill(manager, 'SIGHUP');
    await until('a new file', () => existsSync(log));
    const worker = await pid(dir, 'Worker');
    process.kill(worker, 'SIGKILL');
    await until('the report', () => read(log).includes('launched OK'));
    expect(read(log)).toContain(` Error: Child (${worker}) died signal=9 (SIGKILL); restarted at once\n`);
    expect(read(`${log}.1`)).not.toContain('died');
    await end(manager);
    expect(read(log)).toMatch(/ Info: manager dies\n$/);
  });

  it('does not start with a file that it cannot write to', async () => {
    const dir = box.path('none');
    const args = ['-n', dir, '-a', '127.0.0.1:0', '-b', 'none', '--log-file', `${dir}/x/log`];
    const start = await tool('proxyd', 'daemon', args);
    expect(start.code).toBe(2);
    expect(start.stderr).toMatch(
      /^Error: --log-file: Cannot open '.*': No such file or directory \(name a file/,
    );
  });

  it.skipIf(!playable)(
    "reports it in the system's log, and says at its start where there is none",
    async () => {
      const dir = box.path('syslog');
      const [program, lead] = command('proxyd', 'daemon');
      const adm = command('proxyd', 'adm');
      const got = `${dir}.got`;
      const listener = `${dir}.py`;
      writeFileSync(
        listener,
        `import socket
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind('/dev/log')
s.settimeout(150)
f = open('${got}', 'ab', 0)
while True: f.write(s.recv(65536) + b'\\n')
`,
      );
      const daemon = [program, ...lead, '-n', dir, '-a', '127.0.0.1:0', '-b', 'none'].join(' ');
      const ask = [adm[0], ...adm[1], '-n', dir].join(' ');
      const script = `set -e
mkdir ${dir}.dev; mount -t tmpfs none ${dir}.dev; mkdir ${dir}.dev/shm
cp -a /dev/null /dev/zero /dev/random /dev/urandom /dev/fd ${dir}.dev/
mount --bind /dev/shm ${dir}.dev/shm; mount --rbind ${dir}.dev /dev
pid() { ${ask} pid | sed -n "s/$1: *//p"; }
gone() { for i in $(seq 600); do kill -0 $1 2> /dev/null || return 0; sleep 0.1; done; }
${daemon}; echo started without; manager=$(pid Master); kill $manager; gone $manager
python3 ${listener} & listener=$!
for i in $(seq 600); do test -S /dev/log && break; sleep 0.1; done
${daemon}; echo started with 1>&2
manager=$(pid Master); kill -9 $(pid Worker)
for i in $(seq 600); do test $(grep -c "launched OK" ${got}) = 2 && break; sleep 0.1; done
kill $manager; gone $manager; kill $listener`;
      const args = ['-m', '--propagation', 'private', 'sh', '-c', script];
      const { stderr, code } = await run('unshare', args, { timeout: 150_000 });
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /^Warning: nothing can be logged in the background: there is no \/dev\/log .*--log-file.*\nstarted with\n/,
      );
      const messages = read(got).replace(/^(<\d+>)\w{3} [ \d]\d [\d:]{8} proxyd\[\d+\]: /gm, '$1');
      expect(messages).toMatch(/^<131>Child \(\d+\) died signal=9 \(SIGKILL\); restarted at once$/m);
      expect(messages.match(/^<134>Child launched OK$/gm)).toHaveLength(2);
      expect(messages).toMatch(/<134>manager dies\n$/);
    },
  );
});
