// TEMPORARY: stands in until the streaming parser is here.

export interface EsiFeatures {
  ignoreHttps: boolean;
  disableXmlCheck: boolean;
  ignoreOtherElements: boolean;
  removeBom: boolean;
}
export interface TextPart {
  readonly kind: 'text';
  readonly from: number;
  readonly to: number;
}
export interface IncludePart {
  readonly kind: 'include';
  readonly host: string | null;
  readonly url: string;
  readonly onerrorContinue: boolean;
}
export type EsiPart = TextPart | IncludePart;
export interface EsiComplaints {
  error(text: string): void;
  warning(text: string): void;
}
export class EsiParser {
  private readonly pieces: Buffer[] = [];
  private readonly pageUrl: string;
  constructor(_features: EsiFeatures, pageUrl: string, _complaints: EsiComplaints) {
    this.pageUrl = pageUrl;
  }
  feed(bytes: Uint8Array): void {
    this.pieces.push(Buffer.from(bytes));
  }
  end(): EsiPart[] | null {
    const text = Buffer.concat(this.pieces).toString('latin1');
    const parts: EsiPart[] = [];
    let at = 0;
    const dir = this.pageUrl.replace(/\?.*/, '').replace(/[^/]*$/, '');
    for (const m of text.matchAll(
      /<esi:include src="([^"]*)"( onerror="continue")?\s*\/>|<esi:remove>(?:.|\n)*?<\/esi:remove>|<!--esi|-->/g,
    )) {
      if (m.index > at) parts.push({ kind: 'text', from: at, to: m.index });
      at = m.index + m[0].length;
      if (m[1] !== undefined) {
        const abs = /^http:\/\/([^/]*)(\/.*)$/.exec(m[1]);
        const host = abs === null ? null : (abs[1] as string);
        const url = abs !== null ? (abs[2] as string) : m[1].startsWith('/') ? m[1] : dir + m[1];
        parts.push({ kind: 'include', host, url, onerrorContinue: m[2] !== undefined });
      }
    }
    if (at === 0) return null;
    if (at < text.length) parts.push({ kind: 'text', from: at, to: text.length });
    return parts;
  }
}
