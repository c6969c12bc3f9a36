// Matching and substitution. A search that hits the step limit counts as no match and leaves a VCL_Error.

import { Tag } from '../../../protocol/tables/tags.ts';
import type { VclContext } from '../context.ts';
import { type RegexMatch, VclRegex } from '../regex.ts';

const LIMIT = 'Regexp matching failed: match limit exceeded';

/** The compiler has checked it; it is made ready when it is first used. */
export function regex(pattern: string): VclRegex {
  return new VclRegex(pattern);
}

export function matches(ctx: VclContext, s: string | null, re: VclRegex): boolean {
  const m = re.match(s === null ? '' : s);
  if (m < 0) ctx.log.put(Tag.VCL_Error, LIMIT);
  return m === 1;
}

/** The replacement with \0 to \9 filled in; a backslash before anything else is left out. */
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

export function regsub(ctx: VclContext, s: string | null, re: VclRegex, template: string | null): string {
  const text = s ?? '';
  const m = re.exec(text);
  if (m === 'limit') ctx.log.put(Tag.VCL_Error, LIMIT);
  if (m === null || m === 'limit') return text;
  return text.slice(0, m.start) + expand(template ?? '', m) + text.slice(m.end);
}

/** All matches; after the first an empty match does not count, as in the field. */
export function regsuball(ctx: VclContext, s: string | null, re: VclRegex, template: string | null): string {
  const text = s ?? '';
  let out = '';
  let copied = 0;
  let from = 0;
  for (let first = true; from <= text.length; first = false) {
    const m = re.exec(text, from, !first);
    if (m === 'limit') {
      ctx.log.put(Tag.VCL_Error, LIMIT);
      return text;
    }
    if (m === null) break;
    out += text.slice(copied, m.start) + expand(template ?? '', m);
    copied = m.end;
    from = m.end;
  }
  return copied === 0 && out === '' ? text : out + text.slice(copied);
}
