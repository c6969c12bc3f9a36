// The extension paywall: content that an origin marks is available to entitled readers, and to others a few times in
// a period. The program asks a gate whenever it delivers; the decision of a gate about a mark holds for the whole
// request, its restarts and its fragments included, so that one page is one view.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../../contract/context.ts';
import type { Extension, ExtensionObject } from '../../contract/extension.ts';
import { ExtensionError } from '../../contract/failure.ts';
import { topPriv } from '../../contract/priv.ts';
import { awaited, type Waiting } from '../../contract/waiting.ts';
import { byName, row } from '../extension-rows.ts';
import { Authority, digest } from './authority.ts';
import { Gate, type OnError, type Verdict } from './paywall-gate.ts';
import { readSigningKey } from './reader-token.ts';
import { serviceAt } from './service-call.ts';
import { ServiceMemory } from './service-memory.ts';

interface Named {
  name: string;
  cookie: string;
  gate: Gate;
  /** Longest wait of a check: the timeout of the service, and a second for its failure to be reported. */
  seconds: number;
}

/** Decisions of a gate in one request. */
interface Visit {
  readonly verdicts: Map<string, Verdict>;
  last: Verdict | null;
  /** The last new cookie, whether or not the last check made it. */
  cookie: Verdict['cookie'];
}

type Text = string | null | undefined;
const COOKIE_NAME = /^[0-9A-Za-z_-]{1,64}$/;
/** Seconds. */
const LONGEST_TIMEOUT = 60;

function visitOf(ctx: VclContext, self: Named): Visit {
  const cell = topPriv(ctx, self);
  if (cell === null) throw new ExtensionError(`${self.name}: there is no reader here`);
  cell.value ??= { verdicts: new Map(), last: null, cookie: null } satisfies Visit;
  return cell.value as Visit;
}

function create(
  ctx: VclContext,
  name: string,
  keyFile: Text,
  url: Text,
  free: number,
  period: number,
  timeout: number,
  cache: number,
  onError: OnError,
  cookie: Text,
): Named {
  const wrong = (why: string): never => {
    throw new ExtensionError(`${name}: ${why}`);
  };
  if (free < 0) wrong('free may not be negative');
  if (!(period >= 1)) wrong('period has to be a second or more');
  if (!(timeout > 0 && timeout <= LONGEST_TIMEOUT)) wrong(`timeout has to be in 0 to ${LONGEST_TIMEOUT} s`);
  if (!COOKIE_NAME.test(cookie ?? '')) wrong('cookie has to be a name of letters, digits, - and _');
  const key = readSigningKey(keyFile ?? '');
  const authority = (url ?? '') === '' ? null : authorityAt(ctx, name, url ?? '', timeout, cache);
  const settings = { name: cookie ?? '', key, free, period: Math.floor(period), onError };
  const gate = new Gate(settings, authority, ctx.host.shared);
  return { name, cookie: settings.name, gate, seconds: timeout + 1 };
}

function authorityAt(
  { host, vcl }: VclContext,
  name: string,
  url: string,
  timeout: number,
  cache: number,
): Authority {
  const memory = new ServiceMemory(host.shared, digest(`${vcl.name}\n${name}\n${url}`));
  return new Authority(serviceAt(url, timeout), memory, cache);
}

function check(
  ctx: VclContext,
  self: Named,
  cookie: Text,
  protection: Text,
  session: Text,
): boolean | Waiting {
  const visit = visitOf(ctx, self);
  const asked = { cookie: cookie ?? '', protection: protection ?? '', session: session ?? '', now: ctx.now };
  const key = JSON.stringify([asked.protection, asked.session]);
  const decided = (verdict: Verdict): boolean => {
    if (!visit.verdicts.has(key)) {
      const left = verdict.reason === 'metered' ? `, ${verdict.remaining} left` : '';
      if (verdict.failure !== null)
        ctx.log.put(Tag.VCL_Error, `paywall: ${self.name}: the service gave no answer: ${verdict.failure}`);
      if (verdict.reason !== 'open')
        ctx.log.put(Tag.VCL_Log, `paywall: ${self.name}: ${verdict.reason}${left}`);
      visit.verdicts.set(key, verdict);
    }
    visit.last = verdict;
    visit.cookie = verdict.cookie ?? visit.cookie;
    return verdict.mayRead;
  };
  const before = visit.verdicts.get(key);
  const verdict = before ?? self.gate.check(asked);
  if (!(verdict instanceof Promise)) return decided(verdict);
  return awaited(`${self.name}.check`, verdict.then(decided), self.seconds);
}

function setCookie(ctx: VclContext, self: Named, secure: boolean): string | null {
  const { cookie } = visitOf(ctx, self);
  if (cookie === null) return null;
  const rest = `Path=/; Max-Age=${cookie.seconds}; HttpOnly; SameSite=Lax`;
  return `${self.cookie}=${cookie.text}; ${rest}${secure ? '; Secure' : ''}`;
}

const gate: ExtensionObject = {
  signature:
    'gate(STRING key_file, STRING service_url="", INT free=3, DURATION period=30d, DURATION timeout=500ms, ' +
    'DURATION cache=60s, ENUM {deny, allow, metered} on_error=deny, STRING cookie="paywall")',
  help:
    'A gate. key_file signs the cookies: 32 bytes or more, readable by its owner alone. service_url is queried about ' +
    'sessions, with this timeout, and its answers are cached for cache; without it there is no service. A reader has free views of ' +
    'metered content in a period. on_error is the result if the service does not answer. cookie is the name of the cookie.',
  create,
  destroy: (self: Named) => self.gate.close(),
  // biome-ignore format: a row is a line
  methods: byName(
    row('BOOL check(STRING cookie, STRING protection, [STRING session])', check,
      'Whether the reader may read content with this mark. cookie is the Cookie header, protection the mark (unset is not protected, metered has free views, any other name needs the service), session identifies the reader to the service. Spends a free view if necessary, once for each mark in a request.', { places: 'recv hit miss pass deliver synth', waits: true }),
    row('STRING reason()', (ctx, self: Named) => visitOf(ctx, self).last?.reason ?? null,
      'Reason of the result of the last check in this request: open, entitled, allowed or metered; spent, denied, login or unknown; unavailable. Unset before a check.', { places: 'client' }),
    row('STRING set_cookie(BOOL secure=true)', setCookie,
      'A value for Set-Cookie after a check that changed the cookie of the reader; unset after others. secure: for HTTPS alone.', { places: 'client' }),
    row('INT remaining()', (ctx, self: Named) => visitOf(ctx, self).last?.remaining ?? -1,
      'Free views that the reader has left after the last check; -1 before one.', { places: 'client' }),
    row('STRING user()', (ctx, self: Named) => visitOf(ctx, self).last?.user || null,
      'The user according to the service; unset if unknown.', { places: 'client' }),
  ),
};

export const paywall: Extension = {
  name: 'paywall',
  help: 'protected content, free views and an authorisation service',
  functions: {},
  objects: { gate },
};
