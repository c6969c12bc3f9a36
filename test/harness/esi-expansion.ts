// Expected expansion of a page of edge-side includes, as simple as possible: regular expressions over whole texts,
// and a function that returns a URL's text. It handles well-formed markup only, and shares no code with the proxy: it
// is the reference of property tests. Texts are Latin-1.

export interface ExpandedResource {
  text: string;
  /** False: the text is delivered as it is. */
  esi: boolean;
}

export type Lookup = (host: string, url: string) => ExpandedResource;

const MARKUP = new RegExp(
  [
    /<!\[CDATA\[[\s\S]*?\]\]>/,
    /<!--esi(?<unwrapped>[\s\S]*?)-->/,
    /<!--[\s\S]*?-->/,
    /<esi:remove>[\s\S]*?<\/esi:remove>/,
    /<esi:comment [^>]*\/>/,
    /<esi:include (?<attributes>[^>]*)\/>/,
  ]
    .map((part) => part.source)
    .join('|'),
  'g',
);
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The text of a URL with its includes, those of level `most` left out. */
export function expanded(lookup: Lookup, host: string, url: string, most = 5, level = 0): string {
  const { text, esi } = lookup(host, url);
  if (!esi || !/^[ \t\r\n]*</.test(text)) return text;
  const replace = (part: string): string =>
    part.replace(MARKUP, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1) as { unwrapped?: string; attributes?: string };
      if (groups.unwrapped !== undefined) return replace(groups.unwrapped);
      if (groups.attributes !== undefined) {
        if (level >= most) return '';
        const [there, path] = target(groups.attributes, host, url);
        return expanded(lookup, there, path, most, level + 1);
      }
      return /^<esi:/.test(whole) ? '' : whole;
    });
  return replace(text);
}

function target(attributes: string, host: string, url: string): [string, string] {
  const [, double, single] = /\bsrc=(?:"([^"]*)"|'([^']*)')/.exec(attributes) ?? [];
  const src = double ?? single ?? '';
  const decoded = (s: string): string =>
    s.replace(/&(amp|lt|gt|quot|apos);/g, (_, n: string) => ENTITIES[n] ?? '');
  const far = /^http:\/\/([^/]+)(\/.*)$/.exec(src);
  if (far !== null) return [far[1] ?? '', decoded(far[2] ?? '')];
  if (src.startsWith('/')) return [host, decoded(src)];
  const path = url.split('?', 1)[0] ?? '';
  return [host, path.slice(0, path.lastIndexOf('/') + 1) + decoded(src)];
}
