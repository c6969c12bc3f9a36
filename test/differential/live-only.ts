// Test files of this folder and of test/conformance that `npm test` leaves out, and why: they need Varnish itself, or
// take more than a comparison may take there. `npm run test:peers` plays all of them.

/** Too long for every change, or hanging on the speed of the machine: `npm run test:peers` replays them. */
export const LATER: Readonly<Record<string, string>> = {
  'differential/backends.test.ts': 'waits for probes and for times that run out',
  'differential/broken-connections.test.ts': 'how an end is seen hangs on what has been read before it',
  'differential/commands.test.ts': 'starts a tool for each command',
  'differential/corpus.test.ts': 'loads a hundred and fifty programs of operators, each with its requests',
  'differential/counters.test.ts': 'counters are final once they have not moved for a while',
  'differential/data-extensions.test.ts': 'takes a minute',
  'differential/esi-markup.test.ts': 'parses many random documents',
  'differential/extensions.test.ts': 'calls each function of each extension',
  'differential/http2-machine.test.ts': 'plays machine.test.ts once more, over HTTP/2',
  'differential/http2-scenarios.test.ts': 'plays the scenarios once more, over HTTP/2',
  'differential/matrix.test.ts': 'sends nine thousand requests',
  'differential/parameters.test.ts': 'sets each parameter to each value',
  'differential/scenarios-bodies.test.ts': 'waits for counters and for lives to end',
  'differential/sockets.test.ts': 'sessions are told apart by their order',
  'differential/vcl-compile.test.ts': 'compiles more than a thousand programs',
};

export const LIVE_ONLY: Readonly<Record<string, string>> = {
  'conformance/http-cache.test.ts': 'plays a public suite of several hundred tests against three proxies',
  'differential/admin-tools.test.ts': 'Varnish’s own varnishadm asks our daemon',
  'differential/command-lines.test.ts': 'runs each tool of both products some three hundred times',
  'differential/directors-balance.test.ts': 'statistics of two thousand requests: nothing is compared',
  'differential/esi-sites.test.ts': 'compares with a reference of its own, on several daemons',
  'differential/http2-matrix.test.ts': 'plays matrix.test.ts once more, over HTTP/2',
  'differential/jail.test.ts': 'what a worker of each daemon has left is asked of the kernel',
  'differential/log-fragments.test.ts': 'Varnish’s tools read our recordings',
  'differential/log-queries.test.ts': 'Varnish’s varnishlog reads our recordings',
  'differential/log-recordings.test.ts': 'the log tools of each product read what the other wrote',
  'differential/log-tools.test.ts': 'Varnish’s tools read random recordings',
  'differential/nonsense-options.test.ts': 'starts each daemon some hundred times',
  'differential/query.test.ts': 'Varnish’s varnishlog reads our recordings',
  'differential/tag-names.test.ts': 'Varnish’s tools are asked for each beginning of each name',
  'differential/varnish-source.test.ts': 'the console is attached to a running Varnish',
};
