// The admin commands through Varnish's own tools and daemon and through ours: what is printed and the
// exit code must be the same, after ids, times, paths and the products' names are replaced.
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy, tool } from '../harness/proxy.ts';
import { type Answers, inputsOf, type Reference, recording } from './recording.ts';

const recorded = recording('commands');

/** Output of the client, line by line; admin-cases.ts has the commands themselves. In order: later lines depend on
 * earlier ones. FILE is a good program. */
const LINES = [
  'ping',
  'status',
  'no.such.command',
  'help ping',
  'help no.such',
  'vcl.list',
  'backend.list',
  'backend.list nothing.*',
  'ban.list',
  'ban req.url == /x',
  'ban req.nope == 1',
  'ban req.url ~ (',
  'ban',
  'vcl.load',
  'vcl.load one FILE',
  'vcl.load one FILE',
  'vcl.load none /no/such/file',
  'vcl.show one',
  'vcl.use one',
  'vcl.use boot',
  'vcl.discard one',
  'vcl.discard nope',
  'param.set default_ttl 7',
  'param.show default_ttl',
  'param.set default_ttl abc',
  'param.set default_ttl 1 2',
  'param.set cli_limit 128',
  `ping -j ${'x'.repeat(150)}`,
  'param.reset cli_limit',
  'param.show changed',
  'storage.list',
  'panic.show',
  'banner',
  '"unbalanced',
  'ping "a b',
  'auth x',
  'quit',
  'stop',
  'status',
  'backend.list',
  'start',
  'status',
];

type Answer = { code: number | null; stdout: string; stderr: string };

/** Lines by the name of their answer: some stand there more than once. */
const KEYS = LINES.map((line, i) => `${i}: ${line}`);

function normalise(text: string, dir: string): string {
  return text
    .replaceAll(dir, 'DIR')
    .replace(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
    .replace(/\b1\d{9}(?:\.\d+)?\b/g, 'TIME')
    .replace(/varnishd|proxyd/gi, 'DAEMON')
    .replace(/Varnish/g, 'NAME');
}

async function ask(box: Sandbox, product: Product): Promise<Answers<Answer>> {
  const proxy: RunningProxy = await startProxy(box, {
    product,
    asInstalled: true,
    program: 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "1"; }\n',
  });
  const file = `${proxy.dir}.good.vcl`;
  writeFileSync(file, 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "2"; }\n');
  const answers = new Map<string, Answer>();
  for (const [i, line] of LINES.entries()) {
    // Varnish's compiler may take longer than its tool's own timeout.
    const words = ['-n', proxy.dir, '-t', '60', line.replace('FILE', file)];
    const end = await tool(product, 'adm', words, { timeout: 60_000 });
    answers.set(KEYS[i] as string, {
      code: end.code,
      stdout: normalise(end.stdout, proxy.dir),
      stderr: normalise(end.stderr, proxy.dir),
    });
  }
  await proxy.stop();
  return answers;
}

/** Lines whose answers are meant to differ, with the reason; the exit code must be the same nevertheless. */
const MEANT: Record<string, string> = {
  'help ping': 'help texts are written anew',
  'param.show default_ttl': 'help texts are written anew',
  banner: 'names another product',
};

/** Not meant, only not yet gone: skipped with this note while they last. */
const OPEN: Record<string, string> = {
  'backend.list': 'columns are padded one blank less',
  'backend.list nothing.*': 'columns are padded one blank less',
  'vcl.load none /no/such/file': 'the line about the compiler process is missing',
};

describe('admin commands beside Varnish’s', () => {
  const box = new Sandbox('proxyd-cmd');
  let reference: Reference<Answer>;
  let ours: Answers<Answer>;
  beforeAll(async () => {
    [reference, ours] = await recorded.both(inputsOf('', KEYS), (product) => ask(box, product));
  }, 240_000);
  afterAll(() => box.dispose());

  for (const [i, line] of LINES.entries()) {
    const key = KEYS[i] as string;
    it(key, (context) => {
      const open = OPEN[line];
      if (open !== undefined && !isDeepStrictEqual(ours.get(key), reference.get(key)))
        context.skip(`open difference: ${open}`);
      if (MEANT[line] === undefined) expect(ours.get(key)).toEqual(reference.get(key));
      else expect(ours.get(key)?.code).toBe(reference.get(key).code);
    });
  }
});
