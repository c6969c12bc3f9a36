// Pages of edge-side includes whose logs the console explains: each page is about one thing that makes a page slow,
// uncacheable or incomplete. The name of a case is the URL of its page.

import { type Action, type Origin, respond } from '../origin.ts';

const KEPT = { 'Cache-Control': 'max-age=60' };
const HTML = { ...KEPT, 'Content-Type': 'text/html' };
const NOT_THERE = ['1', '2', '3'].map((n) => `/many${n}`);

const include = (...urls: readonly string[]): string =>
  `<html>${urls.map((url) => `<p><esi:include src="${url}"/></p>`).join('')}</html>`;

/** Page by URL. Those in `TWICE` are asked for twice, so that their fragments are hits at the end. */
const PAGES: Readonly<Record<string, string>> = {
  '/plain-page': '<html>nothing of ESI</html>',
  '/slow-page': include('/a', '/slow', '/b'),
  '/warm-page': include('/a', '/b', '/a'),
  '/passing-page': include('/a', '/basket-pass', '/greeting', '/no-life', '/b'),
  '/failing-page': include('/a', '/gone', '/refused', '/missing'),
  '/cut-page': include('/a', '/cut', '/b'),
  '/looping-page': include('/looping-page'),
  '/nested-page': include('/outer', '/b'),
  '/outer': `<div>${'outer '}<esi:include src="/inner"/></div>`,
  '/inner': '<i><esi:include src="/slow2"/></i>',
  '/broken-page': '<html><esi:include/><esi:bogus/><esi:include src="/a"></html>',
  '/text-page': 'No markup <esi:include src="/a"/>',
  '/remote-page': include('http://elsewhere.example/a', '/a'),
  '/many-page': include(...NOT_THERE, '/a', '/b'),
  '/cookie-page': include('/a'),
};

const TWICE = ['/warm-page', '/passing-page'];

/** Requests, in order. */
export const ESI_PAGES: readonly string[] = Object.keys(PAGES)
  .filter((url) => url.endsWith('-page'))
  .flatMap((url) => (TWICE.includes(url) ? [url, url] : [url]));

export function serveEsiPages(origin: Origin): void {
  for (const [url, body] of Object.entries(PAGES))
    origin.on(url, respond('200 OK', url === '/cookie-page' ? { ...HTML, 'Set-Cookie': 'a=b' } : HTML, body));
  for (const url of ['/a', '/b', '/basket-pass', ...NOT_THERE])
    origin.on(url, respond('200 OK', KEPT, `fragment ${url}\n`));
  for (const url of ['/slow', '/slow2'])
    origin.on(url, [{ wait: 150 }, ...respond('200 OK', KEPT, `fragment ${url}\n`)]);
  origin.on('/greeting', respond('200 OK', { ...KEPT, 'Set-Cookie': 'name=x' }, 'hello\n'));
  origin.on('/no-life', respond('200 OK', { 'Cache-Control': 'max-age=0' }, 'now\n'));
  origin.on('/gone', respond('404 Not Found', KEPT, 'not here\n'));
  origin.on('/missing', [{ close: true }]);
  origin.on('/cut', cut());
}

/** A body that ends too early, after the client has got its beginning. */
function cut(): readonly Action[] {
  return [{ send: 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nbegun' }, { wait: 50 }, { close: true }];
}

/** The program; `port` is the origin's. */
export function esiProgram(port: number): string {
  return `vcl 4.1;
backend shop { .host = "127.0.0.1"; .port = "${port}"; }
backend nobody { .host = "127.0.0.1"; .port = "1"; }
sub vcl_recv {
  set req.backend_hint = shop;
  if (req.url == "/refused") { set req.backend_hint = nobody; }
  if (req.url ~ "-pass$") { return (pass); }
}
sub vcl_backend_response {
  set beresp.grace = 0s;
  if (bereq.url ~ "page$|/outer|/inner") { set beresp.do_esi = true; }
}
`;
}
