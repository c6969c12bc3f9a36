// The paywall's decisions without a proxy: what each mark, cookie and answer gives, and what a cookie cannot do.
import { expect, it } from 'vitest';
import { OwnState } from '../../../../daemon/contract/own-state.ts';
import { Authority } from '../../../../daemon/extensions/paywall/authority.ts';
import { Gate, type GateSettings, type Verdict } from '../../../../daemon/extensions/paywall/paywall-gate.ts';
import { readToken, sealToken } from '../../../../daemon/extensions/paywall/reader-token.ts';
import {
  type Question,
  type Service,
  type ServiceAnswer,
  ServiceFailure,
} from '../../../../daemon/extensions/paywall/service-call.ts';
import { ServiceMemory } from '../../../../daemon/extensions/paywall/service-memory.ts';

const KEY = Buffer.alloc(32, 7);
const SETTINGS: GateSettings = { name: 'pw', key: KEY, free: 2, period: 1000, onError: 'deny' };
const NOW = 1_800_000_000;

type Script = (question: Question) => ServiceAnswer;
const down: Script = () => {
  throw new ServiceFailure('down');
};
const serviceOf = (script: Script, asked: Question[] = []) => ({
  ask: async (question: Question) => {
    asked.push(question);
    await new Promise((go) => setImmediate(go));
    return script(question);
  },
  close: () => undefined,
});
const authorityOf = (service: Service, state = new OwnState(), clock?: () => number) =>
  new Authority(service, new ServiceMemory(state, 'gate'), 60, clock);
const gateOf = (script: Script | null, more: Partial<GateSettings> = {}, state = new OwnState()) =>
  new Gate({ ...SETTINGS, ...more }, script === null ? null : authorityOf(serviceOf(script), state), state);
const asked = (protection: string, cookie = '', session = '', now = NOW) => ({
  cookie,
  protection,
  session,
  now,
});
const sent = (verdict: Verdict): string => `other=1; pw=${verdict.cookie?.text}`;
const output =
  (access: ServiceAnswer['access'], seconds = 0): Script =>
  () => ({ access, user: 'u', seconds });

it.each<[string, Script | null, string, string, boolean, string]>([
  ['no mark', down, '', 's', true, 'open'],
  ['two marks', output('allow'), 'metered, subscribers', 's', false, 'unknown'],
  ['a metered page', output('deny'), ' Metered ', '', true, 'metered'],
  ['a metered page without a service', null, 'metered', 's', true, 'metered'],
  ['no session', output('allow'), 'subscribers', '', false, 'login'],
  ['no service', null, 'subscribers', 's', false, 'login'],
  ['allow', output('allow'), 'subscribers', 's', true, 'allowed'],
  ['deny', output('deny'), 'metered', 's', false, 'denied'],
  ['metered', output('metered'), 'subscribers', 's', true, 'metered'],
  ['a service that is down', down, 'metered', 's', false, 'unavailable'],
])('%s', async (_name, script, protection, session, mayRead, reason) => {
  expect(await gateOf(script).check(asked(protection, '', session))).toMatchObject({ mayRead, reason });
});

it('counts views in a period, and an older cookie does not help', async () => {
  const gate = gateOf(null);
  const one = await gate.check(asked('metered'));
  const two = await gate.check(asked('metered', sent(one), '', NOW + 10));
  expect([one.remaining, two.remaining]).toEqual([1, 0]);
  expect(await gate.check(asked('metered', sent(two), '', NOW + 20))).toMatchObject({
    mayRead: false,
    reason: 'spent',
  });
  expect(await gate.check(asked('metered', sent(one), '', NOW + 20))).toMatchObject({ reason: 'spent' });
  // Another worker knows the cookie alone.
  expect(await gateOf(null).check(asked('metered', sent(one), '', NOW + 20))).toMatchObject({
    reason: 'metered',
  });
  const later = await gate.check(asked('metered', sent(two), '', NOW + 1000));
  expect([later.reason, later.remaining, later.cookie?.seconds]).toEqual(['metered', 1, 1000]);
});

it('counts the views of a reader for the gates of all threads', async () => {
  const state = new OwnState();
  const [one, other] = [gateOf(null, {}, state), gateOf(null, {}, state)];
  const first = await one.check(asked('metered'));
  expect((await other.check(asked('metered', sent(first)))).remaining).toBe(0);
  expect(await one.check(asked('metered', sent(first)))).toMatchObject({ mayRead: false, reason: 'spent' });
});

it('keeps an entitlement in the cookie for its session, its mark and its time', async () => {
  const first = await gateOf(output('allow', 100)).check(asked('subscribers', '', 's'));
  expect(first.cookie?.seconds).toBe(100);
  const reasonOf = async (...args: Parameters<typeof asked>) =>
    (await gateOf(down).check(asked(...args))).reason;
  expect(await reasonOf('subscribers', sent(first), 's', NOW + 99)).toBe('entitled');
  expect(await reasonOf('subscribers', sent(first), 's', NOW + 100)).toBe('unavailable');
  expect(await reasonOf('subscribers', sent(first), 't')).toBe('unavailable');
  expect(await reasonOf('subscribers', sent(first))).toBe('login');
  expect(await reasonOf('gold', sent(first), 's')).toBe('unavailable');
});

it('reads no cookie that was changed anywhere, cut, expired, or made for another gate', () => {
  const token = { id: 'x', start: NOW, count: 2, entitlement: null, expires: NOW + 50 };
  const text = sealToken(token, 'pw', KEY);
  const read = (value: string, name = 'pw', key = KEY, now = NOW) =>
    readToken(`${name}=${value}`, name, key, now);
  expect(read(text)).toEqual(token);
  expect(readToken(`pw=junk; pw=${text}`, 'pw', KEY, NOW)).toEqual(token);
  expect(readToken(`${'pw=junk; '.repeat(4)}pw=${text}`, 'pw', KEY, NOW)).toBe(null);
  for (let i = 0; i < text.length; i++) {
    expect(read(text.slice(0, i))).toBe(null);
    // The last character of base64 has bits that mean nothing; they change nothing either.
    if (i === text.length - 1) continue;
    const other = text[i] === 'A' ? 'B' : 'A';
    expect(read(text.slice(0, i) + other + text.slice(i + 1)), `at ${i}`).toBe(null);
  }
  expect(read(text, 'pw', KEY, NOW + 50)).toBe(null);
  expect(read(text, 'other')).toBe(null);
  expect(read(text, 'pw', Buffer.alloc(32, 8))).toBe(null);
  expect(read(`${text}.more`)).toBe(null);
});

it('asks once at a time and once in a time, and leaves a failing service alone', async () => {
  const questions: Question[] = [];
  let now = 0;
  let script: Script = output('allow');
  // Two threads take turns.
  const state = new OwnState();
  const service = serviceOf((q) => script(q), questions);
  const threads = [0, 1].map(() => authorityOf(service, state, () => now)) as [Authority, Authority];
  const ask = async (session: string, thread: 0 | 1 = 0) => threads[thread].ask({ session, protection: 'p' });
  await Promise.all([ask('a'), ask('a'), ask('b')]);
  expect(await Promise.all([ask('a'), ask('a', 1)])).toEqual(
    new Array(2).fill(output('allow')({} as Question)),
  );
  expect(questions.length).toBe(2);
  now = 60_000;
  script = down;
  for (let i = 0; i < 6; i++) await expect(ask('a', i % 2 === 0 ? 0 : 1)).rejects.toThrow(ServiceFailure);
  expect(questions.length).toBe(5);
  now += 5000;
  script = output('deny');
  const both = await Promise.allSettled([ask('a'), ask('b')]);
  expect(both.map((r) => r.status)).toEqual(['fulfilled', 'rejected']);
  expect((await ask('b')) satisfies ServiceAnswer).toMatchObject({ access: 'deny' });
});

it('bounds the questions on their way', async () => {
  const authority = authorityOf({ ask: () => new Promise(() => undefined), close: () => undefined });
  for (let i = 0; i < 64; i++) void authority.ask({ session: String(i), protection: 'p' });
  expect(() => authority.ask({ session: 'more', protection: 'p' })).toThrow('64 requests');
});

it('keeps few answers, each gate its own', () => {
  const state = new OwnState();
  const [memory, other] = ['a', 'b'].map((gate) => new ServiceMemory(state, gate)) as [
    ServiceMemory,
    ServiceMemory,
  ];
  const answer = { access: 'allow', user: '', seconds: 9 } as const;
  for (let i = 0; i <= 10_000; i++) memory.keep(`q${i}`, answer, 50);
  expect(['q0', 'q1', 'q10000'].map((q) => memory.answer(q, 49))).toEqual([null, answer, answer]);
  expect([memory.answer('q1', 50), other.answer('q1', 0)]).toEqual([null, null]);
});
