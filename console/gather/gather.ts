// Collects the parts of a diagnostic archive. Parts are independent: each failure is recorded in place of its
// content, so that a daemon that is down or hangs yields an archive as well. Known secrets are masked, and finally
// the daemon's own secret is replaced everywhere.

import { CLI } from '../../protocol/errors.ts';
import { WORKDIR_FILES } from '../../protocol/workdir.ts';
import { type CounterValue, statLines } from '../format/stat-text.ts';
import { MASK, maskProgram, maskText } from './mask.ts';
import { maskBan, maskLog } from './mask-log.ts';
import { readPlain, readText, type Subject } from './subject.ts';
import { directoryText, processText, systemText } from './system-facts.ts';

export interface Part {
  file: string;
  /** One line for the table of contents. */
  what: string;
  text: string;
}

export interface GatherOptions {
  version: string;
  /** Seconds between the two samples of the counters. */
  seconds: number;
  /** Called with the current step. */
  progress: (what: string) => void;
}

/** Commands that older daemons may lack; values of sensitive fields are masked in them. */
const LATER_COMMANDS: readonly (Omit<Part, 'text'> & { readonly commands: readonly string[] })[] = [
  { file: 'events.txt', what: 'what happened lately', commands: ['event.list'] },
  {
    file: 'edge.txt',
    what: 'the edge connector: state, settings without secrets, purges that wait, dead letters',
    commands: ['edge.status -j', 'edge.queue', 'edge.dead'],
  },
  {
    file: 'fleet.txt',
    what: 'the nodes of the fleet, and its last invalidations',
    commands: ['fleet.nodes', 'fleet.log 256'],
  },
  {
    file: 'certificates.txt',
    what: 'certificates of listeners',
    commands: ['tls.cert.list', 'tls.acme.list'],
  },
];

const LOG_LINES = 4000;
const RING_MS = 5000;

export async function gather(subject: Subject, o: GatherOptions): Promise<Part[]> {
  const parts: Part[] = [];
  const add = (file: string, what: string, text: string): void => {
    parts.push({ file, what, text });
  };
  const lines = (text: string, mask: (line: string) => string): string =>
    text.split('\n').map(mask).join('\n');
  subject.findWorker();

  o.progress('versions, flags, limits');
  const { client } = subject;
  const versions = [
    `proxy-gather ${o.version}`,
    `daemon ${client === null ? `not reached: ${subject.unreachable}` : `${client.version}, identity ${client.identity}`}`,
    `node ${process.version}`,
    `gathered ${new Date().toISOString()}`,
  ];
  add('versions.txt', 'versions of the daemon, of node and of this tool', `${versions.join('\n')}\n`);
  add('system.txt', 'the host: kernel, memory, limits of the system', systemText());
  add(
    'processes.txt',
    'manager and worker: flags, limits, memory, descriptors',
    processText('manager', subject.manager) + processText('worker', subject.worker),
  );
  add(
    'directory.txt',
    'the working directory: its file system, its files by name and size',
    directoryText(subject.dir),
  );

  o.progress('state, parameters, programs');
  add(
    'status.txt',
    'state of the worker, listeners, storage',
    await several(subject, ['status', 'ping', 'pid', 'listen.list', 'storage.list', 'turn.list']),
  );
  add(
    'parameters.txt',
    'parameters: those that were changed, then all',
    await several(subject, ['param.show changed', 'param.show']),
  );
  add(
    'backends.txt',
    'backends with their probes',
    lines(await several(subject, ['backend.list -p']), maskText),
  );
  add(
    'bans.txt',
    'the list of bans, values of telltale fields masked',
    lines(await several(subject, ['ban.list']), maskBan),
  );
  for (const { file, what, commands } of LATER_COMMANDS) {
    const text = await several(subject, commands);
    if (text !== '') add(file, what, lines(text, maskBan));
  }
  add('panic.txt', 'the last panic', maskText(await several(subject, ['panic.show'])));
  const list = await subject.command('vcl.list');
  add('programs.txt', 'the list of programs', list);
  for (const name of programNames(list)) {
    const text = maskProgram(await subject.command(`vcl.show -v ${name}`));
    add(
      `programs/${safeName(name)}.vcl`,
      `program ${name}, strings that have to do with credentials masked`,
      text,
    );
  }

  o.progress(`counters over ${o.seconds} s and a sample of the log`);
  const before = await subject.counters();
  const began = performance.now();
  const [live] = await Promise.all([
    subject.log({ grouping: 'request', from: 'tail', max: 500 }, o.seconds * 1000, LOG_LINES),
    new Promise((resolve) => setTimeout(resolve, client === null ? 0 : o.seconds * 1000)),
  ]);
  const after = await subject.counters();
  const seconds = (performance.now() - began) / 1000;
  add(
    'counters.txt',
    'all counters at the end',
    after === null ? `not run: ${subject.unreachable}\n` : statLines(after, 1),
  );
  add('counters-change.txt', `what ${o.seconds} s added to them, a second`, changes(before, after, seconds));
  add('worker.txt', 'event loop delay and use, heap and memory of the worker', workerText(after));
  add(
    'log-live.txt',
    'requests of these seconds, values of telltale fields masked',
    `${maskLog(live).join('\n')}\n`,
  );
  const ring = await subject.log({ grouping: 'raw', from: 'head', once: true }, RING_MS, LOG_LINES);
  add(
    'log-ring.txt',
    `the last ${LOG_LINES} records of the log ring, masked the same`,
    `${maskLog(ring).join('\n')}\n`,
  );
  return withoutSecrets(parts, daemonSecrets(subject));
}

/** Unknown commands are skipped: the daemon may be older. */
async function several(subject: Subject, commands: readonly string[]): Promise<string> {
  let out = '';
  for (const line of commands) {
    const answer = await subject.command(line);
    if (!isUnknown(answer)) out += `== ${line}\n${answer}\n`;
  }
  return out;
}

/** Without a worker the daemon reports commands of the worker as unknown, too. */
function isUnknown(answer: string): boolean {
  return answer.startsWith(`status ${CLI.UNKNOWN}\n`) && !answer.includes('child not running');
}

/** Names in a vcl.list that have a source, which labels do not. */
function programNames(list: string): string[] {
  return list.split('\n').flatMap((line) => {
    const m = /^(?:active|available|discarded)\s+(\S+)\s+\S+\s+\S+\s+(\S+)/.exec(line);
    return m === null || (m[1] ?? '').startsWith('label') ? [] : [m[2] as string];
  });
}

function safeName(name: string): string {
  return name.replaceAll(/[^\w.-]/g, '_').slice(0, 200);
}

function changes(before: CounterValue[] | null, after: CounterValue[] | null, seconds: number): string {
  if (before === null || after === null) return 'the counters could not be read twice\n';
  const was = new Map(before.map((c) => [c.name, BigInt(c.value)]));
  let out = '';
  for (const { name, flag, value } of after) {
    const more = BigInt(value) - (was.get(name) ?? 0n);
    if (more === 0n || flag === 'b') continue;
    const rate = flag === 'c' ? `${(Number(more) / seconds).toFixed(2)}/s` : '';
    out += `${name.padEnd(40)} ${String(more).padStart(14)} ${rate.padStart(14)}\n`;
  }
  return out === '' ? 'nothing changed\n' : out;
}

function workerText(counters: CounterValue[] | null): string {
  const own = (counters ?? []).filter((c) => /^(?:THR|WRK)\./.test(c.name));
  if (own.length === 0) return 'no figures: no worker has run, or the daemon is unreachable\n';
  return `${own.map((c) => `${c.name.padEnd(20)} ${c.value.padStart(14)} ${c.description}`).join('\n')}\n`;
}

/** The daemon's secret: in its working directory, or where its flags say. */
function daemonSecrets(subject: Subject): string[] {
  const files = [`${subject.dir}/${WORKDIR_FILES.secret}`];
  const args = (readText(`/proc/${subject.manager}/cmdline`) ?? '').split('\0');
  for (const [i, arg] of args.entries()) {
    if (arg === '-S') files.push(args[i + 1] ?? '');
    else if (arg.startsWith('-S')) files.push(arg.slice(2));
  }
  return files.flatMap((file) => {
    const text = readPlain(file)?.trim() ?? '';
    return text === '' ? [] : [text, ...text.split('\n').filter((line) => line.length >= 8)];
  });
}

function withoutSecrets(parts: readonly Part[], secrets: readonly string[]): Part[] {
  return parts.map((part) => ({
    ...part,
    text: secrets.reduce((text, secret) => text.replaceAll(secret, MASK), part.text),
  }));
}
