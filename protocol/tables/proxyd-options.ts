// The options of proxyd: the letters are those of varnishd(1), and -x optstring prints them in its order.

import type { OptionRow, ToolRow } from './tool-row.ts';

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
  options: [
    ...group('Basic options', [
      {
        flags: '-a',
        argument: '[name=]address[:port][,HTTP|PROXY][,user=u][,group=g][,mode=m]',
        help: 'Where clients connect (default :80); repeatable; the last three for Unix sockets',
      },
      { flags: '-b', argument: 'none|address[:port]|path', help: 'One backend instead of a program' },
      { flags: '-f', argument: 'file', help: 'Program; repeatable, the last one is active' },
      {
        flags: '-n',
        argument: 'dir',
        help: 'Working directory: a path, or a sibling of the default, which is /run/proxyd for root, else $XDG_RUNTIME_DIR/proxyd, else $XDG_STATE_HOME/proxyd (~/.local/state/proxyd)',
      },
    ]),
    ...group('Documents', [
      { flags: '-?, --help', help: 'This text' },
      { flags: '-V, --version', help: 'Version, and the release of Varnish it is compatible with' },
      {
        flags: '-x',
        argument: 'builtin|cli|lint|optstring|parameter|vsl',
        help: 'Print a document',
      },
      { flags: '-C', help: 'Print the generated program of -f or -b' },
      {
        flags: '--lint',
        argument: 'file',
        help: 'Check a program without loading it; -j prints JSON. Exit 0 clean, 1 warnings, 2 errors',
      },
      {
        flags: '--test-extension',
        argument: 'file',
        help: 'Check an extension and run the tests of the .test.mjs beside it. Exit 0 passed, 1 failed, 2 errors',
      },
    ]),
    ...group('Operation', [
      { flags: '-F', help: 'Stay in the foreground, log to standard error' },
      { flags: '-d', help: 'Stay in the foreground, commands on standard input' },
      {
        flags: '--log-file',
        argument: 'file',
        help: 'Append the daemon’s own messages to a file: in the background instead of to the system’s log, else beside standard error',
      },
      { flags: '-P', argument: 'file', help: 'Write the process id' },
      { flags: '-i', argument: 'identity', help: 'Name of this instance' },
      { flags: '-I', argument: 'file', help: 'Commands to run at the start' },
      { flags: '-T', argument: 'address:port', help: 'Text CLI; repeatable' },
      { flags: '-M', argument: 'address:port', help: 'Text CLI, connecting out; repeatable' },
      { flags: '-S', argument: 'file', help: 'Secret of -T, -M and --console' },
      { flags: '--console', argument: 'address:port', help: 'Console protocol over TCP; repeatable' },
      {
        flags: '--allow-origin',
        argument: 'origin',
        help: 'An Origin that may open console connections; repeatable',
      },
      { flags: '--metrics', argument: 'address:port', help: 'Counters for Prometheus at /metrics' },
      {
        flags: '--allow-host',
        argument: 'host[:port]',
        help: 'A name under which --metrics is asked, or an address that a tunnel to --console begins at; repeatable',
      },
    ]),
    ...group('Fleet', [
      {
        flags: '--fleet',
        argument: 'nats://host:port[,...]',
        help: 'Share purges and bans with other proxies over NATS JetStream; tls:// asks for TLS',
      },
      { flags: '--fleet-name', argument: 'name', help: 'Which fleet: that of all proxies with this name' },
      { flags: '--node', argument: 'name', help: 'What this one is called there (default: the machine)' },
      { flags: '--fleet-creds', argument: 'file', help: 'Credentials of NATS: a creds file' },
      { flags: '--fleet-user', argument: 'file', help: 'The same as name:password on the first line' },
      {
        flags: '--fleet-ca',
        argument: 'file',
        help: 'Certificates that sign those of the servers; asks for TLS',
      },
      {
        flags: '--fleet-accept',
        argument: 'all|invalidate',
        help: 'What is taken from the fleet: programs too (all), or invalidations only',
      },
    ]),
    ...group('Tuning', [
      { flags: '-t', argument: 'ttl', help: 'Parameter default_ttl' },
      { flags: '-p', argument: 'param=value', help: 'Parameter; repeatable' },
      { flags: '-s', argument: '[name=]malloc|default|umem[,size]', help: 'Storage; repeatable' },
      { flags: '-l', argument: 'size', help: 'Size of the log ring' },
    ]),
    ...group('Security', [
      { flags: '-r', argument: 'param[,param...]', help: 'Parameters that cannot be changed' },
      {
        flags: '-j',
        argument: 'none|unix[,user=u][,workuser=u][,ccgroup=g]',
        help: 'As whom worker and extensions run when root starts the daemon: as root (none), or as another user (default: proxyd or nobody)',
      },
      {
        flags: '--read-group',
        argument: 'group',
        help: 'A group that may read log and counters, and use read.sock',
      },
    ]),
    ...group('Accepted without effect', [
      { flags: '-h', argument: 'hash', help: 'Kind of the hash table' },
      { flags: '-W', argument: 'waiter', help: 'How connections are waited for' },
    ]),
  ],
};

/** The arguments of proxyd with --lint: files, and the settings that the check depends on. */
export const PROXYD_LINT: ToolRow = {
  name: 'proxyd',
  summary: PROXYD.summary,
  text: '',
  usage: '--lint <file> [-j] [-p <param=value>] [<file> ...]',
  answersOn: 'stdout',
  options: [
    { flags: '--lint', argument: 'file', optional: true, help: 'A program to check' },
    { flags: '-f', argument: 'file', help: 'Another' },
    { flags: '-j, --json', help: 'Findings as JSON' },
    { flags: '-p', argument: 'param=value', help: 'Parameter that the check depends on' },
  ],
};

/** The arguments of proxyd with --test-extension: a file, and as whom it runs. */
export const PROXYD_TEST_EXTENSION: ToolRow = {
  name: 'proxyd',
  summary: PROXYD.summary,
  text: '',
  usage: '--test-extension <file> [-j <jail>]',
  answersOn: 'stdout',
  options: [
    { flags: '--test-extension', argument: 'file', help: 'An extension to test' },
    { flags: '-j', argument: 'jail', help: 'As whom it runs when root starts the tests' },
  ],
};
