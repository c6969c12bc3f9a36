// Random markup of edge-side includes, most of it broken, parsed by both: the delivered text and the errors.
// PROXYD_ESI_DOCS sets the number of documents, PROXYD_ESI_SEED the seed.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { brokenMarkup } from '../harness/hostile-pages.ts';
import { fetchOnce } from '../harness/http-client.ts';
import { Origin, type OriginRequest, type Reply, respond } from '../harness/origin.ts';
import { Sandbox } from '../harness/processes.ts';
import { backendProgram, type Product, startProxy } from '../harness/proxy.ts';
import { type Answers, type Reference, recording } from './recording.ts';

const DOCS = Number(process.env.PROXYD_ESI_DOCS ?? 240);
const SEED = Number(process.env.PROXYD_ESI_SEED ?? 1);
/** Documents that one daemon plays: its log has to hold all of them. */
const A_DAEMON = 500;
const FEATURES = [
  '',
  '+esi_disable_xml_check,+esi_remove_bom',
  '+esi_ignore_other_elements,+esi_ignore_https',
];
const BLANKS = [0, 9, 10, 13];
const LEFT_OVER = ['lacks src attr', 'Illegal attribute start char'];
const PROGRAM =
  'sub vcl_backend_response { set beresp.do_esi = bereq.url ~ "^/doc"; set beresp.ttl = 0s; set beresp.grace = 0s; }';

/** Without bytes that no request goes out with here, and with the mark of UTF-8 as Varnish knows it. */
function document(n: number): Buffer {
  const bytes = brokenMarkup(new Random(SEED * 1_000_003 + n), 4);
  for (const [i, c] of bytes.entries()) if ((c < 0x20 && !BLANKS.includes(c)) || c === 0x7f) bytes[i] = 0x78;
  if (bytes[0] === 0xef) bytes[0] = 0xeb;
  return bytes;
}

function reply(request: OriginRequest): Reply {
  const n = /^\/doc\/(\d+)$/.exec(request.url)?.[1];
  if (n !== undefined) return respond('200 OK', {}, document(Number(n)));
  const host = /^host: *(.*)$/im.exec(request.head)?.[1] ?? '';
  return respond('200 OK', {}, Buffer.from(`[${host.trim()} ${request.url}]`, 'latin1'));
}

/** A long text by its beginning and its hash: broken markup may include a page many times. */
function shortened(body: Buffer): string {
  const text = body.toString('latin1');
  if (text.length <= 1000) return text;
  return `${text.slice(0, 200)}… ${text.length} bytes, sha1 ${createHash('sha1').update(body).digest('hex')}`;
}

/** Result of each document, followed by its errors. */
async function play(box: Sandbox, product: Product, feature: string, from: number, to: number) {
  const origin = await Origin.start();
  origin.on('*', reply);
  const params: Record<string, string> = {
    vsl_mask: '-ReqHeader,-RespHeader,-BereqHeader,-BerespHeader,-Timestamp,-VCL_call,-VCL_return,-TTL',
    ...(feature === '' ? {} : { feature }),
    ...(product === 'proxyd' ? { esi_parallel: '1' } : {}),
  };
  const proxy = await startProxy(box, { product, params, program: backendProgram(origin.port, PROGRAM) });
  const texts: string[] = [];
  for (let n = from; n < to; n++) {
    const { status, complete, body } = await fetchOnce(proxy.port, `/doc/${n}`, { host: 'page.test' });
    texts.push(`${status} ${complete} ${shortened(body)}`);
  }
  await proxy.requestsLogged(to - from);
  const log = await proxy.log('-g', 'raw', '-i', 'BereqURL,ESI_xmlerror');
  const urls = new Map<string, number>();
  for (const line of log.split('\n')) {
    const [, id = '', tag, text = ''] = /^ *(\d+) (\S+) +\S (.*)$/.exec(line) ?? [];
    const page = /^\/doc\/(\d+)$/.exec(text)?.[1];
    if (tag === 'BereqURL' && page !== undefined) urls.set(id, Number(page) - from);
    const at = urls.get(id);
    if (tag === 'ESI_xmlerror' && at !== undefined) texts[at] += `\n${text}`;
  }
  await proxy.stop();
  await origin.close();
  return texts;
}

const COUNT = Math.ceil(DOCS / FEATURES.length);

/** The name of a document among the answers. */
function nameOf(n: number, feature: string): string {
  return `${n} with feature "${feature}"`;
}

describe.each(FEATURES)('Random markup with feature "%s"', (feature) => {
  const answers = recording(`esi-markup${feature.replaceAll(/[^a-z_]+/g, '-')}`);
  const box = new Sandbox('proxyd-esi-markup');
  let reference: Reference<string>;
  let ours: Answers<string>;
  beforeAll(
    async () => {
      const names = Array.from({ length: COUNT }, (_, n) => nameOf(n, feature));
      const inputs = new Map(names.map((name, n) => [name, document(n).toString('latin1')]));
      [reference, ours] = await answers.both(
        inputs,
        async (product) => {
          const texts: string[] = [];
          for (let from = 0; from < COUNT; from += A_DAEMON)
            texts.push(...(await play(box, product, feature, from, Math.min(from + A_DAEMON, COUNT))));
          return new Map(names.map((name, n) => [name, texts[n] ?? '']));
        },
        'in turn',
      );
    },
    DOCS * 100 + 60_000,
  );
  afterAll(() => box.dispose());

  it('is read as Varnish reads it', () => {
    for (let n = 0; n < COUNT; n++) {
      const wanted = reference.get(nameOf(n, feature));
      const text = ours.get(nameOf(n, feature)) ?? '';
      // Varnish remembers some of a tag that something was wrong with when it reads the next one.
      if (wanted.includes('has multiple src=')) continue;
      if (LEFT_OVER.some((output) => text.includes(output) && !wanted.includes(output))) continue;
      const label = `${n} ${document(n).toString('latin1')} : `;
      expect(label + text).toBe(label + wanted);
    }
  });
});
