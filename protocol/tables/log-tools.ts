// Options of the tools that read the log: letters and arguments are those of varnishlog(1), varnishncsa(1),
// varnishtop(1) and varnishhist(1), and --optstring prints them in the same order.

import { type OptionRow, option, type ToolRow } from './tool-row.ts';

const BACKEND = option('-b', '', 'Backend side only');
const CLIENT = option('-c', '', 'Client side only');
const CASELESS = option('-C', '', 'Regular expressions ignore case');
const HELD = option('-d', '', 'Print what the log holds now, then exit');
const DAEMON = option('-D', '', 'Run in the background');
const ESI = option('-E', '', 'Client side with ESI subrequests');
const GROUPING = option('-g', 'session|request|vxid|raw', 'Grouping (default: vxid)');
const HALF_GROUPING: OptionRow = { ...GROUPING, argument: 'request|vxid' };
const INCLUDE = option('-i', 'taglist', 'Include tags');
const INCLUDE_REGEX = option('-I', '[taglist:]regex', 'Include by regex');
const LIMIT = option('-L', 'limit', 'Incomplete transactions to keep');
const QUERY_FILE = option('-Q', 'file', 'Query from a file');
const QUERY = option('-q', 'query', 'Query');
const INPUT = option('-r', 'filename', 'Read a binary file, - for standard input');
const RATE = option('-R', 'limit[/duration]', 'Limit the rate of output');
const TRANSACTION_TIMEOUT = option('-T', 'seconds', 'How long a transaction may stay incomplete');
const EXCLUDE = option('-x', 'taglist', 'Exclude tags');
const EXCLUDE_REGEX = option('-X', '[taglist:]regex', 'Exclude by regex');

/** For every tool that attaches to a daemon like Varnish's. */
export const HELP = option('-h, --help', '', 'This text', { answer: 'help' });
export const DIRECTORY = option(
  '-n',
  'dir',
  'Working directory of the daemon (default: PROXYD_DEFAULT_N or VARNISH_DEFAULT_N of the environment, else its usual places)',
);
export const PID_FILE = option('-P', 'file', 'Write the process id to a file once attached');
export const ATTACH_TIMEOUT = option('-t', 'seconds|off', 'How long to try to attach');
export const VERSION = option(
  '-V, --version',
  '',
  'Version, and the release of Varnish it is compatible with',
  { answer: 'version' },
);
export const OPTSTRING = option('--optstring', '', 'Print the getopt(3) option string, for wrapper scripts', {
  answer: 'optstring',
});

const TOOL = { usage: '<options>', answersOn: 'stderr', bracketed: true } as const;

const FULL_DISK =
  'Output that cannot be written, on a full disk for instance, ends it with status 1 and the reason; a pipe whose reader ' +
  'has gone ends it quietly.';

export const PROXYLOG: ToolRow = {
  ...TOOL,
  name: 'proxylog',
  summary: 'show the log of proxyd',
  text: `Follows the log, or prints what it holds (-d), grouped and filtered; proxy-log(7) has the tags, proxy-query(7) groups and queries. A tag asked for that proxyd never writes is named once on standard error. A file of -w is made for its user alone (mode 0600). ${FULL_DISK}`,
  // biome-ignore format: a row is a line
  options: [
    option('-a', '', 'Append to the -w file'),
    option('-A', '', 'Write text to the -w file'),
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
    option('-k', 'num', 'Exit after this many transactions'),
    LIMIT,
    DIRECTORY,
    PID_FILE,
    QUERY_FILE,
    QUERY,
    INPUT,
    RATE,
    ATTACH_TIMEOUT,
    TRANSACTION_TIMEOUT,
    option('-u', '', 'Unbuffered output (always on)'),
    option('-v', '', 'Transaction id and side on every line'),
    VERSION,
    option('-w', 'filename', 'Write to a file, binary unless -A'),
    EXCLUDE,
    EXCLUDE_REGEX,
    option('--json', '', 'One JSON object per transaction and line'),
    OPTSTRING,
  ],
};

export const PROXYLOG_JSON: ToolRow = {
  ...TOOL,
  name: 'proxylog-json',
  summary: 'show the log of proxyd as JSON objects',
  text: `Writes an object for each request of a client, a line each: request and response as the other side has seen them, how the request was handled, times, links to other transactions. The members are listed below; \`-i\`, \`-I\`, \`-x\` and \`-X\` leave out those whose records they leave out. Requests to backends are shown with -b, fragments of pages with -E. With -g request all transactions of a group are one list; with -g probe there is an object for each probe of a backend. The form is that of varnishlog-json(1). SIGHUP has it open its file again in the background and ends it in the foreground; SIGUSR1 writes incomplete transactions. ${FULL_DISK}`,
  // biome-ignore format: a row is a line
  options: [
    option('-a', '', 'Append to the -w file'),
    option('-b', '', 'Requests to backends'),
    option('-c', '', 'Requests of clients (default)'),
    CASELESS,
    HELD,
    DAEMON,
    option('-E', '', 'Requests of clients and ESI subrequests'),
    option('-g', 'request|vxid|probe', 'An object a transaction (vxid, the default), a list a group (request), or an object a probe'),
    HELP,
    INCLUDE,
    INCLUDE_REGEX,
    option('-k', 'num', 'Exit after this many transactions'),
    LIMIT,
    DIRECTORY,
    option('-p', '', 'Over several lines, indented'),
    PID_FILE,
    QUERY_FILE,
    QUERY,
    INPUT,
    RATE,
    ATTACH_TIMEOUT,
    TRANSACTION_TIMEOUT,
    VERSION,
    option('-w', 'filename', 'Write to a file'),
    EXCLUDE,
    EXCLUDE_REGEX,
    OPTSTRING,
  ],
};

export const PROXYNCSA: ToolRow = {
  ...TOOL,
  name: 'proxyncsa',
  summary: 'access log of proxyd in NCSA formats',
  text: `One line a request, in the combined format unless -F says otherwise: proxy-ncsa(7) has the formats, proxy-query(7) the queries of -q. With -D it goes to the background, and SIGHUP has it open its file again after the old one was moved away; in the foreground SIGHUP ends it. ${FULL_DISK}`,
  // biome-ignore format: a row is a line
  options: [
    option('-a', '', 'Append to the -w file'),
    option('-b', '', 'Backend requests'),
    option('-c', '', 'Client requests (default)'),
    CASELESS,
    HELD,
    DAEMON,
    option('-E', '', 'Client requests and ESI subrequests'),
    option('-F', 'format', 'Format of the lines'),
    option('-f', 'formatfile', 'Format from the first line of a file'),
    HALF_GROUPING,
    HELP,
    option('-j', '', 'Values escaped so that a format of -F may be JSON'),
    option('-k', 'num', 'Exit after this many transactions'),
    LIMIT,
    DIRECTORY,
    PID_FILE,
    QUERY_FILE,
    QUERY,
    INPUT,
    RATE,
    ATTACH_TIMEOUT,
    VERSION,
    option('-w', 'filename', 'Write to a file'),
    option('--release', '7.1|9.0', 'Which of several headers is shown, and the words for the handling, as in this release of Varnish (default: varnish_release of the daemon)'),
    OPTSTRING,
  ],
};

export const PROXYTOP: ToolRow = {
  ...TOOL,
  name: 'proxytop',
  summary: 'most frequent log records of proxyd',
  text: 'Ranks the records of the log by how often they come: all (proxy-log(7) has their tags), or of the groups that a query of -q finds (proxy-query(7)). Records are counted, not requests: each restart of a request and each fragment of a page has records of its own, which -q \'Begin[3] eq "rxreq"\' leaves out.',
  // biome-ignore format: a row is a line
  options: [
    option('-1', '', 'What the log holds now, once, as text'),
    BACKEND,
    CLIENT,
    CASELESS,
    option('-d', '', 'Begin with what the log holds now'),
    ESI,
    option('-f', '', 'Only the first field of each record'),
    GROUPING,
    HELP,
    INCLUDE,
    INCLUDE_REGEX,
    LIMIT,
    DIRECTORY,
    option('-p', 'period', 'Seconds to measure over (60)'),
    QUERY_FILE,
    QUERY,
    INPUT,
    ATTACH_TIMEOUT,
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
  // biome-ignore format: a row is a line
  options: [
    option('-1', '', 'Once, as text'),
    option('-B', 'factor', 'How fast a recording passes: 1 as it happened, 2 twice as fast'),
    CASELESS,
    HELD,
    HALF_GROUPING,
    HELP,
    LIMIT,
    DIRECTORY,
    option('-p', 'period', 'Seconds between refreshes (1)'),
    option('-P', 'profile|[cbE:]tag:[prefix]:field_num[:min:max]', PROFILES),
    QUERY_FILE,
    QUERY,
    INPUT,
    ATTACH_TIMEOUT,
    TRANSACTION_TIMEOUT,
    VERSION,
    OPTSTRING,
  ],
};
