// goto: which addresses are reached, how often names are asked for, and what fails.
import { beforeEach, expect, it } from 'vitest';
import type { StateSteps } from '../../../../daemon/contract/context.ts';
import { type RunTimeDecl, State } from '../../../../daemon/contract/program.ts';
import { gotoExtension } from '../../../../daemon/extensions/goto/goto.ts';
import { runWaitingState } from '../../../../daemon/vcl/runtime/run-state.ts';
import { type Task, task } from '../../vcl/fake-task.ts';

let asked: string[];
let zone: Record<string, string[]>;
let made: RunTimeDecl[];

beforeEach(() => {
  asked = [];
  made = [];
  zone = { 'a.test': ['10.1.0.1', '192.0.2.1'], 'odd.test': ['::ffff:10.0.0.1', '127.0.0.1'] };
});

const extension = gotoExtension(async (name) => {
  asked.push(name);
  await new Promise((go) => setImmediate(go));
  const found = zone[name];
  if (found === undefined) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' });
  return found;
});

function start(args: string): Task {
  const text = `vcl 4.1; import goto; acl ok { "192.0.2.0"/24; "10.0.0.0"/8; ! "10.1.0.0"/16; } backend d none;
    sub vcl_backend_fetch { set bereq.backend = goto.dns_backend(${args}); return (fetch); }`;
  const t = task(text, {}, { extensions: (name) => (name === 'goto' ? extension : undefined) });
  t.program.makeBackend = (decl) => {
    made.push(decl);
    return t.program.directors.get('d') ?? (null as never);
  };
  return t;
}

async function run(t: Task): Promise<string> {
  t.ctx.req = null;
  t.ctx.bo = t.bo;
  const before = t.log.of('VCL_Error').length;
  made = [];
  const steps = t.program.waiting[State.backend_fetch] as StateSteps;
  await new Promise<void>((resolve) => {
    if (runWaitingState(t.program, State.backend_fetch, steps, t.ctx, () => resolve()) !== null) resolve();
  });
  const [decl] = made;
  t.ctx.failure = null;
  return decl === undefined
    ? `! ${t.log.of('VCL_Error').slice(before).join()}`
    : `${decl.host} ${decl.port} ${decl.hostHeader}`;
}

it.each([
  ['"A.test", ok', '192.0.2.1 80 a.test'],
  ['"a.test", ok, "8080"', '192.0.2.1 8080 a.test'],
  ['"192.0.2.9", ok', '192.0.2.9 80 192.0.2.9'],
  ['"odd.test", ok', '::ffff:10.0.0.1 80 odd.test'],
  ['"127.0.0.1", ok', '! "127.0.0.1" has no address that ok allows'],
  ['"10.1.0.1", ok', '! "10.1.0.1" has no address that ok allows'],
  ['"::ffff:127.0.0.1", ok', '! "::ffff:127.0.0.1" has no address that ok allows'],
  ['"::ffff:7f00:1", ok', '! "::ffff:7f00:1" has no address that ok allows'],
  ['"b.test", ok', '! "b.test" has no address (ENOTFOUND)'],
  ['"a b", ok', '! "a b" is not a valid host name'],
  ['"a.test", ok, "http"', '! "http" is not a valid port'],
])('%s', async (args, wanted) => {
  expect(await run(start(args))).toContain(wanted);
});

it('asks once for a name in its time, and keeps what it had while lookups fail', async () => {
  const t = start('"a.test", ok');
  await run(t);
  await run(t);
  expect(asked).toEqual(['a.test']);
  const always = start('"a.test", ok, ttl = 0s');
  await run(always);
  zone = {};
  expect(await run(always)).toBe('192.0.2.1 80 a.test');
  expect(asked.length).toBe(3);
  zone = { 'a.test': ['192.0.2.2'] };
  expect(await run(always)).toBe('192.0.2.2 80 a.test');
});
