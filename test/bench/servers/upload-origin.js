// The origin of growth/uploads.js: reads the body of a POST to its end, and answers everything else with a small page
// that may be cached. Prints its port.
import { createServer } from 'node:http';

const body = Buffer.alloc(1024, 'x');
const server = createServer((request, response) => {
  const answer = () => {
    response.writeHead(200, { 'Cache-Control': 'max-age=3600', 'Content-Length': body.length });
    response.end(body);
  };
  if (request.method === 'POST')
    request
      .resume()
      .on('end', answer)
      .on('error', () => undefined);
  else answer();
});
server.listen({ host: '127.0.0.1', port: 0, backlog: 1024 }, () => console.log(server.address().port));
