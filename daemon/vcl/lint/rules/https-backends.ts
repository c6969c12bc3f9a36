// Rules about how backends are spoken to.

import type { Declaration, Field } from '../../ast.ts';
import { splitHostPort } from '../../check/addresses.ts';
import type { LintRule } from '../rule.ts';

type BackendDeclaration = Extract<Declaration, { k: 'backend' }>;

function field(d: BackendDeclaration, name: string): Field | undefined {
  return d.fields.find((each) => each.name === name);
}

function textOf(f: Field | undefined): string | null {
  const value = f?.values[0];
  return value?.k === 'string' ? value.value : null;
}

/** Whether a field says 1 or true, or 0 or false; null without it. */
function flagOf(f: Field | undefined): boolean | null {
  const value = f?.values[0];
  if (value === undefined) return null;
  if (value.k === 'number') return value.text !== '0';
  return value.k === 'path' && value.parts[0]?.text.toLowerCase() === 'true';
}

/** Port 443 without TLS. */
export const plainHttpsPort: LintRule = {
  slug: 'plain-https-port',
  severity: 'warning',
  explanation:
    'Servers on port 443 expect TLS, and answer a plain request with an error or not at all. Add .ssl = 1, or name the port of plain HTTP.',
  check(view, report) {
    for (const d of view.all('backend')) {
      if (flagOf(field(d, 'ssl')) === true) continue;
      const host = field(d, 'host');
      const port = field(d, 'port');
      const inHost = splitHostPort(textOf(host) ?? '').port;
      const at = [port, host].find((f) => f !== undefined && isHttps(f === port ? textOf(port) : inHost));
      if (at === undefined) continue;
      report(at.values[0]?.span ?? at.nameSpan, `Backend ${d.name.text} uses port 443 without TLS.`);
    }
  },
};

function isHttps(port: string | null): boolean {
  return port === '443' || port === 'https';
}

/** Any certificate is accepted. */
export const peerNotVerified: LintRule = {
  slug: 'peer-not-verified',
  severity: 'warning',
  explanation:
    'Anyone between the proxy and the backend can impersonate it and read and change everything: TLS without verification does not protect against an active attacker. Trust the right authority with .ssl_ca, and set .ssl_name to a name in the certificate.',
  check(view, report) {
    for (const d of view.all('backend')) {
      if (flagOf(field(d, 'ssl')) !== true) continue;
      for (const f of d.fields) {
        const value = flagOf(f);
        const isOff = f.name === 'ssl_noverify' ? value === true : isVerification(f.name) && value === false;
        if (isOff) report(f.nameSpan, `Backend ${d.name.text} is not verified: .${f.name}.`);
      }
    }
  },
};

function isVerification(name: string): boolean {
  return name === 'ssl_verify_peer' || name === 'ssl_verify_host';
}
