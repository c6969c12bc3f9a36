// The origin of the bench of edge-side includes. /page?n=20&size=300&id=1&delay=100 is a page of 20 includes of
// /fragment?i=0&…, and a fragment is `size` bytes of text that packs about as well as HTML does, sent after `delay`
// milliseconds. With `gzip=1` both come packed, with `life=0` they may not be kept. Prints its port.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const WORDS = [
  '<p class="teaser">',
  'price',
  'new',
  '</p>\n',
  'the',
  'basket',
  '<a href="/item/',
  '">',
  '</a>',
  'sale',
];

function text(size, seed) {
  let out = '';
  for (let i = seed; out.length < size; i++)
    out += `${WORDS[(i * 7 + (i >> 3)) % WORDS.length]} ${(i * 2654435761) % 9973} `;
  return out.slice(0, size);
}

const server = createServer((request, response) => {
  const url = new URL(request.url, 'http://origin');
  const q = (name) => Number(url.searchParams.get(name) ?? 0);
  const page = url.pathname === '/page';
  let body;
  if (page) {
    body = '<html>';
    const life = url.searchParams.has('life') ? `&amp;life=${q('life')}` : '';
    for (let i = 0; i < q('n'); i++) {
      const src = `/fragment?i=${i}&amp;size=${q('size')}&amp;id=${q('id')}&amp;delay=${q('delay')}&amp;gzip=${q('gzip')}${life}`;
      body += `<div>${text(150, i).replaceAll(/[<>]/g, ' ')}</div><esi:include src="${src}"/>\n`;
    }
    body += '</html>';
  } else body = text(q('size'), q('i'));
  const bytes = q('gzip') === 1 ? gzipSync(body) : Buffer.from(body);
  const send = () => {
    response.writeHead(200, {
      'Content-Type': 'text/html',
      'Cache-Control': `max-age=${url.searchParams.get('life') || 3600}`,
      'X-Esi': page ? '1' : '0',
      ...(q('gzip') === 1 ? { 'Content-Encoding': 'gzip' } : {}),
      'Content-Length': bytes.length,
    });
    response.end(bytes);
  };
  if (page || q('delay') === 0) send();
  else setTimeout(send, q('delay'));
});
server.listen(0, '127.0.0.1', 1024, () => console.log(server.address().port));
