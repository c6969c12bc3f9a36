// Runs a small shell script where the Varnish is: here, or on another host over ssh, which needs nothing but a shell and
// Varnish's own tools. Each script ends when its standard input does; so nothing is left behind on either side, however
// the console ends.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { placeText, type VarnishTarget } from '../client/varnish-target.ts';

/** No question is ever asked, a host that is gone is noticed in a quarter of a minute, and a log is worth compressing. */
const SSH = [
  '-T',
  '-C',
  '-oBatchMode=yes',
  '-oConnectTimeout=10',
  '-oServerAliveInterval=5',
  '-oServerAliveCountMax=3',
];

/** Places that a shell without a login may not look into. */
const PATH = 'PATH="$PATH:/usr/local/bin:/usr/bin:/usr/local/sbin:/usr/sbin"; export PATH; ';

/** What ssh ends with when the connection cannot be made, or breaks off. */
const SSH_FAILED = 255;
const NOT_FOUND = 127;

export interface ShellEnd {
  code: number;
  /** What it wrote on standard error, its beginning; where it never began, what it wrote at all. */
  said: string;
  /** It was given up after so many seconds without a word. */
  silent?: number;
}

export interface ShellHandlers {
  data(bytes: Buffer): void;
  /** Called once, unless it was ended from here. */
  end(end: ShellEnd): void;
  /** Takes what it says on standard error. */
  heard?(text: string): void;
}

/** The line that scripts begin with: what a shell there prints before it is a greeting, and no answer. */
const BEGINS = 'varnish-tools-begin-here\n';
/** Seconds until it must be there (chosen): twice what ssh has for its connection. */
const BEGIN_SECONDS = 20;

const MOST_SAID = 4096;

export class FarShell {
  readonly child: ChildProcessWithoutNullStreams;
  private said = '';
  private ended = false;
  /** What came before the script began; null once it has. */
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
      this.said = (this.said + text).slice(0, MOST_SAID);
      handlers.heard?.(text);
    });
    // A shell that is gone is heard of by its end.
    this.child.stdin.on('error', () => undefined);
    const finish = (code: number): void => {
      if (this.ended) return;
      this.ended = true;
      clearTimeout(this.timer);
      const said = this.said.trim() === '' ? (this.greeting?.toString() ?? '') : this.said;
      handlers.end({ code, said: said.trim() });
    };
    this.timer = setTimeout(() => {
      this.close();
      handlers.end({ code: SSH_FAILED, said: this.said.trim(), silent: seconds });
    }, seconds * 1000);
    this.child.on('error', (cause: NodeJS.ErrnoException) => {
      this.said = cause.code === 'ENOENT' ? `${program} is not installed here` : cause.message;
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
    this.greeting = at < 0 ? come.subarray(-MOST_SAID) : null;
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
    // A host that no longer answers must not keep its ssh alive.
    const timer = setTimeout(() => child.kill(), 2000);
    timer.unref();
    child.once('close', () => clearTimeout(timer));
  }
}

function commandLine({ host, port }: VarnishTarget, script: string): [string, string[]] {
  if (host === '') return ['/bin/sh', ['-c', script]];
  // The user's shell there may be any; it only has to understand a quoted word.
  const remote = `exec /bin/sh -c '${script.replaceAll("'", "'\\''")}'`;
  return ['ssh', [...SSH, ...(port === '' ? [] : ['-p', port]), '--', host, remote]];
}

/** What can be done about what ssh says. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/could not resolve/i, 'is that its name, or one of ~/.ssh/config?'],
  [/connection refused/i, 'does sshd listen there, and on this port? Another is ssh://host:port'],
  [/timed out|no route|unreachable/i, 'is it up, and may it be reached from here?'],
  [
    /permission denied/i,
    'nothing is asked for here: it takes a key that ssh has without asking; try ssh by hand',
  ],
  [/host key|identification has changed/i, 'nothing is asked for here: try ssh by hand'],
];

/** Why a tool gave nothing, in a sentence that says what to do. */
export function whyNothing(target: VarnishTarget, tool: string, { code, said, silent }: ShellEnd): string {
  const lines = said.split('\n').map((line) => line.trim());
  const far = target.host !== '';
  const there = far ? `${tool} on ${target.host}` : tool;
  if (far && code === SSH_FAILED) {
    const told =
      lines.findLast((line) => ADVICE.some(([pattern]) => pattern.test(line))) ?? lines.at(-1) ?? '';
    const advice = ADVICE.find(([pattern]) => pattern.test(told))?.[1];
    const what =
      silent !== undefined ? `no answer in ${silent} s` : told === '' ? 'the connection ended' : told;
    return `ssh ${target.host}: ${what.replace(/^ssh: /, '')}${advice === undefined ? '' : ` (${advice})`}`;
  }
  const last = lines.at(-1) ?? '';
  if (silent !== undefined) return `${there}: no answer in ${silent} s`;
  if (code === NOT_FOUND || /not found$/.test(last))
    return `${there} is not found: Varnish is not installed, or its tools are not in the PATH${far ? ' of a shell without a login' : ''}`;
  if (/could not get hold of varnishd/i.test(said))
    return `no Varnish can be read ${placeText(target)}: it does not run, or only root and the group varnish may`;
  const secret = /secret.*permission denied/i.test(last)
    ? ' (who gives commands must be able to read this file)'
    : '';
  return `${there} ended${last === '' ? ` with ${code}` : `: ${last}`}${secret}`;
}
