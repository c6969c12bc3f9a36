// The options of the tools that read the log: letters and arguments are as in varnishlog(1), varnishncsa(1),
// varnishtop(1) and varnishhist(1), and --optstring prints them in the same order.

import type { OptionRow, ToolRow } from './tool-row.ts';

const BACKEND: OptionRow = { flags: '-b', help: 'Backend side only' };
const CLIENT: OptionRow = { flags: '-c', help: 'Client side only' };
const CASELESS: OptionRow = { flags: '-C', help: 'Regular expressions ignore case' };
const HELD: OptionRow = { flags: '-d', help: 'What the log holds now, then exit' };
const DAEMON: OptionRow = { flags: '-D', help: 'Go to the background' };
const ESI: OptionRow = { flags: '-E', help: 'Client side with ESI subrequests' };
const GROUPING: OptionRow = {
  flags: '-g',
  argument: 'session|request|vxid|raw',
  help: 'Grouping (default: vxid)',
};
const HALF_GROUPING: OptionRow = { ...GROUPING, argument: 'request|vxid' };
const INCLUDE: OptionRow = { flags: '-i', argument: 'taglist', help: 'Include tags' };
const INCLUDE_REGEX: OptionRow = { flags: '-I', argument: '[taglist:]regex', help: 'Include by regex' };
const LIMIT: OptionRow = { flags: '-L', argument: 'limit', help: 'Incomplete transactions to keep' };
const QUERY_FILE: OptionRow = { flags: '-Q', argument: 'file', help: 'Query from a file' };
const QUERY: OptionRow = { flags: '-q', argument: 'query', help: 'Query' };
const INPUT: OptionRow = {
  flags: '-r',
  argument: 'filename',
  help: 'Read a binary file, - for standard input',
};
const RATE: OptionRow = { flags: '-R', argument: 'limit[/duration]', help: 'Limit the rate of output' };
const TRANSACTION_TIMEOUT: OptionRow = {
  flags: '-T',
  argument: 'seconds',
  help: 'How long a transaction may stay incomplete',
};
const EXCLUDE: OptionRow = { flags: '-x', argument: 'taglist', help: 'Exclude tags' };
const EXCLUDE_REGEX: OptionRow = { flags: '-X', argument: '[taglist:]regex', help: 'Exclude by regex' };

/** Of every tool that attaches to a daemon as Varnish's do. */
export const HELP: OptionRow = { flags: '-h, --help', help: 'This text', answer: 'help' };
export const DIRECTORY: OptionRow = {
  flags: '-n',
  argument: 'dir',
  help: 'Working directory of the daemon; else its default places',
};
export const PID_FILE: OptionRow = {
  flags: '-P',
  argument: 'file',
  help: 'Write the process id, once attached',
};
export const PATIENCE: OptionRow = {
  flags: '-t',
  argument: 'seconds|off',
  help: 'How long to try to attach',
};
export const VERSION: OptionRow = {
  flags: '-V, --version',
  help: 'Version, and the release of Varnish it is compatible with',
  answer: 'version',
};
export const OPTSTRING: OptionRow = {
  flags: '--optstring',
  help: 'What getopt(3) takes, for wrapper scripts',
  answer: 'optstring',
};

const TOOL = { usage: '<options>', answersOn: 'stderr', bracketed: true } as const;

const FULL_DISK =
  'Output that cannot be written, on a full disk for instance, ends it with status 1 and the reason; a pipe whose reader ' +
  'has gone ends it quietly.';

export const PROXYLOG: ToolRow = {
  ...TOOL,
  name: 'proxylog',
  summary: 'show the log of proxyd',
  text: `Follows the log, or prints what it holds (-d), grouped and filtered; proxy-log(7) has the tags, proxy-query(7) groups and queries. A tag asked for that proxyd never writes is named once on standard error. A file of -w is made for its user alone (mode 0600). ${FULL_DISK}`,
  options: [
    { flags: '-a', help: 'Append to the file of -w' },
    { flags: '-A', help: 'Text into the file of -w' },
    BACKEND,
    CLIENT,
    CASELESS,
    HELD,
    DAEMON,
    ESI,
    GROUPING,
    HELP,
    INCLUDE,
    INCLUDE_REGEX,
    { flags: '-k', argument: 'num', help: 'Exit after this many transactions' },
    LIMIT,
    DIRECTORY,
    PID_FILE,
    QUERY_FILE,
    QUERY,
    INPUT,
    RATE,
    PATIENCE,
    TRANSACTION_TIMEOUT,
    { flags: '-u', help: 'Unbuffered output (always so)' },
    { flags: '-v', help: 'Transaction id and side on every line' },
    VERSION,
    { flags: '-w', argument: 'filename', help: 'Write to a file, binary unless -A' },
    EXCLUDE,
    EXCLUDE_REGEX,
    { flags: '--json', help: 'One JSON object per transaction and line' },
    OPTSTRING,
  ],
};

export const PROXYNCSA: ToolRow = {
  ...TOOL,
  name: 'proxyncsa',
  summary: 'access log of proxyd in NCSA formats',
  text: `One line a request, in the combined format unless -F says otherwise: proxy-ncsa(7) has the formats, proxy-query(7) the queries of -q. With -D it goes to the background, and SIGHUP has it open its file again after the old one was moved away; in the foreground SIGHUP ends it. ${FULL_DISK}`,
  options: [
    { flags: '-a', help: 'Append to the file of -w' },
    { flags: '-b', help: 'Backend requests' },
    { flags: '-c', help: 'Client requests (default)' },
    CASELESS,
    HELD,
    DAEMON,
    { flags: '-E', help: 'Client requests and ESI subrequests' },
    { flags: '-F', argument: 'format', help: 'Format of the lines' },
    { flags: '-f', argument: 'formatfile', help: 'Format from the first line of a file' },
    HALF_GROUPING,
    HELP,
    { flags: '-j', help: 'Values escaped so that a format of -F may be JSON' },
    LIMIT,
    DIRECTORY,
    PID_FILE,
    QUERY_FILE,
    QUERY,
    INPUT,
    RATE,
    PATIENCE,
    VERSION,
    { flags: '-w', argument: 'filename', help: 'Write to a file' },
    OPTSTRING,
  ],
};

export const PROXYTOP: ToolRow = {
  ...TOOL,
  name: 'proxytop',
  summary: 'most frequent log records of proxyd',
  text: 'Ranks the records of the log by how often they come: all (proxy-log(7) has their tags), or of the groups that a query of -q finds (proxy-query(7)). Records are counted, not requests: each restart of a request and each fragment of a page has records of its own, which -q \'Begin[3] eq "rxreq"\' leaves out.',
  options: [
    { flags: '-1', help: 'What the log holds now, once, as text' },
    BACKEND,
    CLIENT,
    CASELESS,
    { flags: '-d', help: 'Begin with what the log holds now' },
    ESI,
    { flags: '-f', help: 'Only the first field of each record' },
    GROUPING,
    HELP,
    INCLUDE,
    INCLUDE_REGEX,
    LIMIT,
    DIRECTORY,
    { flags: '-p', argument: 'period', help: 'Seconds to measure over (60)' },
    QUERY_FILE,
    QUERY,
    INPUT,
    PATIENCE,
    TRANSACTION_TIMEOUT,
    EXCLUDE,
    EXCLUDE_REGEX,
    VERSION,
    OPTSTRING,
  ],
};

const PROFILES = [
  'What to show (default: responsetime), or any other number of the log',
  'responsetime    client: until the response is ready',
  'reqbodytime     client: reading the request body',
  'size            client: size of the response body',
  'Bereqtime       backend: until the request is sent',
  'Beresptime      backend: until the response head is there',
  'BerespBodytime  backend: until the response body is there',
  'Besize          backend: size of the response body',
].join('\n');

export const PROXYHIST: ToolRow = {
  ...TOOL,
  name: 'proxyhist',
  summary: 'distributions of times and sizes in the log of proxyd',
  text: 'Draws a histogram of response times or of another number in the log; hits are |, misses #. proxy-query(7) has the queries of -q.',
  options: [
    { flags: '-1', help: 'Once, as text' },
    {
      flags: '-B',
      argument: 'factor',
      help: 'How fast a recording passes: 1 as it happened, 2 twice as fast',
    },
    CASELESS,
    HELD,
    HALF_GROUPING,
    HELP,
    LIMIT,
    DIRECTORY,
    { flags: '-p', argument: 'period', help: 'Seconds between refreshes (1)' },
    { flags: '-P', argument: 'profile|[cbE:]tag:[prefix]:field_num[:min:max]', help: PROFILES },
    QUERY_FILE,
    QUERY,
    INPUT,
    PATIENCE,
    TRANSACTION_TIMEOUT,
    VERSION,
    OPTSTRING,
  ],
};
