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
  /** What it wrote on standard error, its beginning. */
  said: string;
}

const MOST_SAID = 4096;

export class FarShell {
  readonly child: ChildProcessWithoutNullStreams;
  private said = '';
  private ended = false;

  /** `end` is called once, unless it was ended from here. `heard` takes what it says on standard error. */
  constructor(
    target: VarnishTarget,
    script: string,
    end: (end: ShellEnd) => void,
    heard?: (text: string) => void,
  ) {
    const [program, args] = commandLine(target, PATH + script);
    this.child = spawn(program, args, { stdio: 'pipe' });
    this.child.stderr.on('data', (data: Buffer) => {
      const text = data.toString();
      this.said = (this.said + text).slice(0, MOST_SAID);
      heard?.(text);
    });
    // A shell that is gone is heard of by its end.
    this.child.stdin.on('error', () => undefined);
    const finish = (code: number): void => {
      if (this.ended) return;
      this.ended = true;
      end({ code, said: this.said.trim() });
    };
    this.child.on('error', (cause: NodeJS.ErrnoException) => {
      this.said = cause.code === 'ENOENT' ? `${program} is not installed here` : cause.message;
      finish(SSH_FAILED);
    });
    this.child.on('close', (code) => finish(code ?? SSH_FAILED));
  }

  close(): void {
    this.ended = true;
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

/** Why a tool gave nothing, in a sentence that says what to do. */
export function whyNothing(target: VarnishTarget, tool: string, { code, said }: ShellEnd): string {
  const last = said.split('\n').at(-1)?.trim() ?? '';
  if (target.host !== '' && code === SSH_FAILED) {
    const refused = /permission denied|host key/i.test(said)
      ? ' (nothing is asked for here: try ssh by hand)'
      : '';
    return `ssh ${target.host}: ${last === '' ? 'the connection ended' : last}${refused}`;
  }
  if (code === NOT_FOUND || /not found$/.test(last))
    return `${tool} is not installed ${placeText({ ...target, name: '' })}`;
  if (/could not get hold of varnishd/i.test(said))
    return `no Varnish can be read ${placeText(target)}: it does not run, or only root and the group varnish may`;
  return `${tool} ended${last === '' ? ` with ${code}` : `: ${last}`}`;
}
