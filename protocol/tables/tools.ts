// The commands of the package, with their options. The log tools are in log-tools.ts.

import {
  ATTACH_TIMEOUT,
  DIRECTORY,
  HELP,
  OPTSTRING,
  PID_FILE,
  PROXYHIST,
  PROXYLOG,
  PROXYLOG_JSON,
  PROXYNCSA,
  PROXYTOP,
  VERSION,
} from './log-tools.ts';
import { PROXYD } from './proxyd-options.ts';
import { option, type ToolRow } from './tool-row.ts';

export const PROXYADM: ToolRow = {
  name: 'proxyadm',
  summary: 'admin commands for proxyd, and its console',
  text: 'Sends one command (see proxy-cli(7)) and prints the answer; without a command it reads commands from standard input unless that is a terminal; opens the console on a terminal. Exit status: 0, 1 when the command failed or its answer could not be written, 2 when there was no connection.',
  usage:
    '[-n <dir>] [-t <timeout>] [-p] [command [...]]\n       proxyadm -T <address:port> [-S <secretfile>] [-t <timeout>] [-p] [command [...]]\n       proxyadm --varnish[=<name>] [-t <timeout>] [-p] [command [...]]',
  prose: 'Without a command: the console on a terminal, otherwise commands on standard input, one per line.',
  answersOn: 'stdout',
  wordsEndOptions: true,
  // biome-ignore format: a row is a line
  options: [
    option('-n', 'dir', DIRECTORY.help),
    option('-T', 'address:port', 'Address of --console or -T of the daemon'),
    option('-S', 'file', 'Secret for -T'),
    option('-t', 'seconds', 'Timeout for the connection (default 5) and for each answer (default none)'),
    option('-p', '', 'Print status and length before each answer, and nothing after it'),
    option('-x', 'workdir', 'Print the default working directory of a daemon of this user'),
    option('--strict', '', 'Commands on standard input: stop at the first failure'),
    option('--readonly', '', 'Refuse every command that changes something, with status 1; always on for members of --read-group'),
    option('--replay', 'file', 'Show a recording in the console: from :record, proxylog -w or --json, or varnishlog -w'),
    option('--varnish', 'name', 'A running Varnish, through its own tools: its name as for its -n, or ssh://host[/name] on another host', { optional: true }),
    option('--reader', '', 'Line output for screen readers'),
    HELP,
    option('-?', '', HELP.help, { answer: 'help', hidden: true }),
    VERSION,
  ],
};

export const PROXYSTAT: ToolRow = {
  name: 'proxystat',
  summary: 'counters of proxyd',
  text: 'Shows the counters (see proxy-counters(7)) live on a terminal, or once with -1, -j or -x; where there is no terminal and no form is asked for, once as -1 does. It works while the worker is stopped. The first filter that matches a name decides about it.',
  usage: '<options>',
  answersOn: 'stderr',
  bracketed: true,
  // biome-ignore format: a row is a line
  options: [
    option('-1', '', 'All counters once, as text; the default without a terminal'),
    option('-c', '', 'The live view, and nothing else without a terminal'),
    option('-f', 'glob', 'Include by glob, exclude with a leading ^'),
    HELP,
    option('-I', 'glob', 'Include by glob'),
    option('-j', '', 'All counters once, as JSON'),
    option('-l', '', 'Names and descriptions'),
    DIRECTORY,
    PID_FILE,
    option('-r', '', 'Start the live view with raw gauges'),
    ATTACH_TIMEOUT,
    VERSION,
    option('-X', 'glob', 'Exclude by glob'),
    option('-x', '', 'All counters once, as XML'),
    OPTSTRING,
  ],
};

export const PROXY_GATHER: ToolRow = {
  name: 'proxy-gather',
  summary: 'diagnostic archive of proxyd',
  text: 'Writes one tar.gz and says what is in it. If the worker or the daemon is down, notes replace what is not available.',
  usage: '<options>',
  prose:
    'Collects the data needed to diagnose a daemon: versions, flags, parameters, programs, counters, a sample of the log, backends, bans, panics, limits of the system. Secrets are masked; but review the archive before you share it.',
  answersOn: 'stdout',
  bracketed: true,
  // biome-ignore format: a row is a line
  options: [
    HELP,
    DIRECTORY,
    option('-o', 'file', 'The archive; a name with host and time in this directory unless given'),
    option('-t', 'seconds', 'How long to watch counters and log (default 10)'),
    VERSION,
  ],
};

export const PROXY_EDGE_SETUP: ToolRow = {
  name: 'proxy-edge-setup',
  summary: 'installs the files of the edge connector',
  text: 'Copies edge_auto.vcl, edge.vcl and the settings of the edge connector to the directory of proxyd in /etc. Existing files are kept, and links are not followed.',
  usage: 'install <options>',
  prose:
    'Then let a program say import std; import edge; include "edge_auto.vcl"; and ask for the test object with proxyadm edge.test. DESTDIR and SYSCONFDIR of the environment count as in a Makefile.',
  answersOn: 'stdout',
  bracketed: true,
  // biome-ignore format: a row is a line
  options: [
    option('--destdir', 'dir', 'Put everything below this directory'),
    HELP,
    option('--sysconfdir', 'dir', 'Instead of /etc'),
    VERSION,
  ],
};

export const EDGE_FAKE: ToolRow = {
  name: 'edge-fake',
  summary: 'an edge network to try the edge connector with',
  text: 'Plays an edge network on 127.0.0.1: the purge API with its signatures, limits and content control, and a cache in front of a proxy that honours Edge-Control, cache tags and Via. Prints where both listen, then a line for each purge. Commands on standard input: proxy HOST:PORT; fault KIND [TIMES [TEXT]], where KIND is a status, hang, reset, slow, half, odd or endless, and TEXT is part of the calls that it meets; fault none; clock SECONDS, which sets its clock forward; status; quit. Exit status: 0, 1 when it cannot listen or an argument is wrong.',
  usage: '<options>',
  prose:
    'It is for tests and for trying things out, and no cache for traffic: all that it keeps is in memory, and whoever is on the machine can reach it.',
  answersOn: 'stdout',
  bracketed: true,
  // biome-ignore format: a row is a line
  options: [
    option('--api', 'port', 'Port of the purge API (default: any free one)'),
    option('--conf', 'file', 'edge-connector.conf with the credentials and the address of the API; made when it is not there'),
    option('--cpcode', 'number', 'CP code of all that is in the cache (1)'),
    option('-d', '', 'End when standard input does'),
    HELP,
    option('--network', 'name', 'staging (the default) or production'),
    option('--port', 'port', 'Port of the cache (default: any free one)'),
    option('--proxy', 'host:port', 'The proxy behind the cache'),
    option('--rule-delay', 'seconds', 'How long a request of content control takes (0)'),
    VERSION,
  ],
};

export const PROXYTEST: ToolRow = {
  name: 'proxytest',
  summary: 'play test scripts of programs',
  text: 'Plays scripts in the language of vtc(7), which describe clients, servers and a daemon between them, so that tests of a site for its programs are played before a program is loaded. What differs from varnishtest is in console/proxytest/README.md. A test that fails is reported with its log, the line that failed, and the last transactions in the log of the daemon. Exit status: 0, 1 for wrong arguments, 2 when a test has failed, 77 when all were skipped.',
  usage: '<options> <file>...',
  answersOn: 'stdout',
  bracketed: true,
  // biome-ignore format: a row is a line
  options: [
    option('-b', 'size', 'Accepted for varnishtest; buffers grow here'),
    option('-C', '', 'Accepted for varnishtest; what a test has started is always ended'),
    option('-D', 'name=value', 'Define a macro'),
    option('--dialect', '7|9', 'Scripts for the test program of Varnish 7 (the default) or 9, which adds User-Agent, Server and Date to messages'),
    HELP,
    option('-i', '', 'Accepted for varnishtest; the daemon is always the one that proxytest came with'),
    option('-j', 'jobs', 'Play this many scripts beside each other (1)'),
    option('-k', '', 'Continue after a failed script'),
    option('-L', '', 'Leave the directories of all tests, with their logs'),
    option('-l', '', 'Leave the directories of tests that have failed'),
    option('-n', 'rounds', 'Play all scripts this often (1)'),
    option('--on', 'proxyd|varnish', 'The daemon to play them on: proxyd (the default), or the varnishd in PATH'),
    option('-p', 'name=value', 'Parameter of all daemons'),
    option('-q', '', 'Report only failures'),
    option('-t', 'seconds', 'Time that a script may take (60)'),
    option('-v', '', 'Always print the log'),
    VERSION,
  ],
};

export const TOOLS: readonly ToolRow[] = [
  PROXYD,
  PROXYADM,
  PROXYLOG,
  PROXYLOG_JSON,
  PROXYNCSA,
  PROXYSTAT,
  PROXYTOP,
  PROXYHIST,
  PROXY_GATHER,
  PROXY_EDGE_SETUP,
  EDGE_FAKE,
  PROXYTEST,
];
