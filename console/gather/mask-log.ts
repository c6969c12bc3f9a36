// Masks secrets in log lines as printed by proxylog: values of headers named like credentials, heads that could not
// be parsed, and then every other occurrence of those values, whatever the tag.

import { isTelltale, MASK, maskText } from './mask.ts';

/** Marks of the depth, id, tag, side and data; the first two and the side only in some layouts. */
const LINE = /^((?:[-*\d]+ +)?(?:\s*\d+ )?)([A-Z]\S+)( +(?:[cb-] )?)(.*)$/;
/** Raw bytes of heads, and operators' input. */
const RAW_TAGS = new Set(['HttpGarbage', 'BogoHeader', 'LostHeader', 'Debug', 'Hash', 'H2RxHdr', 'H2RxBody']);
/** Shorter values would mask ordinary words. */
const LEAST = 6;

export function maskLog(lines: readonly string[]): string[] {
  const values = new Set<string>();
  const first = lines.map((line) => maskLine(line, values));
  const found = [...values].sort((a, b) => b.length - a.length);
  return first.map((line) => {
    let out = line;
    for (const value of found) if (out.includes(value)) out = out.replaceAll(value, MASK);
    return out;
  });
}

function maskLine(line: string, values: Set<string>): string {
  const parsed = LINE.exec(line);
  // Continuation of a multi-line reply, such as a list of bans.
  if (parsed === null) return maskBan(line);
  const [, id, tag, side, data] = parsed as unknown as [string, string, string, string, string];
  const head = `${id}${tag}${side}`;
  if (RAW_TAGS.has(tag)) return head + MASK;
  if (tag === 'CLI') return head + maskCli(data);
  const colon = data.indexOf(':');
  if (/(Header|Unset)$/.test(tag) && colon > 0) {
    const name = data.slice(0, colon);
    if (!isTelltale(name)) return `${head}${name}:${maskText(data.slice(colon + 1))}`;
    for (const value of data.slice(colon + 1).split(/[\s;,&]+|=(?=.)/)) {
      if (value.length >= LEAST) values.add(value);
    }
    return `${head}${name}: ${MASK}`;
  }
  return head + maskBan(data);
}

/** Commands contain whole programs and bans. */
function maskCli(data: string): string {
  const inline = /^(\S+ (?:vcl\.inline|vcl\.load) \S+)/.exec(data);
  if (inline !== null) return `${inline[1]} ${MASK}`;
  const cut = data.length > 300 ? `${data.slice(0, 300)}…` : data;
  return maskBan(cut);
}

/** Arguments of a ban that tests a sensitive field. */
export function maskBan(line: string): string {
  return maskText(line).replace(
    /((?:req|obj)\.http\.([\w-]+)"?\s+"?(?:==|!=|~|!~)"?\s+)("(?:[^"\\]|\\.)*"|\S+)/g,
    (all, lead: string, name: string) => (isTelltale(name) ? lead + MASK : all),
  );
}
