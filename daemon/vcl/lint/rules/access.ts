// Rules about private content and about access.

import type { AclEntry, Statement } from '../../ast.ts';
import { readAclEntry } from '../../check/acls.ts';
import { familyBytes } from '../../runtime/ip.ts';
import type { LintRule } from '../rule.ts';
import { calledName, constantText, expressions, isZero, nameOf, variable } from '../walk.ts';

/** An unconditional return (hash), which shares responses meant for logged-in users. */
export const authorizationCached: LintRule = {
  slug: 'authorization-cached',
  severity: 'warning',
  explanation:
    'The builtin vcl_recv passes requests with Authorization. An unconditional return (hash) skips that, so the page of a logged-in user may be served to others. Pass them, or hash the header.',
  check(view, report) {
    if (view.mentions('recv', 'req.http.authorization') || view.mentions('hash', 'req.http.authorization'))
      return;
    for (const { statement, guards } of view.statements('recv')) {
      if (
        statement.k === 'call' &&
        /^vcl_(?:req_authorization|builtin_recv)$/.test(statement.target.parts[0]?.text ?? '')
      )
        return;
      if (statement.k !== 'return' || statement.action?.text !== 'hash' || guards.length > 0) continue;
      report(statement.span, 'Every request is looked up in the cache, even with Authorization.');
      return;
    }
  },
};

/** Whether a statement prevents caching. */
function forgets(s: Statement): boolean {
  if (s.k !== 'set') return false;
  const name = nameOf(s.target);
  return name === 'beresp.ttl' ? isZero(s.value) : name === 'beresp.uncacheable' && !isZero(s.value);
}

/** A return (deliver) that skips the builtin check for Set-Cookie. */
export const setCookieCached: LintRule = {
  slug: 'set-cookie-cached',
  severity: 'warning',
  explanation:
    'return (deliver) in vcl_backend_response skips the builtin program, which does not cache responses with Set-Cookie. One visitor’s session cookie is then served to everyone. Unset beresp.http.Set-Cookie, or set beresp.uncacheable for such responses, before it.',
  check(view, report) {
    if (view.mentions('backend_response', 'beresp.http.set-cookie')) return;
    for (const { statement, block, index } of view.statements('backend_response')) {
      if (
        statement.k === 'call' &&
        /^vcl_(?:beresp_|builtin_backend_response)/.test(nameOf(statement.target))
      )
        return;
      if (statement.k !== 'return' || statement.action?.text !== 'deliver') continue;
      const uncacheable = block.slice(0, index).some(forgets);
      if (uncacheable) continue;
      report(statement.span, 'Responses with Set-Cookie can get here, and are cached with the cookie.');
      return;
    }
  },
};

/** Programs that pass every request with a cookie. */
export const cookiesPass: LintRule = {
  slug: 'cookies-pass-everything',
  severity: 'warning',
  explanation:
    'The builtin vcl_recv passes every request that has a Cookie, and analytics set one for every visitor: after the first page hardly anything is served from the cache. Remove the cookies that do not change the page (unset req.http.Cookie, regsuball, or the cookie extension) before it, or decide with return (hash).',
  check(view, report) {
    for (const { statement } of view.statements('recv')) {
      if (statement.k !== 'set' && statement.k !== 'unset') continue;
      if (nameOf(statement.target) === 'req.http.cookie') return;
    }
    for (const e of view.expressions('recv')) {
      if (e.k === 'path' && /^(?:cookie|header)\./.test(nameOf(e))) return;
    }
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k !== 'if') continue;
      for (const b of statement.branches) {
        const passes = b.body.some((s) => s.k === 'return' && s.action?.text === 'pass');
        if (passes && guards.length === 0 && variable(b.cond) === 'req.http.cookie') {
          report(b.cond.span, 'Every request with any cookie is passed.');
          return;
        }
      }
    }
    const sub = view.subs.get('vcl_recv');
    if (sub === undefined || !view.fallsThrough('recv')) return;
    report(
      sub.at.span,
      'Cookies are left as they are, so the builtin program passes every request that has one.',
    );
  },
};

/** Access control by a header that clients can set. */
export const forwardedTrust: LintRule = {
  slug: 'forwarded-header-trusted',
  severity: 'warning',
  explanation:
    'X-Forwarded-For and similar headers contain what the client sent, followed by the address of the connection. An acl matched against them admits anyone who sends the right address. Use client.ip, with the PROXY protocol if a load balancer is in front of this proxy.',
  check(view, report) {
    const acls = new Set(view.all('acl').map((a) => a.name.text));
    for (const e of view.expressions()) {
      if (e.k !== 'binary' || (e.op !== '~' && e.op !== '!~')) continue;
      const right = variable(e.right);
      if (right === null || !acls.has(right)) continue;
      for (const x of expressions(e.left)) {
        if (
          x.k === 'path' &&
          /^req\.http\.(?:x-forwarded-for|x-real-ip|forwarded|true-client-ip)$/.test(nameOf(x))
        ) {
          report(e.span, `The acl ${right} is matched against ${nameOf(x)}, which the client can set.`);
        }
      }
    }
  },
};

/** PURGE and BAN without access control. */
export const openPurge: LintRule = {
  slug: 'open-purge',
  severity: 'warning',
  explanation:
    'Anyone who can empty the cache can put the whole load on the backends. Compare client.ip with an acl, or a header with a secret, and reject everyone else with return (synth(403)).',
  check(view, report) {
    const acls = new Set(view.all('acl').map((a) => a.name.text));
    for (const e of view.expressions('recv')) {
      if (e.k !== 'binary') continue;
      const right = variable(e.right);
      if ((e.op === '~' || e.op === '!~') && right !== null && acls.has(right)) return;
      const secret = variable(e.left)?.startsWith('req.http.') === true && e.op !== '~';
      if (secret && (constantText(e.right) ?? '').length >= 8) return;
    }
    for (const { statement } of view.statements('recv')) {
      if (statement.k === 'return' && statement.action?.text === 'purge') {
        report(statement.span, 'Every client may purge.');
      }
      if (statement.k !== 'action') continue;
      for (const e of expressions(statement.call)) {
        const name = calledName(e);
        if (name === 'ban' || name === 'std.ban') report(statement.span, 'Every client may ban.');
      }
    }
  },
};

/** An address as a bit string with its family, and its significant length. */
function bitsOf(entry: AclEntry): { bits: string; length: number } | null {
  const n = readAclEntry(entry);
  const bytes = 'fault' in n ? null : familyBytes(n.host);
  if ('fault' in n || bytes === null) return null;
  const bits = bytes.map((b) => b.toString(2).padStart(8, '0')).join('');
  const family = bytes.length === 4 ? '4' : '6';
  return { bits: family + bits, length: Math.min(n.bits ?? bits.length, bits.length) + 1 };
}

/** Acls that match no address, and redundant entries. */
export const aclNeverMatches: LintRule = {
  slug: 'acl-never-matches',
  severity: 'warning',
  explanation:
    'An acl matches addresses of entries without "!". An acl without such entries matches no address. Of overlapping entries the most specific one decides, so a redundant entry has no effect.',
  check(view, report) {
    for (const acl of view.all('acl')) {
      if (acl.entries.every((e) => e.negate)) {
        report(
          acl.name.span,
          `Acl ${acl.name.text} matches no address: it has ${acl.entries.length === 0 ? 'no entries' : 'only negated entries'}.`,
        );
        continue;
      }
      const seen: { bits: string; length: number; entry: AclEntry }[] = [];
      for (const entry of acl.entries) {
        const own = bitsOf(entry);
        if (own === null) continue;
        const covers = (a: { bits: string; length: number }): boolean =>
          a.length <= own.length && own.bits.startsWith(a.bits.slice(0, a.length));
        // An entry between a wider one and this one may invert the decision.
        const decider = seen.filter(covers).sort((a, b) => b.length - a.length)[0];
        if (decider !== undefined && decider.entry.negate === entry.negate) {
          report(
            entry.span,
            `This entry of acl ${acl.name.text} has no effect: "${decider.entry.host}" decides the same.`,
          );
        }
        seen.push({ ...own, entry });
      }
    }
  },
};
