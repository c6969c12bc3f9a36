// Varnish's own varnishadm, with a secret, against its daemon and ours: every command must have the same text and
// exit code. Then the protocol below it, byte by byte: output to a client before authentication, to many commands at
// once, to garbage.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../harness/origin.ts';
import { installed, run, Sandbox } from '../harness/processes.ts';
import { type Product, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { ADMIN_LINES, DIFFERENT, PROTOCOL_CASES, type ProtocolCase } from './admin-cases.ts';

const there = installed('varnishd') && installed('varnishadm');
if (!there) console.warn('differential tests skipped: varnishd and varnishadm are not installed');

const SECRET = 'a shared secret\n';

interface Side {
  proxy: RunningProxy;
  port: number;
  secretFile: string;
}

async function startSide(box: Sandbox, product: Product): Promise<Side> {
  const port = await freePort();
  const secretFile = box.path('secret');
  writeFileSync(secretFile, SECRET, { mode: 0o600 });
  const program = 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "1"; }\n';
  const args = ['-T', `127.0.0.1:${port}`, '-S', secretFile];
  const proxy = await startProxy(box, { product, program, args, asInstalled: true });
  writeFileSync(`${proxy.dir}.good.vcl`, 'vcl 4.1;\nbackend default { .host = "127.0.0.1"; .port = "2"; }\n');
  return { proxy, port, secretFile };
}

function normalise(text: string, { proxy, port }: Side): string {
  return (
    text
      .replaceAll(proxy.dir, 'DIR')
      .replaceAll(String(port), 'PORT')
      .replace(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'DATE')
      .replace(/\b1\d{9}(?:\.\d+)?\b/g, 'TIME')
      .replace(/-{29}\n[\s\S]*?CLI session\.\n(Type 'start'[^\n]*\n)?/g, 'BANNER\n')
      // vcl.list -j has one more word where Varnish has two.
      .replace(/,\n {4}"varnish_release": "[\d.]+"/g, '')
      .replace(/,\n {4}"state_temperature": "\w+\/\w+"(?=\n}[,\n])/g, '')
      .replace(/^200 \d+ +\n(?=BANNER)/gm, '200 \n')
  );
}

/** One run of Varnish's tool, by -T and -S. */
async function adm(
  side: Side,
  line: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { port, secretFile, proxy } = side;
  const text = line.replace('FILE', `${proxy.dir}.good.vcl`);
  // Its C compiler may take longer than the tool's five seconds; the tool then prints nothing and succeeds.
  const end = await run('varnishadm', ['-t', '60', '-T', `127.0.0.1:${port}`, '-S', secretFile, text], {
    timeout: 60_000,
  });
  return { code: end.code, stdout: normalise(end.stdout, side), stderr: normalise(end.stderr, side) };
}

const MARK = 'ping -j end-of-case\n';

/** Everything sent on one connection, up to the reply to a last command, or to its end. */
function exchange(side: Side, test: ProtocolCase): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(side.port, '127.0.0.1');
    let output = '';
    let challenge = '';
    const done = (how: string): void => {
      socket.destroy();
      clearTimeout(timer);
      resolve(`${normalise(output.replaceAll(challenge, 'CHALLENGE'), side)}${how}`);
    };
    const timer = setTimeout(() => done('TIMEOUT'), 15_000);
    socket.setEncoding('latin1').setNoDelay(true);
    socket.on('error', (cause: NodeJS.ErrnoException) =>
      cause.code === 'ECONNRESET' || cause.code === 'EPIPE' ? done('END') : reject(cause),
    );
    socket.on('end', () => done('END'));
    const send = async (): Promise<void> => {
      const pieces = test.bytes.length < 1000 ? test.bytes.split('|') : [test.bytes];
      for (const piece of pieces) {
        socket.write(piece, 'latin1');
        await new Promise((next) => setImmediate(next));
      }
      if (test.ends !== true) socket.write(MARK);
    };
    socket.on('data', (text: string) => {
      output += text;
      if (challenge === '' && output.length >= 45) {
        challenge = output.slice(13, 45);
        const hash = createHash('sha256').update(`${challenge}\n${SECRET}${challenge}\n`).digest('hex');
        if (test.before !== true) socket.write(`auth ${hash}\n`);
        void send();
      }
      if (/"end-of-case"\], [\d.]+, "PONG"\n\n\]\n\n$/.test(output)) done('MARK');
    });
  });
}

describe.skipIf(!there)('Varnish’s varnishadm', () => {
  const box = new Sandbox('proxyd-adm');
  let field: Side;
  let ours: Side;
  const answers: Awaited<ReturnType<typeof adm>>[][] = [];
  beforeAll(async () => {
    [field, ours] = await Promise.all([startSide(box, 'varnish'), startSide(box, 'proxyd')]);
    const ask = async (side: Side) => {
      const list = [];
      for (const line of ADMIN_LINES) list.push(await adm(side, line));
      return list;
    };
    answers.push(...(await Promise.all([ask(field), ask(ours)])));
  }, 240_000);
  afterAll(() => box.dispose());

  for (const [i, line] of ADMIN_LINES.entries()) {
    it(`gets the same answer from both: ${i}: ${line.split('\n')[0]}`, () => {
      const [theirs, own] = answers.map((list) => list[i]);
      expect(theirs, 'no answer').toBeDefined();
      if (DIFFERENT[line] === undefined) expect(own).toEqual(theirs);
      else expect([own?.code, own?.stderr]).toEqual([theirs?.code, theirs?.stderr]);
    });
  }

  it.each(
    PROTOCOL_CASES.map((test) => [`${test.before === true ? 'unknown: ' : ''}${test.name}`, test] as const),
  )('hears the same: %s', async (_name, test) => {
    const [theirs, own] = await Promise.all([exchange(field, test), exchange(ours, test)]);
    expect(own).toBe(theirs);
  });

  it('is refused with a wrong secret, by both', async () => {
    const wrong = box.path('wrong');
    writeFileSync(wrong, 'guess\n');
    const ends = await Promise.all(
      [field, ours].map((side) => run('varnishadm', ['-T', `127.0.0.1:${side.port}`, '-S', wrong, 'ping'])),
    );
    expect(ends.map(({ code, stdout, stderr }) => ({ code, stdout, stderr }))).toEqual(
      Array.from({ length: 2 }, () => ({ code: 2, stdout: '', stderr: 'Rejected 500\n\n' })),
    );
  });

  it('runs several at once', async () => {
    const lines = Array.from({ length: 12 }, (_, i) => `ping -j ${i}`);
    const output = await Promise.all(lines.map((line) => adm(ours, line)));
    expect(output.map((s) => s.stdout)).toEqual(
      lines.map((_, i) => `[ 2, ["ping", "-j", "${i}"], TIME, "PONG"\n\n]\n\n`),
    );
  });
});
