// Figures of varnishncsa and varnishstat on a Varnish: a line per request, a line per fetch, and the counters.
import { run } from '../processes.ts';

/** A request, as varnishncsa has it: of one that was restarted its last life. */
export interface NcsaLine {
  method: string;
  url: string;
  status: number;
  /** Seconds until the first byte went out; NaN where there is none. */
  firstByte: number;
  /** Seconds until all was sent, with all lives. */
  seconds: number;
  /** The same in microseconds by %D, of the last life alone. */
  micros: number;
  restarted: boolean;
  body: number;
  /** With its headers. */
  sent: number;
  /** Varnish:hitmiss and Varnish:handling. */
  hitmiss: string;
  handling: string;
  client: string;
  host: string;
  fragment: boolean;
}

const FORMAT = [
  '%m',
  '%U%q',
  '%s',
  '%{Varnish:time_firstbyte}x',
  '%D',
  '%b',
  '%O',
  '%{Varnish:hitmiss}x',
  '%{Varnish:handling}x',
  '%h',
  '%{Host}i',
  '%{VSL:Begin[3]}x',
  '%{VSL:Timestamp:Resp[2]}x',
  '%{VSL:Timestamp:PipeSess[2]}x',
].join('\\t');

const number = (text: string | undefined): number =>
  text === undefined || text === '' || text === '-' ? Number.NaN : Number(text);

/** All that the log holds, fragments of pages among them. */
export async function ncsaLines(dir: string): Promise<NcsaLine[]> {
  const lines = await toolLines('varnishncsa', ['-n', dir, '-d', '-E', '-F', FORMAT]);
  return lines.map((line) => {
    const [
      method,
      url,
      status,
      first,
      micros,
      body,
      sent,
      hitmiss,
      handling,
      client,
      host,
      reason,
      resp,
      pipe,
    ] = line.split('\t');
    return {
      method: method ?? '',
      // The program rewrites these before it restarts them.
      url: (url ?? '').replace(/^\/after/, ''),
      // It does not log invalid requests, which Varnish rejects with this.
      status: method === '-' ? 400 : number(status) || 0,
      firstByte: number(first),
      seconds: method === '-' ? 0 : number(resp === '-' ? pipe : resp),
      micros: number(micros),
      restarted: reason === 'restart',
      body: number(body) || 0,
      sent: number(sent) || 0,
      hitmiss: hitmiss ?? '',
      handling: handling ?? '',
      client: client ?? '',
      host: host ?? '',
      fragment: reason === 'esi',
    };
  });
}

/** Statuses of all fetches, 503 where there was no answer. */
export async function ncsaFetches(dir: string): Promise<number[]> {
  return (await toolLines('varnishncsa', ['-n', dir, '-d', '-b', '-F', '%s'])).map(Number);
}

/** How lookups went of lives that were restarted after them, which no line of varnishncsa is for. */
export async function restartedLookups(dir: string): Promise<{ hit: number; miss: number; pass: number }> {
  const lines = await toolLines('varnishlog', [
    '-n',
    dir,
    '-d',
    '-q',
    'VCL_return eq "restart"',
    '-i',
    'VCL_call',
  ]);
  const count = (state: string): number =>
    lines.filter((line) => new RegExp(`VCL_call +${state}$`).test(line)).length;
  return { hit: count('HIT'), miss: count('MISS'), pass: count('PASS') };
}

/** How often a request waited for the fetch of another: Varnish counts it as one more each time. */
export async function waits(dir: string): Promise<number> {
  return (await toolLines('varnishlog', ['-n', dir, '-d', '-I', 'Timestamp:^Waitinglist'])).filter((line) =>
    line.includes('Waitinglist'),
  ).length;
}

/** The counters of `varnishstat -1`. */
export async function statCounters(dir: string): Promise<Record<string, number>> {
  const lines = await toolLines('varnishstat', ['-n', dir, '-1']);
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [name, value] = line.split(/\s+/);
      return name === undefined || value === undefined ? [] : [[name, Number(value)]];
    }),
  );
}

async function toolLines(tool: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await run(tool, args, { timeout: 60_000 });
  if (code !== 0) throw new Error(`${tool} ${args.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
