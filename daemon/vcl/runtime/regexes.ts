// Matching and substitution. A search that exceeds its budget (in units of pcre2_match_limit) counts as no match and
// logs a VCL_Error. The searches of one substitution share budget and memory, so that together they cost no more than
// one.

import { Tag } from '../../../protocol/tables/tags.ts';
import {
  BoundedRegex,
  DEFAULT_MATCH_LIMIT,
  type Fuel,
  fuelFor,
  type RegexMatch,
  SearchMemory,
} from '../../../queries/regex/bounded-regex.ts';
import type { VclContext } from '../../contract/context.ts';

/** Checked by the compiler; compiled on first use. */
export function regex(pattern: string): BoundedRegex {
  return new BoundedRegex(pattern);
}

/** The budget by the parameter, for subjects that JavaScript's engine cannot handle. */
function budget(ctx: VclContext): Fuel {
  const limit = Number(ctx.host.param('pcre2_match_limit'));
  return fuelFor(limit > 0 ? limit : DEFAULT_MATCH_LIMIT);
}

export function matches(ctx: VclContext, s: string | null, re: BoundedRegex): boolean {
  const text = s === null ? '' : s;
  const m = re.isQuick(text) ? re.match(text) : re.match(text, budget(ctx));
  if (m < 0) ctx.log.put(Tag.VCL_Error, 'Regexp matching failed: match limit exceeded');
  return m === 1;
}

function substitutionFailed(ctx: VclContext): void {
  // Varnish logs PCRE's number of this error.
  ctx.log.put(Tag.VCL_Error, 'regsub: Regexp matching returned -47');
}

/** Expands \0 to \9 in the replacement; a backslash before anything else is removed. */
function expand(template: string, m: RegexMatch): string {
  if (!template.includes('\\')) return template;
  let out = '';
  for (let i = 0; i < template.length; i++) {
    const c = template.charAt(i);
    if (c !== '\\' || i + 1 >= template.length) {
      out += c;
      continue;
    }
    const next = template.charAt(++i);
    if (next >= '0' && next <= '9') out += m.groups[Number(next)] ?? '';
    else out += next;
  }
  return out;
}

export function regsub(ctx: VclContext, s: string | null, re: BoundedRegex, template: string | null): string {
  const text = s ?? '';
  const m = re.isQuick(text) ? re.exec(text) : re.exec(text, 0, false, budget(ctx));
  if (m === 'limit') substitutionFailed(ctx);
  if (m === null || m === 'limit') return text;
  return text.slice(0, m.start) + expand(template ?? '', m) + text.slice(m.end);
}

/** Replaces all matches; after the first an empty match does not count, as in Varnish. */
export function regsuball(
  ctx: VclContext,
  s: string | null,
  re: BoundedRegex,
  template: string | null,
): string {
  const text = s ?? '';
  const fuel = budget(ctx);
  const memory = new SearchMemory();
  let out = '';
  let copied = 0;
  let from = 0;
  for (let first = true; from <= text.length; first = false) {
    const m = re.exec(text, from, !first, fuel, memory);
    if (m === 'limit') {
      substitutionFailed(ctx);
      return text;
    }
    if (m === null) break;
    out += text.slice(copied, m.start) + expand(template ?? '', m);
    copied = m.end;
    from = m.end;
  }
  return copied === 0 && out === '' ? text : out + text.slice(copied);
}
