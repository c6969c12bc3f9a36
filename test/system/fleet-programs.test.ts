// Programs of a fleet over a real nats-server: given to one node they are loaded by all, with the files that they include,
// and chosen for all at once or for some first. Black box: only dist/ and its commands.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FleetNames } from '../../daemon/fleet/fleet-names.ts';
import { NATS_MISSING, NatsServer, startCluster } from '../harness/nats-server.ts';
import { Sandbox, until } from '../harness/processes.ts';
import { ROOT, type RunningProxy, startProxy } from '../harness/proxy.ts';

const box = new Sandbox('proxyd-fleet-programs');
const folder = box.path('files');
const names = new FleetNames('shop');
let nats: NatsServer;
let vmods = '';
const running = new Map<string, RunningProxy>();

const page = (text: string): string => `set resp.body = ${text}; return (deliver);`;
const PROGRAM = (text: string, head = ''): string => `vcl 4.1;
${head}
backend default none;
sub vcl_recv { return (synth(200)); }
sub vcl_synth { ${page(text)} }
`;

/** Writes a program with the files that it includes, and gives its name. */
function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function node(name: string, urls = nats.url, ...args: string[]): Promise<RunningProxy> {
  const proxy = await startProxy(box, {
    program: PROGRAM('"boot"'),
    dir: box.path(name),
    params: { vmod_path: name === 'c' ? '/nowhere' : vmods },
    args: ['--fleet', urls, '--fleet-name', 'shop', '--node', name, ...args],
  });
  running.set(name, proxy);
  return proxy;
}
const at = (name: string): RunningProxy => running.get(name) as RunningProxy;

/** Status 0 or 1, and the text. */
async function adm(name: string, ...words: string[]): Promise<string> {
  const { code, stdout } = await at(name).adm(...words);
  return `${code === 0 ? 'ok' : 'no'} ${stdout}`.trimEnd();
}
async function rows(name: string, command: string): Promise<Record<string, unknown>[]> {
  return (JSON.parse((await at(name).adm(command, '-j')).stdout) as unknown[]).slice(3) as Record<
    string,
    unknown
  >[];
}
const row = async (name: string, program: string): Promise<Record<string, unknown> | undefined> =>
  (await rows(name, 'fleet.list')).find((each) => each.name === program);
async function pages(...of: string[]): Promise<string[]> {
  return Promise.all(of.map(async (name) => (await at(name).get('/')).body.toString()));
}
async function ends(name: string): Promise<void> {
  await at(name).stop();
  running.delete(name);
}

describe.skipIf(NATS_MISSING !== null)(
  `programs of a fleet${NATS_MISSING === null ? '' : ` (skipped: ${NATS_MISSING})`}`,
  () => {
    beforeAll(async () => {
      nats = await NatsServer.start(box);
      vmods = box.path('vmods');
      mkdirSync(vmods);
      copyFileSync(join(ROOT, 'daemon/extensions/template/greeting.mjs'), join(vmods, 'greeting.mjs'));
      for (const name of ['a', 'b', 'c']) await node(name);
      await Promise.all([...running.values()].map((proxy) => proxy.counterReaches('FLEET.nodes', 3)));
    });
    afterAll(async () => {
      await box.dispose();
    });

    it('is loaded by all with what it includes, and used by all at once', async () => {
      file('one/part.vcl', 'sub part { set resp.http.x = "part"; }');
      file('one/more/a.vcl', 'sub more_a { set resp.http.a = "a"; }');
      file('one/more/b.vcl', 'sub more_b { set resp.http.b = "b"; }');
      const main = file(
        'one/main.vcl',
        PROGRAM('"one"', 'include "./part.vcl"; include +glob "./more/*.vcl"; include "invalidate.vcl";')
          .replace('sub vcl_synth {', 'sub vcl_synth { call part; call more_a; call more_b;')
          .replace('backend', 'acl invalidators { "127.0.0.1"; } backend'),
      );
      expect(await adm('a', 'fleet.load', 'one', main)).toBe('ok Fleet: stored one, loaded by 3 of 3 nodes');
      // No node needs the files any more.
      rmSync(join(folder, 'one'), { recursive: true });
      expect(await adm('b', 'fleet.use', 'one')).toBe('ok Fleet: one is in use by 3 of 3 nodes');
      expect(await pages('a', 'b', 'c')).toEqual(['one', 'one', 'one']);
      const stored = await row('c', 'one');
      expect(stored).toMatchObject({
        status: 'active',
        by: 'a',
        loaded: 3,
        nodes: 3,
        missing: [],
        problem: null,
      });
      expect((stored as { files: { name: string }[] }).files.map((each) => each.name)).toEqual([
        join(folder, 'one/main.vcl'),
        join(folder, 'one/part.vcl'),
        join(folder, 'one/more/a.vcl'),
        join(folder, 'one/more/b.vcl'),
        'proxyd:invalidate.vcl',
      ]);
      expect(await adm('c', 'vcl.list')).toMatch(/active .* one$/m);
      expect(await adm('c', 'fleet.list')).toMatch(/^ok Name .*\none +active +3 of 3 +a /);
    });

    it('is tried on some nodes first', async () => {
      await adm('a', 'fleet.load', 'two', file('two.vcl', PROGRAM('"two"')));
      expect(await adm('a', 'fleet.use', 'two', '--on', 'b')).toBe('ok Fleet: two is in use by 1 of 1 node');
      expect(await pages('a', 'b', 'c')).toEqual(['one', 'two', 'one']);
      expect(await row('a', 'two')).toMatchObject({ status: 'canary', on: ['b'] });
      expect(await adm('a', 'fleet.discard', 'two')).toBe('no two is the canary on b');
      expect(await adm('a', 'fleet.use', 'two', '--on', 'x,b')).toBe(
        'no Not used: no node of the fleet that takes programs is called x',
      );
      expect(await adm('a', 'fleet.use', 'one')).toBe('ok Fleet: one is in use by 3 of 3 nodes');
      expect(await pages('b')).toEqual(['one']);
      expect(await adm('a', 'fleet.discard', 'two')).toBe('ok');
      await expect.poll(() => adm('c', 'vcl.list')).not.toMatch(/two/);
    });

    it('is stored with a remark of the compiler on a file that it includes', async () => {
      file('socket.vcl', 'backend socket { .path = "/nowhere/socket"; }');
      const main = file(
        'noted.vcl',
        PROGRAM('"noted"', 'include "./socket.vcl";').replace('backend default none;', ''),
      );
      expect(await adm('a', 'fleet.load', 'noted', main)).toMatch(
        /^ok .*socket\.vcl' .*\(That was just a warning\)\nFleet: stored noted, loaded by 3 of 3 nodes$/s,
      );
      expect(await adm('b', 'fleet.discard', 'noted')).toBe('ok');
    });

    it('is not stored when it is no program, is too long, or has the name of another', async () => {
      const bad = await adm(
        'a',
        'fleet.load',
        'bad',
        file('bad.vcl', 'vcl 4.1;\nbackend default none;\nsub vcl_recv { nonsense; }'),
      );
      expect(bad).toMatch(/^no .*nonsense.*VCL compilation failed$/s);
      expect(await adm('a', 'fleet.use', 'bad')).toBe('no The fleet has no program named bad');
      const long = file('long.vcl', `${PROGRAM('"long"')}\n# ${'x'.repeat(600_000)}\n`);
      expect(await adm('a', 'fleet.load', 'long', long)).toMatch(
        /^no long and what it includes take \d+ bytes as a message: the maximum is 524288$/,
      );
      expect(await adm('a', 'fleet.load', 'one', file('again.vcl', PROGRAM('"again"')))).toMatch(
        /^no The fleet has a program named one already/,
      );
      expect(await adm('a', 'fleet.load', 'no.name', join(folder, 'again.vcl'))).toMatch(
        /^no "no\.name" is not a name/,
      );
      expect(await adm('a', 'fleet.load', 'none', '/no/such/file')).toMatch(
        /^no Message from VCC-compiler:\nCannot read/,
      );
      expect((await rows('b', 'fleet.list')).map(({ name }) => name)).toEqual(['one']);
    });

    it("waits for a node that cannot load it, and shows that node's own error", async () => {
      const main = file(
        'ext.vcl',
        PROGRAM('"ext"', 'import greeting;').replace(
          'sub vcl_synth {',
          'sub vcl_synth { set resp.http.x = greeting.greet("you");',
        ),
      );
      const loaded = await adm('a', 'fleet.load', 'ext', main);
      expect(loaded).toMatch(/^ok Fleet: stored ext, loaded by 2 of 3 nodes\nc: .*greeting/s);
      // Each node learns of it by a message of its own.
      await until('b knows of it', async () =>
        JSON.stringify((await row('b', 'ext'))?.missing ?? []).includes('greeting'),
      );
      expect(await adm('b', 'fleet.use', 'ext')).toMatch(
        /^no Not used: ext is not loaded everywhere\nc: Message from VCC-compiler:\n.*greeting.*VCL compilation failed$/s,
      );
      expect(await pages('a', 'b', 'c')).toEqual(['one', 'one', 'one']);
      expect(await adm('b', 'fleet.use', 'ext', '--force')).toMatch(
        /^ok Fleet: ext is in use by 2 of 3 nodes\nc: it could not be loaded$/,
      );
      expect(await pages('a', 'b', 'c')).toEqual(['ext', 'ext', 'one']);
      await expect
        .poll(async () => (await rows('a', 'fleet.nodes'))[2])
        .toMatchObject({ node: 'c', program: 'one', wanted: 'ext', own_program: true });
      // The missing part arrives.
      await at('c').adm('param.set', 'vmod_path', vmods);
      await expect.poll(() => pages('c'), { interval: 500 }).toEqual(['ext']);
    });

    it('a node may use another until the next choice, and reports it', async () => {
      expect(await adm('a', 'vcl.use', 'boot')).toBe(
        "ok VCL 'boot' now active\nFleet: on this node only, until the next fleet.use; the fleet has chosen ext",
      );
      expect(await pages('a', 'b')).toEqual(['boot', 'ext']);
      await expect
        .poll(async () => (await rows('b', 'fleet.nodes')).find((each) => each.node === 'a'))
        .toMatchObject({ program: 'boot', wanted: 'ext', own_program: true });
      expect(await adm('a', 'fleet.nodes')).toMatch(/boot \(not ext\)/);
      expect(await adm('b', 'fleet.use', 'ext')).toBe('ok Fleet: ext is in use by 3 of 3 nodes');
      expect(await pages('a')).toEqual(['ext']);
      await adm('a', 'vcl.use', 'boot');
      expect(await adm('a', 'vcl.use', 'ext')).toBe("ok VCL 'ext' now active");
    });

    it('of two concurrent choices one is refused', async () => {
      await adm('a', 'fleet.load', 'left', file('left.vcl', PROGRAM('"left"')));
      await adm('a', 'fleet.load', 'right', file('right.vcl', PROGRAM('"right"')));
      const output = await Promise.all([adm('a', 'fleet.use', 'left'), adm('b', 'fleet.use', 'right')]);
      const [loser, winner] = output[0]?.startsWith('no') ? ['left', 'right'] : ['right', 'left'];
      expect(output.sort()[0]).toMatch(
        /^no (Not used: another operator has just chosen \w+, on [ab]|\w+ was chosen, and then \w+, on [ab])$/,
      );
      await expect.poll(() => pages('a', 'b', 'c')).toEqual([winner, winner, winner]);
      expect(await adm('a', 'fleet.discard', loser as string)).toBe('ok');
      await adm('a', 'fleet.use', 'one');
    });

    it('is loaded by a node that joins or comes back before it serves anything', async () => {
      await node('d');
      expect(await pages('d')).toEqual(['one']);
      expect(at('d').daemon.stderr).toMatch(/Fleet: using one, chosen on a/);
      await ends('d');
      await adm('a', 'fleet.load', 'three', file('three.vcl', PROGRAM('"three"')));
      // A node that has left is not waited for.
      expect(await adm('a', 'fleet.use', 'three')).toBe('ok Fleet: three is in use by 3 of 3 nodes');
      await node('d');
      expect(await pages('d')).toEqual(['three']);
      // A worker that dies is replaced by one that runs the same.
      const pid = at('d').workerPid();
      process.kill(pid as number, 'SIGKILL');
      await until('another worker', async () => {
        const next = at('d').workerPid();
        return next !== null && next !== pid && (await pages('d').catch(() => null)) !== null ? next : null;
      });
      expect(await pages('d')).toEqual(['three']);
      await ends('d');
    });

    it('is not taken by a node that takes invalidations only, and nobody waits for it', async () => {
      await node('e', nats.url, '--fleet-accept', 'invalidate');
      expect(await pages('e')).toEqual(['boot']);
      await at('a').counterReaches('FLEET.nodes', 4);
      expect(await adm('a', 'fleet.use', 'one')).toBe('ok Fleet: one is in use by 3 of 3 nodes');
      expect(await pages('e')).toEqual(['boot']);
      expect(await adm('a', 'fleet.use', 'one', '--on', 'e')).toMatch(/^no Not used: no node/);
      for (const command of ['fleet.load x /x', 'fleet.use one', 'fleet.discard one', 'fleet.list'])
        expect(await adm('e', ...command.split(' '))).toMatch(
          /^no This node takes no programs from the fleet/,
        );
      const shown = (await rows('e', 'fleet.nodes'))[0];
      expect(shown).toMatchObject({ node: 'e', accept: 'invalidate', program: 'boot' });
      expect(shown?.programs).toBe(undefined);
      expect(await adm('a', 'ban', 'obj.status', '==', '1')).toMatch(
        /^ok Fleet: stored \d+, applied by 4 of 4 nodes$/,
      );
      await ends('e');
    });

    it('that was changed on the bus is refused', async () => {
      const client = await nats.client();
      const kv = await new Kvm(client).open(names.programs);
      const entry = await kv.get('program.three');
      const bundle = JSON.parse(entry?.string() ?? '') as { files: { text: string }[] };
      (bundle.files[0] as { text: string }).text = PROGRAM('"evil"');
      await kv.put('program.three', JSON.stringify(bundle));
      await expect
        .poll(async () => (await row('b', 'three'))?.problem)
        .toMatch(/three\.vcl does not have the hash that is stored with it$/);
      expect(await adm('a', 'fleet.use', 'three')).toMatch(/^no three is refused: .* does not have the hash/);
      // Other values that are none, and more of them than are taken.
      for (const [key, text] of [
        ['active', '{"v":1,"all":{"name":"three"},"canary":null}'],
        ['active', 'nonsense'],
        ['program.four', '{"v":1}'],
        ['program.five', 'x'.repeat(500_000)],
        ['other', '{}'],
      ] as const)
        await kv.put(key, text);
      for (let i = 0; i < 40; i++) await kv.put(`program.z${i}`, `{"v":1,"name":"z${i}","files":[]}`);
      await expect.poll(async () => (await rows('b', 'fleet.list')).length).toBe(32);
      expect(await pages('a', 'b', 'c')).toEqual(['one', 'one', 'one']);
      expect((await at('a').counters())['MGT.child_died']).toBe(0);
      await client.close();
    });

    it('stays on the nodes when the bucket is gone, and can be stored again', async () => {
      const client = await nats.client();
      const jsm = await jetstreamManager(client);
      await jsm.streams.delete(`KV_${names.programs}`);
      await client.close();
      await expect.poll(() => rows('a', 'fleet.list')).toEqual([]);
      expect(await pages('a', 'b', 'c')).toEqual(['one', 'one', 'one']);
      expect(at('a').daemon.stderr).toMatch(
        /Fleet: the programs are gone from the bus; this node keeps its own/,
      );
      const main = file('six.vcl', PROGRAM('"six"'));
      await until('the bucket', async () =>
        (await adm('a', 'fleet.load', 'six', main)).startsWith('ok') ? true : null,
      );
      await expect.poll(async () => (await row('b', 'six'))?.loaded).toBe(3);
      expect(await adm('b', 'fleet.use', 'six')).toBe('ok Fleet: six is in use by 3 of 3 nodes');
      expect(await pages('a', 'b', 'c')).toEqual(['six', 'six', 'six']);
    });

    it('without a bus a node serves its own program, and takes the one of the fleet when it comes', async () => {
      await nats.kill();
      await until('the bus is missed', async () =>
        (await rows('a', 'fleet.nodes'))[0]?.state === 'away' ? true : null,
      );
      expect(await adm('a', 'fleet.use', 'six')).toBe('no The bus is not connected: nothing was changed.');
      expect(await adm('a', 'fleet.load', 'y', file('y.vcl', PROGRAM('"y"')))).toBe(
        'no The bus is not connected: nothing was changed.',
      );
      await node('d');
      expect(await pages('d', 'a')).toEqual(['boot', 'six']);
      await nats.start();
      await expect.poll(() => pages('d')).toEqual(['six']);
      // All of them continue.
      for (const proxy of running.values())
        await until('it is back', async () => (await proxy.counters())['FLEET.nodes'] === 4 || null);
      const main = join(folder, 'y.vcl');
      expect(await adm('d', 'fleet.load', 'y', main)).toBe('ok Fleet: stored y, loaded by 4 of 4 nodes');
      expect(await adm('c', 'fleet.use', 'y')).toBe('ok Fleet: y is in use by 4 of 4 nodes');
      expect(await pages('a', 'b', 'c', 'd')).toEqual(['y', 'y', 'y', 'y']);
    });

    it('goes over a cluster of servers, of which one may fail', async () => {
      await Promise.all([...running.values()].map((proxy) => proxy.stop()));
      running.clear();
      const servers = await startCluster(box);
      const urls = servers.map(({ url }) => url).join(',');
      await Promise.all(['a', 'b'].map((name) => node(name, urls)));
      await Promise.all([...running.values()].map((proxy) => proxy.counterReaches('FLEET.nodes', 2)));
      const load = (name: string): Promise<string> =>
        adm('a', 'fleet.load', name, file(`${name}.vcl`, PROGRAM(`"${name}"`)));
      // The bucket is made in three copies, which takes a while.
      await until('the bucket', async () => (await load('eight')).startsWith('ok') || null);
      expect(await adm('b', 'fleet.use', 'eight')).toBe('ok Fleet: eight is in use by 2 of 2 nodes');
      await servers[0]?.kill();
      await until('another leader', async () => (await load('nine')).startsWith('ok') || null);
      await until('it is used', async () => (await adm('b', 'fleet.use', 'nine')).startsWith('ok') || null);
      await expect.poll(() => pages('a', 'b')).toEqual(['nine', 'nine']);
    });
  },
);
