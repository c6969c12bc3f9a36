// The origin of every proxy in the bench: one cacheable page for any URL, of 1 KiB or, if its path names one, of
// another size (/64k, /100m); that of /vary has variants. Prints its port.
import { createServer } from 'node:http';

const UNITS = { k: 1024, m: 1024 * 1024 };
const block = Buffer.alloc(64 * 1024, 'x');

/** Writes this many bytes as the client takes them. */
function send(response, left) {
  while (left > 0) {
    const piece = block.subarray(0, Math.min(left, block.length));
    left -= piece.length;
    if (!response.write(piece)) {
      response.once('drain', () => send(response, left));
      return;
    }
  }
  response.end();
}

const server = createServer((request, response) => {
  const [, count, unit] = /^\/(\d+)([km])\b/.exec(request.url) ?? [undefined, '1', 'k'];
  const length = Number(count) * UNITS[unit];
  // An upload is read to its end.
  request.resume();
  response.writeHead(200, {
    'Content-Type': 'text/plain',
    'Cache-Control': 'max-age=3600',
    'Content-Length': length,
    ...(request.url.startsWith('/vary') ? { Vary: 'x-v' } : {}),
  });
  if (length > block.length) send(response, length);
  else response.end(block.subarray(0, length));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
