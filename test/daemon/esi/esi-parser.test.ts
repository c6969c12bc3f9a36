// The parser of edge-side includes on markup: whole, and cut at every position.
import { describe, expect, it } from 'vitest';
import { type EsiFeatures, EsiParser } from '../../../daemon/esi/esi-parser.ts';
import { Random } from '../../fuzz/random.ts';
import { brokenMarkup } from '../../harness/hostile-pages.ts';
import { runs, sampled } from '../../harness/runs.ts';

const NONE: EsiFeatures = {
  ...{ ignoreHttps: false, disableXmlCheck: false },
  ...{ ignoreOtherElements: false, removeBom: false },
};

/** The undecided part of a document besides the last piece: at most the longest opening. */
const KEPT = 12;

interface Reading {
  /** Text, with includes as {host url} and a ! after those whose failure is forgiven; null if passed unchanged. */
  text: string | null;
  output: string[];
}

/** @param cuts where the document is cut; with `settles`, the parser settles what it can there. */
function read(
  document: Buffer,
  features: EsiFeatures,
  cuts: readonly number[] = [],
  settles = false,
): Reading {
  const output: string[] = [];
  const put = (text: string): void => void output.push(text);
  const parser = new EsiParser(features, '/dir/page?a=/b', { error: put, warning: put, note: put });
  let text = '';
  let at = 0;
  const take = (): void => {
    for (const part of parser.take()) {
      if (part.kind === 'include') {
        text += `{${part.host ?? ''} ${part.url}${part.onerrorContinue ? '!' : ''}}`;
        continue;
      }
      expect(part.from).toBeGreaterThanOrEqual(at);
      expect(part.to).toBeGreaterThan(part.from);
      text += document.toString('latin1', part.from, part.to);
      at = part.to;
    }
    expect(parser.settledTo).toBeGreaterThanOrEqual(at);
  };
  let from = 0;
  for (const cut of cuts) {
    const before = from;
    parser.feed(document.subarray(from, cut));
    from = cut;
    if (!settles) continue;
    parser.settleAll();
    take();
    expect(before - parser.settledTo).toBeLessThanOrEqual(KEPT);
  }
  parser.feed(document.subarray(from));
  const found = parser.end();
  take();
  return { text: found ? text : null, output };
}

const CASES: readonly [string, string | null, string[], Partial<EsiFeatures>?][] = [
  ['<a><esi:include src="/f"/>b</a>', '<a>{ /f}b</a>', []],
  ['<a>1<esi:remove>2<b>3</esi:remove>4', '<a>14', []],
  ['<a>1<!--esi 2<esi:include src="/f"/> -->3', '<a>1 2{ /f} 3', []],
  ['<a>1<esi:comment text="2"/>3', '<a>13', []],
  ['<a>nothing</a>', null, []],
  ['', null, []],
  ['\n\t <esi:include src="f?x"/>', '\n\t { /dir/f?x}', []],
  ['<a><esi:include src=""/>', '<a>{ /dir/}', []],
  [
    '<a><esi:include src="http://h.test:8/p?q=1&amp;r=&quot;&amp;amp;"/>',
    '<a>{h.test:8 /p?q=1&r="&amp;}',
    [],
  ],
  ["<a><esi:include src='/f' onerror='continue'/>", '<a>{ /f!}', []],
  ['<a><esi:include src=/f onerror="other"/>', '<a>{ /f}', []],
  ['<a><esi:include src="/a\0b c"/>', '<a>{ /a}', []],
  ['text', null, ["No ESI processing, first char not '<'. (See feature esi_disable_xml_check)"]],
  ['text<esi:include src="/f"/>', 'text{ /f}', [], { disableXmlCheck: true }],
  [
    '\xef\xbb\xbf<esi:include src="/f"/>',
    null,
    ["No ESI processing, first char not '<' but BOM. (See feature esi_remove_bom)"],
  ],
  ['\xef\xbb\xbf<esi:include src="/f"/>', '{ /f}', [], { removeBom: true }],
  ['\xeb\xbb\xbf\xeb\xbb\xbf<esi:include src="/f"/>', '{ /f}', [], { removeBom: true }],
  [
    '<a><esi:include src="https://h.test/f"/>',
    '<a>',
    ['WARN after 3 ESI 1.0 <esi:include> with https:// ignored'],
  ],
  [
    '<a><esi:include src="https://h.test/f"/>',
    '<a>{h.test /f}',
    ['WARN after 3 ESI 1.0 <esi:include> https:// treated as http://'],
    { ignoreHttps: true },
  ],
  ['<a><esi:include src="http://h.test"/>', '<a>', ['ERR after 3 ESI 1.0 <esi:include> invalid src= URL']],
  ['<a><esi:include src="/f\x01"/>x', '<a>x', ['ERR after 3 ESI 1.0 <esi:include> invalid src= URL']],
  ['<a><esi:include src="/f">x', '<a>{ /f}x', ["WARN after 3 ESI 1.0 <esi:include> lacks final '/'"]],
  ['<a><esi:include/>x', '<a>x', ['ERR after 3 ESI 1.0 <esi:include> lacks src attr']],
  [
    '<a><esi:include src="/a" src="/b"/>x',
    '<a>x',
    ['ERR after 3 ESI 1.0 <esi:include> has multiple src= attributes'],
  ],
  [
    '<a><esi:include src="/a b"/>x',
    '<a>x',
    ['ERR after 3 ESI 1.0 <esi:include> has whitespace in src= attribute'],
  ],
  ['<a></esi:include>x', '<a>x', ['ERR after 3 ESI 1.0 </esi:include> illegal end-tag']],
  ['<a><esi:comment>x', '<a>x', ["ERR after 3 ESI 1.0 <esi:comment> needs final '/'"]],
  ['<a><esi:remove/>x', '<a>x', ['ERR after 3 ESI 1.0 <esi:remove/> not legal']],
  ['<a></esi:remove>x', '<a>x', ['ERR after 3 ESI 1.0 <esi:remove> not open']],
  ['<a><esi:remove>1<esi:remove>2</esi:remove>x', '<a>x', ['ERR after 3 ESI 1.0 <esi:remove> already open']],
  [
    '<a><esi:remove>1<esi:include src="/f"/>2</esi:remove>x',
    '<a>x',
    ['ERR after 3 ESI 1.0 <esi:include> element nested in <esi:remove>'],
  ],
  [
    '<a><esi:vars>x</esi:vars>',
    '<a>x',
    ['ERR after 3 ESI 1.0 <esi:bogus> element', 'ERR after 14 ESI 1.0 <esi:bogus> element'],
  ],
  ['<a><esi:include =x/>y', '<a>y', ['ERR after 3 XML 1.0 Illegal attribute start char']],
  ['<a><esi:include s\nrc="/f"/>y', '<a>y', ['ERR after 3 XML 1.0 Illegal attr char']],
  ['<a><esi:include src= "/f"/>y', '<a>y', ['ERR after 3 XML 1.0 Illegal attribute delimiter']],
  ['<a><esi:include src="/f>y', '<a>y', ['ERR after 3 XML 1.0 Missing end attribute delimiter']],
  ['<a><esi:include src="/f"/ >y', '<a>y', ["ERR after 3 XML 1.0 '>' does not follow '/' in tag"]],
  ['<a>x<esi:include src="/f"', '<a>x', ['ERR after 4 VEP ended inside a tag']],
  // The end of the document comes before the end of another tag, which goes out.
  ['<a><esi:include src="/f"/><b', '<a>{ /f}<b', ['ERR after 26 VEP ended inside a tag']],
  [
    '<a><!-- <esi:include src="/f"/> --><esi:include src="/g"/>',
    '<a><!-- <esi:include src="/f"/> -->{ /g}',
    [],
  ],
  [
    '<a><![CDATA[ <esi:include src="/f"/> ]]><esi:include src="/g"/>',
    '<a><![CDATA[ <esi:include src="/f"/> ]]>{ /g}',
    [],
  ],
  [
    '<a href="<esi:include src=\'/f\'/>"><esi:include src="/g"/>',
    '<a href="<esi:include src=\'/f\'/>">{ /g}',
    [],
  ],
  ['<a <esi:include src="/f"/>', '<a { /f}', [], { ignoreOtherElements: true }],
  // Only the end of a tag is looked for after the name of an end tag that is none.
  ['<a></esi:include src="/x\ny" =>b', '<a>b', ['ERR after 3 ESI 1.0 </esi:include> illegal end-tag']],
  ['<a></esi:commentary>b', '<a>b', ['ERR after 3 ESI 1.0 </esi:comment> illegal end-tag']],
  ['<a></esi:remove =>b', '<a>b', ['ERR after 3 XML 1.0 Illegal attribute start char']],
  ...(['\xef\xbb\xbf', '\xeb\xbb\xbf'] as const).map((bom): (typeof CASES)[number] => [
    ` ${bom}<esi:comment/>`,
    null,
    ["No ESI processing, first char not '<' but BOM. (See feature esi_remove_bom)"],
    { removeBom: true },
  ]),
  // A comment takes the end of the ESI comment around it away, but an empty one does not.
  ['<!--esi <!--x-->-->z', null, []],
  ['<!--esi <!--es-->-->z', null, []],
  ['<!--esi <!---->-->z', ' <!---->z', []],
  ['<!--esi --<!---->>z', ' --z', []],
  // Text that turned out not to be an opening counts for that end from its third byte on.
  ['<!--esi <!-<esi:comment/>->z', ' <!-z', [], { ignoreOtherElements: true }],
  ['<!--esi -<!-<esi:comment/>>z', ' -<!-z', [], { ignoreOtherElements: true }],
  ['<!--esi --<!-<esi:comment/>>z', ' --<!->z', [], { ignoreOtherElements: true }],
  ['<!--esi --</e>z', null, [], { ignoreOtherElements: true }],
  ['<!--esi a--->b-->c<esi:include src="/f"/>', ' a--->bc{ /f}'.slice(0), []],
];

describe('The parser of edge-side includes', () => {
  it.each(CASES)('reads %j', (markup, text, output, features = {}) => {
    const document = Buffer.from(markup, 'latin1');
    const whole = read(document, { ...NONE, ...features });
    expect(whole).toEqual({ text, output });
    for (const cut of sampled([...document.keys(), document.length])) {
      expect(read(document, { ...NONE, ...features }, [cut])).toEqual(whole);
      expect(read(document, { ...NONE, ...features }, [cut], true)).toEqual(whole);
    }
  });

  it('reads broken markup alike however it is cut', () => {
    for (let seed = 0; seed < runs(400); seed++) {
      const random = new Random(seed);
      const document = brokenMarkup(random, 4).subarray(0, 3000);
      const features = Object.fromEntries(Object.keys(NONE).map((name) => [name, random.chance(0.3)]));
      const whole = read(document, { ...NONE, ...features });
      const cuts = Array.from({ length: 12 }, () => random.below(document.length + 1)).sort((a, b) => a - b);
      const label = `seed ${seed}`;
      expect(read(document, { ...NONE, ...features }, cuts), label).toEqual(whole);
      expect(read(document, { ...NONE, ...features }, cuts, true), label).toEqual(whole);
    }
  });

  it.each([
    'text',
    '   ',
    '\0\0\0',
    '\xef\xbb\xbf',
    ' \xef\xbb\xbf',
    '<',
    '<!--esi --',
    '<![CDATA[<!',
    '<esi:',
    '<esi:remove><',
  ])('keeps nothing of a long document of %j', (unit) => {
    const document = Buffer.from(unit.repeat(3000 / unit.length), 'latin1');
    const cuts = Array.from({ length: document.length }, (_, i) => i + 1);
    for (const features of [NONE, { ...NONE, removeBom: true }, { ...NONE, disableXmlCheck: true }])
      expect(read(document, features, cuts, true)).toEqual(read(document, features));
  });

  it('keeps no value without bound', () => {
    const long = Buffer.from(`<a><esi:include src="/${'x'.repeat(70_000)}"/>y<esi:include src="/f"/>`);
    const expected = {
      text: '<a>y{ /f}',
      output: ['ERR after 3 ESI 1.0 <esi:include> has more than 65536 bytes in src= attribute'],
    };
    expect(read(long, NONE)).toEqual(expected);
    const open = Buffer.from(long.toString().replace('"/>', '/>'));
    for (const cuts of [[], [69_000]]) expect(read(open, NONE, cuts)).toEqual(expected);
  });
});
