// The page by which an operator sees that edge network, proxy and connector work together: its size and headers are
// known, so that each hop's part in them can be told.

/** Bytes of the page, and its lifetimes in seconds. */
export const TEST_OBJECT = { size: 20_480, ttl: 60, grace: 10, path: '/testobject.html' };

const HEAD =
  '<!DOCTYPE html>\n<html lang="en">\n<head><title>Test object</title></head>\n<body>\n<h1>Test object</h1>\n<pre>\n';
const TAIL = '</pre>\n</body>\n</html>\n';

/** The page, always the same. */
export function testPage(): string {
  const room = TEST_OBJECT.size - HEAD.length - TAIL.length;
  let lines = '';
  for (let i = 1; lines.length < room; i++) lines += `Line ${i} of a page whose size is known.\n`;
  return `${HEAD}${lines.slice(0, room - 1)}\n${TAIL}`;
}

/** Headers of the page; `identity` is the proxy's. */
export function testHeaders(identity: string, version: string): readonly (readonly [string, string])[] {
  return [
    ['Content-Type', 'text/html; charset=utf-8'],
    ['Edge-Control', `max-age=${TEST_OBJECT.ttl + TEST_OBJECT.grace}`],
    ['Cache-Control', `post-check=${TEST_OBJECT.ttl}`],
    ['Via', `1.1 ${identity} (proxyd/0.1), 1.1 edge-connector (Edge-Connector/${version})`],
    ['Accept-Ranges', 'bytes'],
  ];
}
