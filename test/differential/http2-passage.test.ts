// The cases of passage.test.ts over HTTP/2 on both daemons.
import { compareCases } from './compare.ts';
import { PASSAGE_OVER_HTTP2 } from './http2-known.ts';
import { PASSAGE_CASES } from './passage-cases.ts';

compareCases(
  'http2-passage',
  'what passes through over HTTP/2, beside Varnish',
  { cases: PASSAGE_CASES, program: 'passage.vcl', protocol: 'HTTP/2' },
  PASSAGE_OVER_HTTP2,
);
