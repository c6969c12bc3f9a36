// Rules about how long objects live.

import type { Block } from '../../ast.ts';
import type { LintRule } from '../rule.ts';
import { calledName, expressions, isZero, nameOf, variable } from '../walk.ts';

/** Whether a block makes its response uncacheable. */
function forgets(block: Block): boolean {
  return block.some(
    (s) => s.k === 'set' && nameOf(s.target) === 'beresp.uncacheable' && variable(s.value) === 'true',
  );
}

/** grace and keep of objects that no request can find. */
export const graceUnused: LintRule = {
  slug: 'grace-never-used',
  severity: 'warning',
  explanation:
    'grace and keep extend the lifetime of a cached object. A response that is not cached has none, and keep needs an ETag or Last-Modified to make the request to the backend conditional.',
  check(view, report) {
    const unsets = new Set<string>();
    for (const { statement, guards } of view.statements()) {
      if (statement.k === 'unset' && guards.length === 0) unsets.add(nameOf(statement.target));
    }
    const unconditional =
      (unsets.has('beresp.http.etag') && unsets.has('beresp.http.last-modified')) ||
      (unsets.has('bereq.http.if-none-match') && unsets.has('bereq.http.if-modified-since'));
    for (const { statement, block } of view.statements('backend_response')) {
      if (statement.k !== 'set') continue;
      const name = nameOf(statement.target);
      if (name !== 'beresp.grace' && name !== 'beresp.keep') continue;
      if (isZero(statement.value)) continue;
      if (forgets(block)) report(statement.span, `${name} has no effect on a response that is not cached.`);
      else if (name === 'beresp.keep' && unconditional) {
        report(statement.span, 'beresp.keep has no effect: no request to the backend is ever conditional.');
      }
    }
  },
};

/** A TTL for every response, including private ones. */
export const ttlIgnoresPrivate: LintRule = {
  slug: 'ttl-ignores-private',
  severity: 'warning',
  explanation:
    'beresp.ttl is set for every response and return (deliver) skips the builtin program, which does not cache responses with Cache-Control: private, no-cache or no-store. Test beresp.http.Cache-Control, or leave the return to the builtin program.',
  check(view, report) {
    if (view.fallsThrough('backend_response')) return;
    if (view.mentions('backend_response', 'beresp.http.cache-control')) return;
    for (const { statement, guards } of view.statements('backend_response')) {
      if (statement.k !== 'set' || guards.length > 0 || nameOf(statement.target) !== 'beresp.ttl') continue;
      if (statement.value.k !== 'number' || Number(statement.value.text) === 0) continue;
      report(statement.span, 'Private responses get this lifetime too.');
      return;
    }
  },
};

/** Responses with a zero TTL that are not marked as uncacheable. */
export const zeroTtlDelivered: LintRule = {
  slug: 'zero-ttl-delivered',
  severity: 'warning',
  explanation:
    'An object that is stale on arrival serves no other request, yet others wait for it: requests for one URL go to the backend one after another. Set beresp.uncacheable with a TTL of some minutes, return (pass(…)), or leave the return to the builtin program, which does that.',
  check(view, report) {
    for (const { statement, block, index } of view.statements('backend_response')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'beresp.ttl') continue;
      if (statement.value.k !== 'number' || Number(statement.value.text) !== 0) continue;
      const marked = block.some((s) => s.k === 'set' && nameOf(s.target) === 'beresp.uncacheable');
      const delivered = block.slice(index).some((s) => s.k === 'return' && s.action?.text === 'deliver');
      if (delivered && !marked) report(statement.span, 'Requests for this will wait for each other.');
    }
  },
};

/** Bans on the request, which the ban lurker cannot test. */
export const banNotLurkable: LintRule = {
  slug: 'ban-not-lurkable',
  severity: 'warning',
  explanation:
    'The ban lurker has objects but no request, so a ban on req.* is tested only when an object is requested; such bans accumulate and slow down every lookup. Copy what is needed to the object in vcl_backend_response (set beresp.http.x-url = bereq.url) and ban on obj.http.x-url.',
  check(view, report) {
    for (const e of view.expressions()) {
      const name = calledName(e);
      if (e.k !== 'call' || (name !== 'ban' && name !== 'std.ban')) continue;
      for (const inner of e.args.flatMap((a) => [...expressions(a.value)])) {
        if (inner.k === 'string' && /(?:^|&&|\s)\s*req\.[a-z]/.test(inner.value)) {
          report(inner.span, 'The ban lurker cannot test a ban on req.*.');
          break;
        }
      }
    }
  },
};
