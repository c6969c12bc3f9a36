// The tags that vsl_mask leaves out by default, brought back: the same records in the same places with the same
// texts as Varnish writes. How many calls a body took is a matter of luck and is left out, but for chunks: one each,
// and one for their end.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Sandbox } from '../harness/processes.ts';
import { CASES } from './cases.ts';
import { type Answers, type Reference, recording } from './recording.ts';
import { playCases, type Seen, type Suite, suiteInputs } from './runner.ts';
import { STRICT_DIFFERENCES } from './strict-cases.ts';

/** Cases whose bodies differ in kind; a range of odd units is answered otherwise (known-differences.ts), and what one
 * side refuses has no body to compare. */
const PLAYED = CASES.filter(
  (c) =>
    c.name !== 'range of odd units' &&
    !Object.hasOwn(STRICT_DIFFERENCES, c.name) &&
    /gzip|range|chunk|HEAD|204|304|etag|pass|vary|hash|503|max-age|post/i.test(c.name),
);
const MASK = ['Hash', 'VfpAcct', 'VdpAcct', 'ObjProtocol', 'ObjStatus', 'ObjReason', 'ObjHeader'];
const SHOWN = new RegExp(`^-+ +(?:${MASK.join('|')}|Storage|Fetch_Body|Length) `);

/** The records of these tags, without the number of calls where it depends on how bytes arrived. */
function reported(seen: Seen | undefined): string[] {
  return (
    (seen?.log ?? ['nothing was seen'])
      .filter((line) => SHOWN.test(line))
      // If a header of the origin is dropped, Varnish does not log the last one, a Date of its own.
      .filter((line) => !line.includes('ObjHeader Date:'))
      .map((line) => line.replace(/(V[fd]pAcct +(?!V1F_CHUNKED)\S+) \d+ (\d+)/, '$1 N $2'))
      // The product's own pages have lengths of their own.
      .map((line) =>
        seen?.client.some((l) => l.endsWith('HTML page')) === true
          ? line.replace(/V1B N \d+/, 'V1B N')
          : line,
      )
  );
}

const answers = recording('log-tags');

describe('tags that are masked by default', () => {
  const box = new Sandbox('log-tags');
  let reference: Reference<string[]>;
  let ours: Answers<string[]>;

  beforeAll(async () => {
    const suite: Suite = {
      cases: PLAYED,
      program: 'basic.vcl',
      params: { vsl_mask: MASK.map((tag) => `+${tag}`).join(',') },
    };
    [reference, ours] = await answers.both(await suiteInputs(suite), async (product) => {
      const seen = await playCases(box, product, suite);
      return new Map(PLAYED.map(({ name }) => [name, reported(seen.get(name))]));
    });
  });
  afterAll(() => box.dispose());

  it('appear in the cases', () => {
    const all = reference.values().flat().join('\n');
    for (const tag of MASK) expect(all).toContain(` ${tag} `);
  });

  it.each(PLAYED.map((c) => c.name))('%s', (name) => {
    expect(ours.get(name)).toEqual(reference.get(name));
  });
});
