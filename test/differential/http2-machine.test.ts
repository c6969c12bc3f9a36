// The cases of machine.test.ts over HTTP/2 on both daemons.
import { compareCases } from './compare.ts';
import { MACHINE_OVER_HTTP2 } from './http2-known.ts';
import { MACHINE_CASES } from './machine-cases.ts';

compareCases(
  'http2-machine',
  'the state machines over HTTP/2 beside Varnish',
  { cases: MACHINE_CASES, program: 'machine.vcl', params: { pipe_timeout: '1' }, protocol: 'HTTP/2' },
  MACHINE_OVER_HTTP2,
);
