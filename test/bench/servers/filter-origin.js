// The origin of the bench of body filters: /KIND?size=BYTES&packed=1&id=N answers so many bytes of that kind, packed or
// not. `page` is text with 20 includes of fragments that are as long together. A body is made once. Prints its port.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const FRAGMENTS = 20;
const WORDS = ['price', 'new', 'the', 'basket', 'item', 'sale', 'of', 'a', 'winter', 'coat'];

/** Text that packs about as well as HTML does. */
function text(size, [before, behind]) {
  let out = '';
  const block = Math.min(size, 1 << 20);
  for (let i = 0; out.length < block; i++)
    out += `${before}${WORDS[(i * 7 + (i >> 3)) % WORDS.length]}${behind} ${(i * 2654435761) % 9973} `;
  return Buffer.alloc(size, out.slice(0, block), 'latin1');
}

function page(size, query) {
  const each = Math.floor(size / FRAGMENTS);
  const include = (i) =>
    `<esi:include src="/text?size=${each}&amp;packed=${query.packed}&amp;id=${query.id}-${i}"/>`;
  return Buffer.from(
    `<html>${Array.from({ length: FRAGMENTS }, (_, i) => include(i)).join('some text')}</html>`,
  );
}

const STATEMENTS = 5000;

function statements(size) {
  const statement = '<esi:remove>x</esi:remove>';
  const between = text(Math.floor(size / STATEMENTS) - statement.length, ['', '.']).toString();
  return Buffer.from(`<p>${(statement + between).repeat(STATEMENTS)}`);
}

const KINDS = {
  statements,
  text: (size) => text(size, ['', '.']),
  markup: (size) => text(size, ['<p class="x">', '</p>\n']),
  letters: (size) => Buffer.alloc(size, 'a'),
  blanks: (size) => Buffer.alloc(size, ' '),
  zeros: (size) => Buffer.alloc(size),
  tags: (size) => Buffer.alloc(size, '<a>'),
};
const made = new Map();

function bodyOf(kind, size, packed) {
  const key = `${kind} ${size} ${packed}`;
  let body = made.get(key);
  if (body === undefined) {
    body = KINDS[kind](size);
    if (packed) body = gzipSync(body);
    made.set(key, body);
  }
  return body;
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://origin');
  const query = Object.fromEntries(searchParams);
  const kind = pathname.slice(1);
  const size = Number(query.size);
  const packed = query.packed === '1';
  let body;
  if (kind === 'page') {
    body = page(size, query);
    if (packed) body = gzipSync(body);
  } else body = bodyOf(kind, size, packed);
  response.writeHead(200, {
    'Content-Type': 'text/html',
    'Cache-Control': 'max-age=3600',
    ...(packed ? { 'Content-Encoding': 'gzip' } : {}),
    'Content-Length': body.length,
  });
  response.end(body);
}).listen(0, '127.0.0.1', 1024, function listening() {
  console.log(this.address().port);
});
