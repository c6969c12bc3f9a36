// The origin behind every proxy of the bench: one cacheable page of 1 KiB for any URL. Prints its port.
import { createServer } from 'node:http';

const body = Buffer.alloc(1024, 'x');
const server = createServer((_request, response) => {
  response.writeHead(200, {
    'Content-Type': 'text/plain',
    'Cache-Control': 'max-age=3600',
    'Content-Length': body.length,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
