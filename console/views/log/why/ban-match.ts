// Would a ban match an object, as far as the log shows? Conditions on ages and lifetimes, which the log lacks,
// evaluate to "maybe".

import { compileRegex } from '../../../../queries/regex/bounded-regex.ts';
import type { Facts } from './request-facts.ts';

export interface BanFact {
  /** Epoch seconds. */
  at: number;
  spec: string;
  /** Do matching objects become stale instead of being removed? */
  soft: boolean;
}

type Verdict = 'yes' | 'no' | 'maybe';

/** `request` looks the object up, `fetch` stored it; either may be unknown. */
export function banMatches(spec: string, request: Facts | null, fetch: Facts | null): Verdict {
  let verdict: Verdict = 'yes';
  for (const part of spec.split('&&')) {
    const one = condition(part.trim(), request, fetch);
    if (one === 'no') return 'no';
    if (one === 'maybe') verdict = 'maybe';
  }
  return verdict;
}

function condition(text: string, request: Facts | null, fetch: Facts | null): Verdict {
  const m = /^(\S+)\s+(==|!=|~|!~|<=?|>=?)\s+(.*)$/s.exec(text);
  if (m === null) return 'maybe';
  const [, field = '', operator = '', raw = ''] = m;
  const value = fieldValue(field, request, fetch);
  if (value === undefined) return 'maybe';
  const argument = raw.replace(/^"(.*)"$/s, '$1');
  switch (operator) {
    case '==':
      return value === argument ? 'yes' : 'no';
    case '!=':
      return value !== argument ? 'yes' : 'no';
    case '~':
    case '!~':
      return matched(argument, value, operator === '~');
    default:
      return 'maybe';
  }
}

/** With the daemon's own engine, whose run time is bounded: the value comes from a client. */
function matched(pattern: string, value: string, wanted: boolean): Verdict {
  try {
    const found = compileRegex(pattern).match(Buffer.from(value, 'utf8').toString('latin1'));
    return found < 0 ? 'maybe' : (found === 1) === wanted ? 'yes' : 'no';
  } catch {
    return 'maybe';
  }
}

function fieldValue(field: string, request: Facts | null, fetch: Facts | null): string | undefined {
  if (field === 'req.url') return request?.url;
  if (field === 'obj.status') return fetch === null ? undefined : String(fetch.status);
  if (field.startsWith('req.http.'))
    return request === null ? undefined : (request.request.get(field.slice(9).toLowerCase()) ?? '');
  if (field.startsWith('obj.http.'))
    return fetch === null ? undefined : (fetch.response.get(field.slice(9).toLowerCase()) ?? '');
  return undefined;
}
