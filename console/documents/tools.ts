// The commands a package brings: what each is, in a line and in a paragraph. What they take is in their usage texts.

export interface ToolRow {
  name: string;
  summary: string;
  text: string;
}

export const TOOLS: readonly ToolRow[] = [
  {
    name: 'proxyd',
    summary: 'HTTP caching reverse proxy programmed in VCL',
    text: 'Two processes: the manager compiles programs, keeps parameters and serves consoles; the worker serves HTTP. Log and counters are files of the working directory, which belongs on a memory-backed file system; it must be the daemon’s own, and no other user may write to it or to what lies above it. A daemon that root starts serves as the user of -j: by default proxyd where there is one, else nobody, without any capability; the manager, which no traffic reaches, stays root. The space of the log is taken at the start, or as much as there is. Without -F or -d it goes to the background once it serves.',
  },
  {
    name: 'proxyadm',
    summary: 'admin commands for proxyd, and its console',
    text: 'Sends one command (see proxy-cli(7)) and prints the answer; reads commands from standard input when there is none and that is no terminal; opens the console on a terminal. Exit status: 0, 1 when the command failed, 2 when there was no connection.',
  },
  {
    name: 'proxylog',
    summary: 'show the log of proxyd',
    text: 'Follows the log, or prints what it holds (-d), grouped and filtered; proxy-log(7) has the tags, proxy-query(7) groups and queries. A file of -w is made for its user alone (mode 0600).',
  },
  {
    name: 'proxyncsa',
    summary: 'access log of proxyd in NCSA formats',
    text: 'One line a request, in the combined format unless -F says otherwise: proxy-ncsa(7) has the formats, proxy-query(7) the queries of -q. With -D it goes to the background, and SIGHUP has it open its file again after the old one was moved away; in the foreground SIGHUP ends it.',
  },
  {
    name: 'proxystat',
    summary: 'counters of proxyd',
    text: 'Shows the counters (see proxy-counters(7)) live on a terminal, or once with -1, -j or -x. It works while the worker is stopped. The first filter that matches a name decides about it.',
  },
  {
    name: 'proxytop',
    summary: 'most frequent log records of proxyd',
    text: 'Ranks the records of the log by how often they come: all (proxy-log(7) has their tags), or of the groups that a query of -q finds (proxy-query(7)).',
  },
  {
    name: 'proxyhist',
    summary: 'distributions of times and sizes in the log of proxyd',
    text: 'Draws a histogram of response times or of another number in the log; hits are |, misses #. proxy-query(7) has the queries of -q.',
  },
  {
    name: 'proxy-gather',
    summary: 'diagnostic archive of proxyd',
    text: 'Writes one tar.gz and says what is in it. What cannot be had, since the worker or the daemon is down, is said in its place.',
  },
];
