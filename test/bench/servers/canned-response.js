// The response of the bare servers: a head like ours, and 1 KiB.

const head = [
  'HTTP/1.1 200 OK',
  'Content-Type: text/plain',
  'Cache-Control: max-age=3600',
  'Date: Thu, 01 Jan 2026 00:00:00 GMT',
  'Content-Length: 1024',
  'Age: 12',
  'Accept-Ranges: bytes',
  'Connection: keep-alive',
  '',
  '',
].join('\r\n');

export const RESPONSE = Buffer.concat([Buffer.from(head, 'latin1'), Buffer.alloc(1024, 'x')]);
