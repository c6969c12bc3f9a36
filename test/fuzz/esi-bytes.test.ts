// Bytes of which many mean something to the parser of edge-side includes, in random pieces: it throws nothing, its parts
// are in order and within the document, and they are the same however the document is cut.
import { describe, expect, it } from 'vitest';
import { type EsiFeatures, EsiParser, type EsiPart } from '../../daemon/esi/esi-parser.ts';
import { Random } from './random.ts';

const DOCUMENTS = 4000;
const TOKENS = [
  ...['<', '<', '>', '/', '!', '-', '[', ']', '=', '"', "'", ' ', '\n', '\t', '\0', '&', '?', 'e', 's', 'x'],
  ...[
    '<esi:',
    '</esi:',
    'include',
    'remove',
    'comment',
    'src',
    'onerror',
    '<!--',
    '-->',
    '<!--esi',
    '\xef\xbb\xbf',
  ],
  ...[
    '<![CDATA[',
    ']]>',
    'http://',
    'https://',
    '<esi:include src="/f"/>',
    '<esi:remove>',
    '</esi:remove>',
    '--',
  ],
];

interface Reading {
  parts: EsiPart[] | null;
  output: string[];
}

function read(document: Buffer, features: EsiFeatures, cuts: readonly number[]): Reading {
  const output: string[] = [];
  const put = (text: string): void => void output.push(text);
  const parser = new EsiParser(features, '/dir/page?a=/b', { error: put, warning: put, note: put });
  let from = 0;
  for (const to of [...cuts, document.length]) {
    // A copy that is spoilt afterwards: no byte may be needed once it was fed.
    const lent = Buffer.from(document.subarray(from, to));
    parser.feed(lent);
    lent.fill(0x3c);
    from = to;
  }
  const found = parser.end();
  return { parts: found ? parser.take() : null, output };
}

function made(random: Random): Buffer {
  let text = random.chance(0.7) ? random.pick(['<', '<!--esi', '<esi:include ', '<esi:remove>']) : '';
  for (let n = random.below(40); n >= 0; n--)
    text += random.chance(0.1) ? String.fromCharCode(random.below(256)) : random.pick(TOKENS);
  return Buffer.from(text, 'latin1');
}

describe('Random bytes', () => {
  it('become parts in order, the same however they are cut', () => {
    for (let seed = 0; seed < DOCUMENTS; seed++) {
      const random = new Random(seed);
      const document = made(random);
      const features: EsiFeatures = {
        ignoreHttps: random.chance(0.5),
        disableXmlCheck: random.chance(0.5),
        ignoreOtherElements: random.chance(0.5),
        removeBom: random.chance(0.5),
      };
      const label = `seed ${seed}: ${JSON.stringify(document.toString('latin1'))}`;
      const whole = read(document, features, []);
      let at = 0;
      for (const part of whole.parts ?? []) {
        if (part.kind === 'include') continue;
        expect(part.from, label).toBeGreaterThanOrEqual(at);
        expect(part.to, label).toBeGreaterThan(part.from);
        at = part.to;
      }
      expect(at, label).toBeLessThanOrEqual(document.length);
      const some = random.times(8, () => random.below(document.length + 1)).sort((a, b) => a - b);
      for (const cuts of [some, [...document.keys()]])
        expect(read(document, features, cuts), label).toEqual(whole);
    }
  });
});
