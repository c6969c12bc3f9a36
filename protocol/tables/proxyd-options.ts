// Options of proxyd: the letters are those of varnishd(1), and -x optstring prints them in its order.

import { type OptionRow, option, type ToolRow } from './tool-row.ts';

function group(name: string, rows: readonly OptionRow[]): OptionRow[] {
  return rows.map((row) => ({ ...row, group: name }));
}

export const PROXYD: ToolRow = {
  name: 'proxyd',
  summary: 'HTTP caching reverse proxy programmed in VCL',
  text: 'Two processes: the manager compiles programs, keeps parameters and serves consoles; the worker serves HTTP. Log and counters are files of the working directory, which belongs on a memory-backed file system; it must be the daemon’s own, and no other user may write to it or to what lies above it. A daemon that root starts serves as the user of -j: by default proxyd where there is one, else nobody, without any capability; the manager, which no traffic reaches, stays root. The space of the log is taken at the start, or as much as there is. Without -F or -d it goes to the background once it serves.',
  usage: '[options]',
  answersOn: 'stdout',
  column: 34,
  // biome-ignore format: a row is a line
  options: [
    ...group('Basic options', [
      option('-a', '[name=]address[:port[-port]][,HTTP|HTTPS][,PROXY][,user=u][,group=g][,mode=m]', 'Where clients connect (default :80); repeatable; two ports are all between them; a path is a Unix socket and @name an abstract one; HTTPS is TLS, port 443 by default; the last three for paths'),
      option('-b', 'none|[https://]address[:port]|path', 'One backend instead of a program; https:// speaks TLS to it'),
      option('-f', 'file', 'Program; repeatable, the last one is active'),
      option('-n', 'dir', 'Working directory (default: PROXYD_DEFAULT_N or VARNISH_DEFAULT_N of the environment, else proxyd): a path, or a sibling of the default, which is /run/proxyd for root, else $XDG_RUNTIME_DIR/proxyd, else $XDG_STATE_HOME/proxyd (~/.local/state/proxyd)'),
    ]),
    ...group('Documents', [
      option('-?, --help', '', 'This text'),
      option('-V, --version', '', 'Version, and the release of Varnish it is compatible with'),
      option('-x', 'builtin|cli|lint|optstring|parameter|vsl', 'Print a document'),
      option('-C', '', 'Print the generated program of -f or -b'),
      option('--lint', 'file', 'Check a program without loading it; -j prints JSON. Exit 0 clean, 1 warnings, 2 errors'),
      option('--test', 'file', 'Run the tests in the .test.vcl beside a program. Exit 0 passed, 1 failed, 2 errors'),
      option('--coverage', '', 'With --test: say which lines the tests have run'),
      option('--lcov', 'file', 'With --test: write that for lcov, too'),
      option('--test-extension', 'file', 'Check an extension and run the tests of the .test.mjs beside it. Exit 0 passed, 1 failed, 2 errors'),
    ]),
    ...group('Operation', [
      option('-F', '', 'Stay in the foreground, log to standard error'),
      option('-d', '', 'Stay in the foreground, commands on standard input'),
      option('--log-file', 'file', 'Append the daemon’s own messages to a file: in the background instead of to the system’s log, else beside standard error'),
      option('-P', 'file', 'Write the process id'),
      option('-i', 'identity', 'Name of this instance'),
      option('-I', 'file', 'Commands to run at the start, a line each, the last one as well; a failure ends the start unless a - precedes the command'),
      option('-E', 'name', 'Have this extension compiled at the start, and do not start without it: a name, or a path; repeatable'),
      option('-T', 'address:port', 'Text CLI; repeatable'),
      option('-M', 'address:port', 'Text CLI, connecting out; repeatable'),
      option('-S', 'file', 'Secret of -T, -M and --console'),
      option('--console', 'address:port', 'Console protocol over TCP; repeatable'),
      option('--allow-origin', 'origin', 'An Origin that may open console connections; repeatable'),
      option('--metrics', 'address:port', 'Counters for Prometheus at /metrics'),
      option('--allow-host', 'host[:port]', 'A name under which --metrics is asked, or an address that a tunnel to --console begins at; repeatable'),
    ]),
    ...group('TLS', [
      option('--cert', 'file[,key=file]|auto:name[,name...]', 'A certificate in PEM, with its key or that in another file, for all listeners with HTTPS; repeatable. auto: one for these names, from the authority of --acme'),
      option('-A', 'file', 'Listeners and certificates in the format of hitch.conf(5): see proxy-tls(7)'),
      option('--insecure-tls', '', 'Allow TLS 1.0 and 1.1 where the file of -A names them'),
    ]),
    ...group('Fleet', [
      option('--fleet', 'nats://host:port[,...]', 'Share purges and bans with other proxies over NATS JetStream; tls:// asks for TLS'),
      option('--fleet-name', 'name', 'Which fleet: that of all proxies with this name'),
      option('--node', 'name', 'What this one is called there (default: the machine)'),
      option('--fleet-creds', 'file', 'Credentials of NATS: a creds file'),
      option('--fleet-user', 'file', 'The same as name:password on the first line'),
      option('--fleet-ca', 'file', 'Certificates that sign those of the servers; asks for TLS'),
      option('--fleet-secret', 'file', 'A secret that all nodes have, by which keys of certificates are sealed on the bus (default: the credentials)'),
      option('--fleet-accept', 'all|invalidate', 'What is taken from the fleet: programs too (all), or invalidations only'),
    ]),
    ...group('Automatic certificates', [
      option('--acme', 'email', 'Obtain and renew the certificates of --cert auto:name and of cert = "auto" in the file of -A; agrees to the terms of the authority, which may write to the address'),
      option('--acme-directory', 'url|staging', 'Directory of the authority (RFC 8555; default: Let’s Encrypt)'),
      option('--acme-eab', '@file|kid:key', 'Bind the account to one that exists there: both words in a file, or here where other users of the machine can read them'),
      option('--acme-ca', 'file', 'Certificates that sign that of the directory, besides the well-known ones'),
    ]),
    ...group('Tuning', [
      option('-t', 'ttl', 'Parameter default_ttl'),
      option('-p', 'param=value', 'Parameter; repeatable'),
      option('-s', '[name=]malloc[,size]|disk,dir,size', 'Storage; repeatable, one of it on disk, for objects up to an eighth of its size'),
      option('-l', 'size', 'Size of the log ring'),
    ]),
    ...group('Security', [
      option('-r', 'param[,param...]', 'Parameters that cannot be changed'),
      option('-j', 'none|unix|linux[,user=u][,workuser=u][,ccgroup=g]', 'As whom worker and extensions run when root starts the daemon: as root (none), or as another user (default: proxyd or nobody); linux is unix, and takes transparent_hugepage=ignore|enable|try-disable, which has no effect'),
      option('--read-group', 'group', 'A group that may read log and counters, and use read.sock'),
    ]),
    ...group('Accepted without effect', [
      option('-h', 'hash', 'Kind of the hash table'),
      option('-W', 'waiter', 'How connections are waited for'),
    ]),
  ],
};

/** Arguments of proxyd with --lint: files, and the settings that the check depends on. */
export const PROXYD_LINT: ToolRow = {
  name: 'proxyd',
  summary: PROXYD.summary,
  text: '',
  usage: '--lint <file> [-j] [-p <param=value>] [--release <release>] [<file> ...]',
  answersOn: 'stdout',
  // biome-ignore format: a row is a line
  options: [
    option('--lint', 'file', 'A program to check', { optional: true }),
    option('-f', 'file', 'Another'),
    option('-j, --json', '', 'Findings as JSON'),
    option('-p', 'param=value', 'Parameter that the check depends on'),
    option('--release', 'release', 'Also say what changes for the program with this value of varnish_release'),
  ],
};

/** Arguments of proxyd with --test: a program. */
export const PROXYD_TEST: ToolRow = {
  name: 'proxyd',
  summary: PROXYD.summary,
  text: '',
  usage: '--test <file> [--coverage] [--lcov <file>]',
  answersOn: 'stdout',
  // biome-ignore format: a row is a line
  options: [
    option('--test', 'file', 'A program to test', { optional: true }),
    option('--coverage', '', 'Which lines the tests have run'),
    option('--lcov', 'file', 'The same as a file for lcov'),
    option('--vcl-path', 'path', 'Where included files are looked for'),
  ],
};

/** Arguments of proxyd with --test-extension: a file, and the user to run it as. */
export const PROXYD_TEST_EXTENSION: ToolRow = {
  name: 'proxyd',
  summary: PROXYD.summary,
  text: '',
  usage: '--test-extension <file> [-j <jail>]',
  answersOn: 'stdout',
  // biome-ignore format: a row is a line
  options: [
    option('--test-extension', 'file', 'An extension to test'),
    option('-j', 'jail', 'As whom it runs when root starts the tests'),
  ],
};
