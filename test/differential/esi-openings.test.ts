// Markup delimiters in random order, parsed by Varnish and by the parser alone: every document has to give the same
// text and the same errors, under all sixteen sets of ESI's features. These documents have no attribute errors:
// Varnish keeps state after those tags, and esi-markup.test.ts covers them. PROXYD_ESI_DOCS sets the number of
// documents, PROXYD_ESI_SEED the seed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EsiFeatures, EsiParser } from '../../daemon/esi/esi-parser.ts';
import { Random } from '../fuzz/random.ts';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { type Reference, recording } from './recording.ts';

const DOCS = Number(process.env.PROXYD_ESI_DOCS ?? 640);
const SEED = Number(process.env.PROXYD_ESI_SEED ?? 1);
const FEATURES: readonly (readonly [keyof EsiFeatures, string])[] = [
  ['ignoreHttps', 'esi_ignore_https'],
  ['disableXmlCheck', 'esi_disable_xml_check'],
  ['ignoreOtherElements', 'esi_ignore_other_elements'],
  ['removeBom', 'esi_remove_bom'],
];
const SETS = 2 ** FEATURES.length;
const BOM = '\xeb\xbb\xbf';
const FIRST = [
  '<!--esi ',
  '<!--esi ',
  '<!--esi',
  '<a>',
  '<',
  '\n <a>',
  '<esi:comment/>',
  '<esi:remove>',
  'x',
  '',
];
const BOMS = [BOM, ` ${BOM}`, `${BOM}${BOM}`, `${BOM} ${BOM}`, `${BOM}\n`, '\xeb', '\xeb\xbb', `${BOM}x`];
const PIECES = [
  ...[
    '-',
    '-',
    '--',
    '>',
    '>',
    '-->',
    '-->',
    '--->',
    'x',
    '\n',
    ']',
    ']]>',
    '<b>',
    '<',
    '</',
    '</e',
    '<e',
    '<es',
  ],
  ...['<!', '<!-', '<!--', '<!--', '<!---->', '<!--e', '<!--es', '<!--esi', '<!--esi ', '<![', '<![CDATA['],
  ...[
    '<esi:include src="/f"/>',
    '<esi:include src="http://h.test/f?a"/>',
    '<esi:include src="https://h.test/f"/>',
  ],
  ...['<esi:remove>', '</esi:remove>', '<esi:remove/>', '<esi:comment/>', '<esi:x>', '<esi:', '</esi:'],
  ...['</esi:include>', '</esi:include\n', '</esi:commentx>', '</esi:comment =>', '<esi:includex>'],
];
const PROGRAM =
  'sub vcl_backend_response { set beresp.do_esi = bereq.url ~ "^/doc"; set beresp.ttl = 0s; set beresp.grace = 0s; }';

/** A dash at the end would be lost by Varnish where another one came before the last tag. */
function document(n: number): Buffer {
  const random = new Random(SEED * 1_000_003 + n);
  let text = random.chance(0.1) ? random.pick(BOMS) : '';
  if (text === '' || random.chance(0.7)) text += random.pick(FIRST);
  if (text !== '\xeb' || random.chance(0.9))
    for (let left = random.below(18); left >= 0; left--) text += random.pick(PIECES);
  return Buffer.from(text.replace(/-$/, '-x'), 'latin1');
}

function fragment(host: string, url: string): string {
  return `[${host} ${url}]`;
}

function reply(request: OriginRequest): Reply {
  const n = /^\/doc\/(\d+)$/.exec(request.url)?.[1];
  if (n !== undefined) return respond('200 OK', {}, document(Number(n)));
  const host = /^host: *(\S*)/im.exec(request.head)?.[1] ?? '';
  return respond('200 OK', {}, fragment(host, request.url));
}

/** The parser's result for a document, followed by its errors. */
function parsed(n: number, features: EsiFeatures): string {
  const bytes = document(n);
  const output: string[] = [];
  const put = (text: string): void => void output.push(text);
  const parser = new EsiParser(features, `/doc/${n}`, { error: put, warning: put, note: put });
  parser.feed(bytes);
  let text = bytes.toString('latin1');
  if (parser.end())
    text = parser
      .take()
      .map((part) =>
        part.kind === 'text'
          ? bytes.toString('latin1', part.from, part.to)
          : fragment(part.host ?? 'page.test', part.url),
      )
      .join('');
  return [text, ...output].join('\n');
}

/** The same of Varnish: the complaints stand in its log under the fetch of the document. */
async function played(varnish: RunningProxy, from: number, to: number): Promise<string[]> {
  const texts: string[] = [];
  for (let n = from; n < to; n++)
    texts.push((await fetchOnce(varnish.port, `/doc/${n}`, { host: 'page.test' })).body.toString('latin1'));
  await varnish.requestsLogged(to - from);
  const log = await varnish.log('-g', 'raw', '-i', 'BereqURL,ESI_xmlerror');
  const fetches = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, id = '', tag, text = ''] = /^ *(\d+) (\S+) +\S (.*)$/.exec(line) ?? [];
    const page = /^\/doc\/(\d+)$/.exec(text)?.[1];
    if (tag === 'BereqURL' && page !== undefined) fetches.set(id, Number(page) - from);
    const at = fetches.get(id) ?? -1;
    if (tag === 'ESI_xmlerror' && at >= 0) texts[at] += `\n${text}`;
  }
  return texts;
}

const answers = recording('esi-openings');
/** Documents of each set. */
const MOST = Math.ceil(DOCS / SETS);
const NUMBERS = Array.from({ length: SETS * MOST }, (_, n) => n);
const setOf = (n: number): number => Math.floor(n / MOST);
const isOn = (set: number, i: number): boolean => ((set >> i) & 1) === 1;
const namesOf = (set: number): string =>
  FEATURES.map(([, name], i) => `${isOn(set, i) ? '+' : '-'}${name}`).join(',');
const keyOf = (n: number): string => `${n} with ${namesOf(setOf(n))}`;

/** All documents, as Varnish reads them. */
async function playAll(box: Sandbox): Promise<Map<string, string>> {
  const origin = await Origin.start();
  origin.on('*', reply);
  const varnish = await startProxy(box, {
    product: 'varnish',
    params: {
      vsl_mask: '-ReqHeader,-RespHeader,-BereqHeader,-BerespHeader,-Timestamp,-VCL_call,-VCL_return,-TTL',
    },
    program: backendProgram(origin.port, PROGRAM),
  });
  const texts: string[] = [];
  for (let set = 0; set < SETS; set++) {
    const output = await varnish.adm('param.set', 'feature', namesOf(set));
    if (output.code !== 0) throw new Error(output.stdout);
    const end = (set + 1) * MOST;
    // The log has to hold all that is played at a time.
    for (let from = set * MOST; from < end; from += 500)
      texts.push(...(await played(varnish, from, Math.min(from + 500, end))));
  }
  await varnish.stop();
  await origin.close();
  return new Map(NUMBERS.map((n) => [keyOf(n), texts[n] ?? '']));
}

describe('What opens and ends things in random markup', () => {
  const box = new Sandbox('proxyd-esi-openings');
  let reference: Reference<string>;
  beforeAll(
    async () => {
      const inputs = new Map(NUMBERS.map((n) => [keyOf(n), document(n).toString('latin1')]));
      reference = await answers.reference(inputs, () => playAll(box));
    },
    DOCS * 50 + 60_000,
  );
  afterAll(() => box.dispose());

  it.each(Array.from({ length: SETS }, (_, set) => [namesOf(set), set] as const))(
    'is read as Varnish reads it with %s',
    (names, set) => {
      const features = Object.fromEntries(
        FEATURES.map(([name], i) => [name, isOn(set, i)]),
      ) as unknown as EsiFeatures;
      for (const n of NUMBERS.filter((each) => setOf(each) === set)) {
        const label = `${names} ${n} ${document(n).toString('latin1')} : `;
        expect(label + parsed(n, features)).toBe(label + reference.get(keyOf(n)));
      }
    },
  );
});
