// The cases of basic.test.ts whose requests HTTP/2 can say as well, over HTTP/2 on both daemons: responses, requests to the
// origin, and the log of sessions and streams.
import { CASES } from './cases.ts';
import { compareCases } from './compare.ts';
import { BASIC_OVER_HTTP2 } from './http2-known.ts';

compareCases(
  'http2-basic',
  'proxyd over HTTP/2 beside Varnish’s daemon',
  { cases: CASES, program: 'basic.vcl', protocol: 'HTTP/2' },
  BASIC_OVER_HTTP2,
);
