// A streaming parser for edge-side includes: esi:include, esi:remove, esi:comment and <!--esi -->. It accepts exactly
// what Varnish accepts, including its reading of malformed markup, because pages are written against that. It buffers
// only the tag that is being read, and of that only the attribute values it needs.
//
// A position is settled once everything before it is known to be delivered or dropped. Errors are reported with the
// position of the last mark, where that changed or might have changed.

import { includeOf, isHttps } from './include-source.ts';
import { type Attributes, TagReader } from './tag-reader.ts';

/** Bits of the parameter `feature`. */
export interface EsiFeatures {
  readonly ignoreHttps: boolean;
  readonly disableXmlCheck: boolean;
  readonly ignoreOtherElements: boolean;
  readonly removeBom: boolean;
}

/** Bytes [from, to) of the document, which are delivered. */
export interface TextPart {
  readonly kind: 'text';
  readonly from: number;
  readonly to: number;
}

export interface IncludePart {
  readonly kind: 'include';
  /** Host of the fragment's request; null for the host of the page. */
  readonly host: string | null;
  /** Path and query. */
  readonly url: string;
  readonly onerrorContinue: boolean;
}

export type EsiPart = TextPart | IncludePart;

/** Called with the text of each ESI_xmlerror record. */
export interface EsiComplaints {
  error(text: string): void;
  warning(text: string): void;
  /** Called with the text of each warning that is not a markup error. */
  note(text: string): void;
}

type State =
  | 'start'
  | 'text'
  | 'opening'
  | 'other-tag'
  | 'comment'
  | 'cdata'
  | 'name'
  | 'tag'
  | 'skipped-tag'
  | 'raw';
type Element = 'include' | 'remove' | 'comment';

const LT = 0x3c;
const GT = 0x3e;
/** Continuations that make a `<` more than the start of an ordinary tag. */
const OPENINGS = ['<!--esi', '<!--', '<![CDATA[', '<esi:', '</esi:'];
const NAMES: readonly Element[] = ['include', 'remove', 'comment'];
const COMMENT_END = '-->';
const CDATA_END = ']]>';
/** The UTF-8 byte order mark, and the bytes Varnish takes for one. */
const BOMS = ['\xef\xbb\xbf', '\xeb\xbb\xbf'];

export class EsiParser {
  private readonly features: EsiFeatures;
  private readonly pageUrl: string;
  private readonly complaints: EsiComplaints;
  private readonly parts: EsiPart[] = [];
  private state: State = 'start';
  /** Bytes of the document before the current input. */
  private before = 0;
  private settled = 0;
  private mark = 0;
  /** Whitespace came before the first tag: a byte order mark after it does not count. */
  private blank = false;
  /** The document contains ESI markup. */
  private found = false;
  private removing = false;
  /** Within <!--esi: number of bytes of its end matched so far (no backtracking on a mismatch), and where that
   * match began. */
  private armed = false;
  private ended = 0;
  private endFrom = 0;
  /** The part matched so far of an opening, a name, or the end of a comment. */
  private matched = '';
  private tagFrom = 0;
  private isEndTag = false;
  private element: Element = 'include';
  private tag = new TagReader();

  /** @param pageUrl URL of the page's request, against which a relative src= is resolved */
  constructor(features: EsiFeatures, pageUrl: string, complaints: EsiComplaints) {
    this.features = features;
    this.pageUrl = pageUrl;
    this.complaints = complaints;
  }

  /** Parses the next bytes of the document; they are not referenced afterwards. */
  feed(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at = this.step(bytes, at);
    this.before += bytes.length;
  }

  /** Offset up to which every byte is known to be delivered or dropped. */
  get settledTo(): number {
    return this.settled;
  }

  /** The parts found since the last call, all before settledTo. Bytes between parts are dropped. */
  take(): EsiPart[] {
    return this.parts.splice(0);
  }

  /** Settles as much as possible, for callers that buffer the rest: a few bytes remain whatever the length of the
   * document. */
  settleAll(): void {
    const { state, before, armed, ended, removing } = this;
    const isHeld = armed && ended > 0 && (state === 'text' || state === 'comment');
    if (state === 'start' || state === 'raw') this.emit(before - this.matched.length, true);
    else if (state === 'opening') this.emit(this.tagFrom, !removing);
    else if (state === 'text' || state === 'other-tag' || state === 'comment' || state === 'cdata')
      this.emit(isHeld ? this.endFrom : before, !removing);
    else if (this.isInOurs) this.emit(before, false);
  }

  /** Ends the document. Returns false if it contains no ESI markup and is to be delivered unchanged, without
   * regard to parts. */
  end(): boolean {
    const { state, before } = this;
    if (state === 'start') {
      const odd = this.matched.length;
      // A partial byte order mark where a whole one would be removed: Varnish reports no position within it.
      if (odd > 0 && this.features.removeBom && !this.blank) {
        this.complaints.error('ERR after 0 VEP ended inside a tag');
        return false;
      }
      this.beginText(odd);
    }
    if (state === 'raw' || this.state === 'raw') return false;
    if (state !== 'text' && state !== 'start') this.error('VEP ended inside a tag');
    this.settle(before, !this.isInOurs && !this.removing);
    return this.found;
  }

  /** Within an ESI tag, which is never delivered, whether it is valid or not. */
  private get isInOurs(): boolean {
    return this.state === 'name' || this.state === 'tag' || this.state === 'skipped-tag';
  }

  /** Performs one step from bytes[at]; returns the offset at which to continue. */
  private step(bytes: Uint8Array, at: number): number {
    switch (this.state) {
      case 'start':
        return this.start(bytes, at);
      case 'text':
        return this.text(bytes, at);
      case 'opening':
        return this.opening(bytes[at] as number, at);
      case 'other-tag':
      case 'skipped-tag': {
        const end = bytes.indexOf(GT, at);
        if (end < 0) return bytes.length;
        if (this.state === 'skipped-tag') this.endTag(end + 1);
        else this.state = 'text';
        return end + 1;
      }
      case 'comment':
        return this.enclosed(bytes, at, COMMENT_END);
      case 'cdata':
        return this.enclosed(bytes, at, CDATA_END);
      case 'name':
        return this.name(bytes[at] as number, at);
      case 'tag':
        return this.readTag(bytes, at);
      case 'raw':
        return bytes.length;
    }
  }

  /** Whitespace and the byte order mark before the first tag. */
  private start(bytes: Uint8Array, at: number): number {
    const c = bytes[at] as number;
    const begun = this.matched + String.fromCharCode(c);
    const place = this.before + at;
    if (BOMS.some((bom) => bom.startsWith(begun))) {
      this.matched = begun;
      if (begun.length < 3) return at + 1;
      this.matched = '';
      // Not after whitespace, as in Varnish.
      if (this.features.removeBom && !this.blank) {
        this.settle(place + 1, false);
      } else if (this.features.disableXmlCheck) this.state = 'text';
      else this.refuse("first char not '<' but BOM. (See feature esi_remove_bom)");
      return at + 1;
    }
    if (this.matched !== '') {
      this.beginText(this.matched.length);
      return at;
    }
    if (this.features.disableXmlCheck || c === LT) {
      this.state = 'text';
      return at;
    }
    if (isBlank(c)) {
      this.blank = true;
      let next = at + 1;
      while (next < bytes.length && isBlank(bytes[next] as number)) next++;
      return next;
    }
    this.refuse("first char not '<'. (See feature esi_disable_xml_check)");
    return at + 1;
  }

  /** @param odd bytes that began like a byte order mark but are none */
  private beginText(odd: number): void {
    this.matched = '';
    if (odd === 0 || this.features.disableXmlCheck) this.state = 'text';
    else this.refuse("first char not '<' but BOM. (See feature esi_remove_bom)");
  }

  private refuse(why: string): void {
    this.state = 'raw';
    this.complaints.note(`No ESI processing, ${why}`);
  }

  private text(bytes: Uint8Array, at: number): number {
    if (!this.armed) {
      const next = bytes.indexOf(LT, at);
      return next < 0 ? bytes.length : this.open(next);
    }
    for (let i = at; i < bytes.length; i++) {
      const c = bytes[i] as number;
      if (c === LT) return this.open(i);
      if (c !== COMMENT_END.charCodeAt(this.ended)) {
        this.ended = 0;
        continue;
      }
      const place = this.before + i;
      if (this.ended++ === 0) this.endFrom = place;
      if (this.ended === COMMENT_END.length) {
        this.armed = false;
        this.found = true;
        if (!this.removing) {
          this.settle(this.endFrom, true);
          this.settle(place + 1, false);
        }
        return i + 1;
      }
    }
    return bytes.length;
  }

  private open(at: number): number {
    this.state = 'opening';
    this.matched = '<';
    this.tagFrom = this.before + at;
    // The bytes matched so far of an ESI comment's end are delivered, and still count towards the match.
    if (this.ended > 0) this.endFrom = this.tagFrom;
    return at + 1;
  }

  /** The kind of `<` is known only from the byte after the name. */
  private opening(c: number, at: number): number {
    const { matched } = this;
    const more = matched + String.fromCharCode(c);
    if (OPENINGS.some((opening) => opening.startsWith(more))) {
      this.matched = more;
      return at + 1;
    }
    // A failed longer match may still be a comment.
    switch (matched !== '<!--esi' && matched.startsWith('<!--') ? '<!--' : matched) {
      case '<!--esi':
        this.openComment(at);
        return at;
      case '<!--':
        if (matched !== '<!--') this.disarm();
        this.matched = '';
        this.state = 'comment';
        return at;
      case '<![CDATA[':
        this.matched = '';
        this.state = 'cdata';
        return at;
      case '<esi:':
      case '</esi:':
        this.found = true;
        this.isEndTag = matched === '</esi:';
        this.matched = '';
        this.state = 'name';
        if (!this.removing) this.settle(this.tagFrom, true);
        return at;
      default:
        if (!this.features.ignoreOtherElements) {
          this.state = 'other-tag';
          return at;
        }
        this.state = 'text';
        this.recount(matched.slice(2));
        return matched === '<' ? at + 1 : at;
    }
  }

  /** Searches again for an ESI comment's end in bytes that turned out not to be an opening: from its second byte,
   * as Varnish does. */
  private recount(odd: string): void {
    if (!this.armed) return;
    for (const c of odd) {
      if (c !== COMMENT_END[this.ended]) this.ended = 0;
      else if (this.ended++ === 0) this.endFrom = this.tagFrom + 2;
    }
  }

  private openComment(at: number): void {
    if (this.removing) this.error('ESI 1.0 Nested <!--esi element in <esi:remove>');
    else {
      this.settle(this.tagFrom, true);
      this.settle(this.before + at, false);
    }
    this.armed = true;
    this.ended = 0;
    this.state = 'text';
  }

  /** Reads to the end of a comment or of CDATA, without backtracking on a mismatch. A mismatch in a comment also
   * counts against the end of the enclosing ESI comment, which then has no end: all but an empty comment cause
   * that. */
  private enclosed(bytes: Uint8Array, at: number, end: string): number {
    let count = this.matched.length;
    for (let i = at; i < bytes.length; i++) {
      if (bytes[i] !== end.charCodeAt(count)) {
        count = 0;
        if (end === COMMENT_END) this.disarm();
      } else if (++count === end.length) {
        this.state = 'text';
        return i + 1;
      }
    }
    this.matched = end.slice(0, count);
    return bytes.length;
  }

  private disarm(): void {
    this.armed = false;
    this.ended = 0;
  }

  private name(c: number, at: number): number {
    const more = this.matched + String.fromCharCode(c);
    if (NAMES.some((name) => name.startsWith(more))) {
      this.matched = more;
      return at + 1;
    }
    const element = NAMES.find((name) => name === this.matched);
    if (element === undefined) {
      this.error('ESI 1.0 <esi:bogus> element');
      this.state = 'skipped-tag';
    } else if (this.removing && element !== 'remove') {
      this.error(`ESI 1.0 <esi:${element}> element nested in <esi:remove>`);
      this.state = 'skipped-tag';
    } else if (this.isEndTag && element !== 'remove') {
      this.error(`ESI 1.0 </esi:${element}> illegal end-tag`);
      this.state = 'skipped-tag';
    } else {
      this.element = element;
      this.tag = new TagReader(element === 'include');
      this.state = 'tag';
    }
    return at;
  }

  private readTag(bytes: Uint8Array, at: number): number {
    const { tag } = this;
    const next = tag.read(bytes, at);
    if (tag.fault !== null) {
      this.error(tag.fault);
      this.state = 'skipped-tag';
    } else if (tag.isOver) {
      this.act(tag);
      this.endTag(next);
    }
    return next;
  }

  /** @param at offset after the tag, in the current input */
  private endTag(at: number): void {
    this.state = 'text';
    if (!this.removing) this.settle(this.before + at, false);
  }

  private act(tag: Attributes): void {
    if (this.element === 'remove') this.remove(tag.isEmpty);
    else if (this.element === 'comment') {
      if (!tag.isEmpty) this.error("ESI 1.0 <esi:comment> needs final '/'");
    } else this.include(tag);
  }

  private remove(isEmpty: boolean): void {
    if (isEmpty) this.error('ESI 1.0 <esi:remove/> not legal');
    else if (this.isEndTag) {
      if (!this.removing) this.error('ESI 1.0 <esi:remove> not open');
      this.removing = false;
    } else if (this.removing) this.error('ESI 1.0 <esi:remove> already open');
    else this.removing = true;
  }

  private include(tag: Attributes): void {
    if (!tag.isEmpty) this.warning("ESI 1.0 <esi:include> lacks final '/'");
    if (tag.src === null) {
      this.error('ESI 1.0 <esi:include> lacks src attr');
      return;
    }
    const { ignoreHttps } = this.features;
    if (ignoreHttps && isHttps(tag.src)) this.warning('ESI 1.0 <esi:include> https:// treated as http://');
    const source = includeOf(tag.src, this.pageUrl, ignoreHttps);
    if (source === 'invalid') this.error('ESI 1.0 <esi:include> invalid src= URL');
    else if (source === 'https') this.warning('ESI 1.0 <esi:include> with https:// ignored');
    else this.parts.push({ kind: 'include', ...source, onerrorContinue: tag.onerror === 'continue' });
  }

  /** Sets a mark: everything up to it is text that is delivered, or dropped. */
  private settle(to: number, isText: boolean): void {
    this.mark = Math.max(this.mark, to);
    this.emit(to, isText);
  }

  private emit(to: number, isText: boolean): void {
    const from = this.settled;
    if (to <= from) return;
    this.settled = to;
    if (!isText) return;
    const last = this.parts.at(-1);
    if (last?.kind === 'text' && last.to === from)
      this.parts[this.parts.length - 1] = { kind: 'text', from: last.from, to };
    else this.parts.push({ kind: 'text', from, to });
  }

  private error(text: string): void {
    this.complaints.error(`ERR after ${this.mark} ${text}`);
  }

  private warning(text: string): void {
    this.complaints.warning(`WARN after ${this.mark} ${text}`);
  }
}

function isBlank(c: number): boolean {
  return c === 0x20 || c === 0x09 || c === 0x0d || c === 0x0a;
}
