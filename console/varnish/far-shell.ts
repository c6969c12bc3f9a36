// Runs a small shell script on the host of the Varnish: here, or over ssh, which needs nothing but a shell and
// Varnish's own tools there. Scripts end when their standard input closes, so that neither side leaves processes
// however the console ends.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { placeText, type VarnishTarget } from '../client/varnish-target.ts';

/** Never prompts, detects a dead host within 15 seconds, and compresses, which pays off for logs. */
const SSH = [
  '-T',
  '-C',
  '-oBatchMode=yes',
  '-oConnectTimeout=10',
  '-oServerAliveInterval=5',
  '-oServerAliveCountMax=3',
];

/** Directories that may be missing in the PATH of non-login shells. */
const PATH = 'PATH="$PATH:/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin"; export PATH; ';

/** Exit status of ssh for connection failures. */
const SSH_FAILED = 255;
const NOT_FOUND = 127;

export interface ShellEnd {
  code: number;
  /** The start of its standard error; if it never started, of all its output. */
  output: string;
  /** Timed out after this many seconds. */
  silent?: number;
}

export interface ShellHandlers {
  data(bytes: Buffer): void;
  /** Called once, unless closed by us. */
  end(end: ShellEnd): void;
  /** Receives its standard error. */
  onStderr?(text: string): void;
}

/** First line of scripts' output: anything that the remote shell prints before it is a greeting. */
const BEGINS = 'varnish-tools-begin-here\n';
/** Timeout in seconds for it (chosen): twice ssh's connection timeout. */
const BEGIN_SECONDS = 20;

const MAX_OUTPUT = 4096;

export class FarShell {
  readonly child: ChildProcessWithoutNullStreams;
  private output = '';
  private ended = false;
  /** Output before the script started; null once it has. */
  private greeting: Buffer | null = Buffer.alloc(0);
  private readonly timer: NodeJS.Timeout;
  private readonly handlers: ShellHandlers;

  constructor(target: VarnishTarget, script: string, handlers: ShellHandlers, seconds = BEGIN_SECONDS) {
    this.handlers = handlers;
    const [program, args] = commandLine(target, `${PATH}echo ${BEGINS.trim()}; ${script}`);
    this.child = spawn(program, args, { stdio: 'pipe' });
    this.child.stdout.on('data', (data: Buffer) => this.take(data));
    this.child.stderr.on('data', (data: Buffer) => {
      const text = data.toString();
      this.output = (this.output + text).slice(0, MAX_OUTPUT);
      handlers.onStderr?.(text);
    });
    // A dead shell is reported by its exit.
    this.child.stdin.on('error', () => undefined);
    const finish = (code: number): void => {
      if (this.ended) return;
      this.ended = true;
      clearTimeout(this.timer);
      const output = this.output.trim() === '' ? (this.greeting?.toString() ?? '') : this.output;
      handlers.end({ code, output: output.trim() });
    };
    this.timer = setTimeout(() => {
      this.close();
      handlers.end({ code: SSH_FAILED, output: this.output.trim(), silent: seconds });
    }, seconds * 1000);
    this.child.on('error', (cause: NodeJS.ErrnoException) => {
      this.output = cause.code === 'ENOENT' ? `${program} is not installed here` : cause.message;
      finish(SSH_FAILED);
    });
    this.child.on('close', (code) => finish(code ?? SSH_FAILED));
  }

  private take(data: Buffer): void {
    if (this.greeting === null) {
      this.handlers.data(data);
      return;
    }
    const come = Buffer.concat([this.greeting, data]);
    const at = come.indexOf(BEGINS);
    this.greeting = at < 0 ? come.subarray(-MAX_OUTPUT) : null;
    if (at < 0) return;
    clearTimeout(this.timer);
    const rest = come.subarray(at + BEGINS.length);
    if (rest.length > 0) this.handlers.data(rest);
  }

  close(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.child.stdin.end();
    this.child.stdout.destroy();
    const { child } = this;
    // An unresponsive host must not keep ssh alive.
    const timer = setTimeout(() => child.kill(), 2000);
    timer.unref();
    child.once('close', () => clearTimeout(timer));
  }
}

function commandLine({ host, port }: VarnishTarget, script: string): [string, string[]] {
  if (host === '') return ['/bin/sh', ['-c', script]];
  // The user's login shell may be any; it only needs to parse a quoted word.
  const remote = `exec /bin/sh -c '${script.replaceAll("'", "'\\''")}'`;
  return ['ssh', [...SSH, ...(port === '' ? [] : ['-p', port]), '--', host, remote]];
}

/** Advice for messages of ssh. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/could not resolve/i, 'check the name, or add it to ~/.ssh/config'],
  [/connection refused/i, 'check that sshd listens on this port; another one: ssh://host:port'],
  [/timed out|no route|unreachable/i, 'check that it is up and reachable from here'],
  [
    /permission denied/i,
    'ssh cannot prompt here: use a key without a passphrase, or an agent; try ssh by hand',
  ],
  [/host key|identification has changed/i, 'ssh cannot prompt here: try ssh by hand'],
];

/** Why a tool returned nothing, as a sentence with advice. */
export function whyNothing(target: VarnishTarget, tool: string, { code, output, silent }: ShellEnd): string {
  const lines = output.split('\n').map((line) => line.trim());
  const far = target.host !== '';
  const there = far ? `${tool} on ${target.host}` : tool;
  if (far && code === SSH_FAILED) {
    const message =
      lines.findLast((line) => ADVICE.some(([pattern]) => pattern.test(line))) ?? lines.at(-1) ?? '';
    const advice = ADVICE.find(([pattern]) => pattern.test(message))?.[1];
    const what =
      silent !== undefined ? `no answer in ${silent} s` : message === '' ? 'the connection ended' : message;
    return `ssh ${target.host}: ${what.replace(/^ssh: /, '')}${advice === undefined ? '' : ` (${advice})`}`;
  }
  const last = lines.at(-1) ?? '';
  if (silent !== undefined) return `${there}: no answer in ${silent} s`;
  if (code === NOT_FOUND || /not found$/.test(last))
    return `${there} is not found: Varnish is not installed, or its tools are not in the PATH${far ? ' of a shell without a login' : ''}`;
  if (/could not get hold of varnishd/i.test(output))
    return `cannot read a Varnish ${placeText(target)}: it is not running, or this needs root or the group varnish`;
  const secret = /secret.*permission denied/i.test(last)
    ? ' (the user who runs commands must be able to read this file)'
    : '';
  return `${there} ended${last === '' ? ` with ${code}` : `: ${last}`}${secret}`;
}
