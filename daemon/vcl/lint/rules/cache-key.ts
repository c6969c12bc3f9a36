// Rules about the cache key and about variants.

import type { LintRule } from '../rule.ts';
import { calledName, constantText, expressions, nameOf, usesVariable } from '../walk.ts';

/** A return (hash) that skips the builtin handling of Host and Authorization. */
export const hashBeforeHost: LintRule = {
  slug: 'hash-before-host',
  severity: 'warning',
  explanation:
    'return (hash) skips the builtin vcl_recv, which writes Host in lower case and refuses requests without one. WWW.example.com and www.example.com are then two objects. Normalise req.http.Host first (std.tolower, without its port), or call vcl_req_host.',
  check(view, report) {
    let done = false;
    for (const { statement, guards } of view.statements('recv')) {
      if (statement.k === 'set' && nameOf(statement.target) === 'req.http.host') done = true;
      if (statement.k === 'call' && /^vcl_(?:req_host|builtin_recv)$/.test(nameOf(statement.target)))
        done = true;
      if (statement.k !== 'return' || statement.action?.text !== 'hash' || done) continue;
      // A conditional return still lets some requests skip the builtin program.
      report(
        statement.span,
        `return (hash) before Host was normalised.${guards.length > 0 ? '' : ' Every request takes it.'}`,
      );
      return;
    }
  },
};

/** A cache key without the URL or the Host. */
export const hashWithoutUrl: LintRule = {
  slug: 'hash-incomplete',
  severity: 'warning',
  explanation:
    'vcl_hash returns before the builtin program, so the key contains only what it hashes itself. Without req.url all pages of a site are one object, without Host those of all sites.',
  check(view, report) {
    const sub = view.subs.get('vcl_hash');
    if (sub === undefined || view.fallsThrough('hash')) return;
    const reads = (name: string): boolean => view.mentions('hash', name);
    const missing = [
      ...(reads('req.url') ? [] : ['req.url']),
      ...(reads('req.http.host') || reads('server.ip') ? [] : ['req.http.host']),
    ];
    // A header set by the program may contain them.
    const own = reads('req.http.') && missing.length < 2;
    if (missing.length > 0 && !own)
      report(sub.at.span, `The cache key does not contain ${missing.join(' and ')}.`);
  },
};

/** A vcl_hash without return: the builtin program also adds URL and Host. */
export const hashFallsThrough: LintRule = {
  slug: 'hash-missing-return',
  severity: 'warning',
  explanation:
    'Without return (lookup) the builtin vcl_hash follows and adds req.url and Host to the key. If the sub hashes a changed form of them itself, that undoes it: requests that should share an object do not. Add return (lookup), or leave URL and Host to the builtin program.',
  check(view, report) {
    const sub = view.subs.get('vcl_hash');
    if (sub === undefined || !view.fallsThrough('hash')) return;
    for (const e of view.expressions('hash')) {
      if (e.k !== 'call' || calledName(e) !== 'hash_data') continue;
      if (!usesVariable(e, 'req.url') && !usesVariable(e, 'req.http.host')) continue;
      report(
        sub.at.span,
        'vcl_hash adds URL or Host itself, without return (lookup): the builtin program adds both again.',
      );
      return;
    }
    // The usual way to extend the key, and correct if intended.
    report(
      sub.at.span,
      'vcl_hash has no return: the builtin program adds URL and Host after it.',
      undefined,
      'info',
    );
  },
};

/** URL or Host modified after the cache key was computed. */
export const keyChangedLate: LintRule = {
  slug: 'key-changed-late',
  severity: 'warning',
  explanation:
    'The cache key is computed in vcl_hash. If URL or Host change afterwards, the backend returns another page than the key stands for, and clients get the wrong page. Change them in vcl_recv, or hash what they depend on, too.',
  check(view, report) {
    const hashed = (name: string): boolean => view.mentions('hash', name.replace('bereq.', 'req.'));
    for (const state of ['miss', 'hit']) {
      for (const { statement } of view.statements(state)) {
        if (statement.k !== 'set' && statement.k !== 'unset') continue;
        const name = nameOf(statement.target);
        if (name !== 'req.url' && name !== 'req.http.host') continue;
        report(statement.target.span, `${name} changes after the cache key was computed.`);
      }
    }
    for (const { statement } of view.statements('backend_fetch')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'bereq.url') continue;
      // A URL derived from the URL is as good a key; one derived from a header is not.
      const header = [...expressions(statement.value)].find(
        (e) => e.k === 'path' && /^bereq\.http\.(?!host$)/.test(nameOf(e)),
      );
      if (header?.k !== 'path' || hashed(nameOf(header))) continue;
      report(
        statement.target.span,
        `bereq.url depends on ${nameOf(header)}, which the cache key does not contain.`,
      );
    }
  },
};

/** Vary on headers whose values clients hardly share. */
export const varySplitsCache: LintRule = {
  slug: 'vary-splits-cache',
  severity: 'warning',
  explanation:
    'With Vary on User-Agent, Cookie or Accept there is one object for every value of that header, so nearly every request is a miss. Set a header with few values in vcl_recv (a class of devices, a language) and vary on that.',
  check(view, report) {
    for (const { statement } of view.statements('backend_response')) {
      if (statement.k !== 'set' || nameOf(statement.target) !== 'beresp.http.vary') continue;
      for (const part of [
        statement.value,
        ...(statement.value.k === 'binary' ? [statement.value.right] : []),
      ]) {
        const m = /\b(user-agent|cookie|accept|referer)\b(?!-)/i.exec(constantText(part) ?? '');
        if (m === null) continue;
        report(statement.span, `Vary on ${m[1]} creates an object for nearly every request.`);
        break;
      }
    }
  },
};

/** Manual normalisation of Accept-Encoding. */
export const acceptEncodingTouched: LintRule = {
  slug: 'accept-encoding-touched',
  severity: 'info',
  explanation:
    'The proxy asks for gzip itself, stores one object and decompresses it for clients that do not accept gzip. Changing req.http.Accept-Encoding is a habit from old programs; without it objects are compressed or not by chance. To fetch uncompressed, unset bereq.http.Accept-Encoding.',
  check(view, report) {
    for (const { statement } of view.statements('recv')) {
      if (statement.k !== 'set' && statement.k !== 'unset') continue;
      if (nameOf(statement.target) !== 'req.http.accept-encoding') continue;
      report(statement.span, 'The proxy handles Accept-Encoding itself.');
      return;
    }
  },
};
