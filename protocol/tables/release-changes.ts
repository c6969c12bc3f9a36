// Changes of Varnish between 7.1 and 9.0 that a program, a client or a script notices: one row each. Code asks
// the rows of a program (`program.changes`), and param.show, proxy-vcl(7), the list of daemon/differences and
// `proxyd --lint --release 9.0` are made from them. What was only added is not here: it is there always.
// Sources: the public release notes and upgrade notes of each release (doc/sphinx/whats-new, doc/changes.rst).

/** Values of the parameter varnish_release. */
export const RELEASES = ['7.1', '9.0'] as const;

export type Release = (typeof RELEASES)[number];

export interface ReleaseChange {
  /** The release of Varnish that brought it. */
  readonly since: '7.2' | '7.3' | '7.4' | '7.5' | '7.6' | '7.7' | '8.0' | '9.0';
  /** A few words, which begin the entry. */
  readonly topic: string;
  /** Behaviour of 7.1. Markdown, one or two sentences. */
  readonly before: string;
  /** Behaviour of the newer release. Markdown, one or two sentences. */
  readonly after: string;
  /**
   * `parameter`: follows varnish_release. `always`: the newer behaviour in both, because it mends a defect.
   */
  readonly here: 'parameter' | 'always';
  /** The reason for `here`, or what to do. Markdown, one sentence. */
  readonly why: string;
}

const follows = (
  since: ReleaseChange['since'],
  topic: string,
  before: string,
  after: string,
  why: string,
): ReleaseChange & { here: 'parameter' } => ({ since, topic, before, after, here: 'parameter', why });

const mended = (
  since: ReleaseChange['since'],
  topic: string,
  before: string,
  after: string,
  why: string,
): ReleaseChange & { here: 'always' } => ({ since, topic, before, after, here: 'always', why });

// biome-ignore format: a row is one change, not eight lines
export const RELEASE_CHANGES = {
  requestVia: follows('7.2', 'Via',
    'Requests go on without a word of this proxy, and a Via of the origin is followed by a line of our own.',
    'Before `vcl_recv` a member is added to the Via of the request, and to that of the response ahead of `vcl_deliver`, in one line each.',
    'Programs that compare `req.http.Via` see another value.'),
  backendCloseNames: follows('7.5', 'Reasons in BackendClose',
    'Words, as in `Receive timeout`.',
    'The names of SessClose, as in `RX_TIMEOUT`.',
    'Readers of the log match one or the other.'),
  headersBeforeBeresp: follows('7.3', 'Place of the Beresp timestamp',
    'Ahead of the headers of the response.',
    'After those that the origin sent.',
    'Origins log their headers themselves.'),
  esiLevelInLog: follows('7.2', 'Level of a fragment in Begin and Link',
    '`req 12 esi`.',
    '`req 12 esi 1`: the level follows.',
    'Log tools choose by it (`-E`).'),
  esiDepthWords: follows('7.3', 'Word for too deep pages',
    'VCL_Error says `ESI depth limit reach`.',
    'It says `reached`.',
    'Readers of the log match one or the other.'),
  unknownMethods: follows('8.0', 'Unknown methods',
    'The builtin program makes a tunnel (`return (pipe)`) of a request whose method it does not know.',
    'It answers 501 and closes the connection.',
    'To keep the tunnel for a method, return it from `vcl_req_method`.'),
  targetForm: follows('9.0', 'Form of the URL',
    'The builtin program looks up whatever `req.url` is.',
    'It answers 400 unless `req.url` begins with a slash; OPTIONS may ask for `*`, and CONNECT is left to `vcl_req_method`.',
    'Programs that give `req.url` another form return from `vcl_req_url`.'),
  strayContentRange: follows('7.6', 'Content-Range in a whole response',
    'A Content-Range in a response that is neither 206 nor 416 is kept.',
    'The builtin program removes it (`vcl_beresp_range`).',
    'RFC 9110 section 14.4 gives it no meaning there.'),
  sharedArrivals: follows('8.0', 'Waiting requests',
    'Requests that wait for a fetch look up again when it is there: a response without a ttl is not found, and they are served one after the other.',
    'All who wait get what arrives, also with a ttl of 0, unless it is uncacheable.',
    'A response that came after a request is new enough for it.'),
  pipeTimeouts: follows('7.5', 'Reason of idle pipes',
    'A pipe that was idle for pipe_timeout ends with the reason TX_PIPE.',
    'It ends with RX_TIMEOUT (`SessClose`, `BackendClose`, `MAIN.sc_rx_timeout`).',
    'A pipe that lasts longer than pipe_task_deadline ends with RX_TIMEOUT in any case.'),
  gracefulStop: mended('8.0', 'Stop',
    '`stop` and SIGTERM end the worker at once, in the middle of responses.',
    'Transactions under way are finished first.',
    'Here they have `stop_timeout` (8 s) for it, where Varnish waits without a limit; 0 stops at once.'),
  closesMalformed: mended('7.7', 'Malformed requests',
    'Some malformed requests get their 400 on a connection that stays open.',
    'The connection is closed after any malformed request.',
    'Nobody knows where the next request would begin.'),
} as const satisfies Record<string, ReleaseChange>;

export type ChangeName = keyof typeof RELEASE_CHANGES;

/** For each change that follows the parameter, whether the newer behaviour holds. */
export type Changes = {
  readonly [N in ChangeName as (typeof RELEASE_CHANGES)[N]['here'] extends 'parameter' ? N : never]: boolean;
};

function changesFor(release: Release): Changes {
  const names = Object.entries(RELEASE_CHANGES).filter(([, { here }]) => here === 'parameter');
  return Object.freeze(Object.fromEntries(names.map(([name]) => [name, release === '9.0']))) as Changes;
}

const CHANGES: Readonly<Record<Release, Changes>> = { '7.1': changesFor('7.1'), '9.0': changesFor('9.0') };

/** The changes under a value of varnish_release. */
export function changesOf(release: Release): Changes {
  return CHANGES[release];
}
