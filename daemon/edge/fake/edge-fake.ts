#!/usr/bin/env node
// edge-fake: a fake edge network as a command. Parses its arguments and the commands on standard input.

import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Ending, helpText, readCommandLine } from '../../../protocol/command-line.ts';
import { packageVersion } from '../../../protocol/files/package-files.ts';
import { systemText } from '../../../protocol/system-text.ts';
import { EDGE_FAKE } from '../../../protocol/tables/tools.ts';
import { EdgeConfigError, readEdgeConfig } from '../edge-config.ts';
import type { EdgeGridCredentials } from '../providers/edgegrid.ts';
import type { EdgeNetwork } from '../providers/provider.ts';
import { FakeEdge, type FakeEdgeOptions } from './fake-edge.ts';

interface Arguments {
  readonly conf: string | null;
  readonly untilEnd: boolean;
  readonly edge: Omit<FakeEdgeOptions, 'credentials'>;
}

const ADDRESS = /^(?:([\w.-]+|\[[\da-fA-F:]+\]):)?(\d{1,5})$/;

function readArguments(argv: readonly string[]): Arguments | Ending {
  const line = readCommandLine(EDGE_FAKE, argv, packageVersion());
  if (line.end !== null) return line.end;
  const given = new Map(line.options);
  const mistake = (message: string): Ending => ({ kind: 'mistake', message });
  if (line.words.length > 0) return mistake(`'${line.words[0]}' is no option`);
  const numbers: Record<string, number> = {};
  for (const [name, most] of [
    ['api', 65_535],
    ['port', 65_535],
    ['cpcode', 2 ** 31],
    ['rule-delay', 86_400],
  ] as const) {
    const text = given.get(name);
    if (text === undefined) continue;
    if (!/^\d{1,10}$/.test(text) || Number(text) > most)
      return mistake(`--${name} takes a number up to ${most}, not '${text}'`);
    numbers[name] = Number(text);
  }
  const network = given.get('network') ?? 'staging';
  if (network !== 'staging' && network !== 'production')
    return mistake(`--network is staging or production, not '${network}'`);
  const proxy = given.get('proxy');
  const address = proxy === undefined ? null : addressOf(proxy);
  if (proxy !== undefined && address === null) return mistake(`--proxy takes host:port, not '${proxy}'`);
  return {
    conf: given.get('conf') ?? null,
    untilEnd: given.has('d'),
    edge: {
      proxy: address,
      network: network as EdgeNetwork,
      apiPort: numbers.api ?? 0,
      cachePort: numbers.port ?? 0,
      cpcode: numbers.cpcode ?? 1,
      ruleDelay: numbers['rule-delay'] ?? 0,
    },
  };
}

function addressOf(text: string): { host: string; port: number } | null {
  const [, host = '127.0.0.1', port] = ADDRESS.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return null;
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** The credentials in a settings file, and the port of its purge_host. */
function fromConf(path: string): { credentials: EdgeGridCredentials; port: number } {
  const { config } = readEdgeConfig({ EDGE_CONNECTOR_CONFIG: path });
  const address = addressOf(config.text('purge_host'));
  if (!config.configured || config.text('provider') !== 'fake' || address === null)
    throw new EdgeConfigError(
      `${path}: needs provider = fake, a purge_host with its port, and all purge_ fields`,
    );
  return {
    credentials: {
      clientToken: config.text('purge_client_token'),
      clientSecret: config.text('purge_client_secret'),
      accessToken: config.text('purge_access_token'),
    },
    port: address.port,
  };
}

function freshCredentials(): EdgeGridCredentials {
  const secret = (): string => randomBytes(16).toString('hex');
  return { clientToken: `fake-${secret()}`, clientSecret: secret(), accessToken: `fake-${secret()}` };
}

function confText(edge: FakeEdge, credentials: EdgeGridCredentials, network: string): string {
  const rows = {
    provider: 'fake',
    network,
    purge_host: edge.apiHost,
    purge_client_token: credentials.clientToken,
    purge_client_secret: credentials.clientSecret,
    purge_access_token: credentials.accessToken,
  };
  return Object.entries(rows)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Executes a command of standard input; the answer is one line. */
function obey(edge: FakeEdge, line: string): string {
  const [word = '', first = '', second, ...rest] = line.trim().split(/\s+/);
  switch (word) {
    case 'proxy': {
      const address = addressOf(first);
      if (address === null) return `error: proxy takes HOST:PORT, not '${first}'`;
      edge.proxy = address;
      return 'ok';
    }
    case 'fault': {
      if (first === 'none') {
        edge.faults.clear();
        return 'ok';
      }
      const times = second === undefined ? 1 : Number(second);
      const wrong = edge.faults.add({ kind: first, times, where: rest.join(' ') });
      return wrong === null ? 'ok' : `error: ${wrong}`;
    }
    case 'clock': {
      const seconds = Number(first);
      if (first === '' || !(seconds >= 0)) return `error: clock takes seconds, 0 or more, not '${first}'`;
      edge.advance(seconds);
      return 'ok';
    }
    case 'status':
      return JSON.stringify({
        ...edge.outcomes,
        copies: edge.copies,
        calls: edge.calls.length,
        refused: edge.refused,
      });
    default:
      return `error: '${word}' is not one of proxy, fault, clock, status, quit`;
  }
}

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2));
  if ('kind' in args) {
    if (args.kind === 'answer') process[args.stream].write(args.text);
    else process.stderr.write(`edge-fake: ${args.message}\n${helpText(EDGE_FAKE)}`);
    return args.kind === 'answer' ? 0 : 1;
  }
  const { conf } = args;
  const known = conf !== null && existsSync(conf) ? fromConf(conf) : null;
  const credentials = known?.credentials ?? freshCredentials();
  const edge = await FakeEdge.start({
    ...args.edge,
    apiPort: known?.port ?? args.edge.apiPort ?? 0,
    credentials,
    cleared: (what, objects, copies) =>
      say(`cleared ${what} ${objects.map((object) => JSON.stringify(object)).join(' ')} copies ${copies}`),
  });
  if (conf !== null && known === null)
    writeFileSync(conf, confText(edge, credentials, args.edge.network ?? 'staging'), {
      mode: 0o600,
      flag: 'wx',
    });
  say(`api ${edge.apiHost}`);
  say(`cache 127.0.0.1:${edge.cachePort}`);
  if (conf === null) say(confText(edge, credentials, args.edge.network ?? 'staging').trimEnd());
  await new Promise<void>((over) => {
    process.once('SIGINT', over).once('SIGTERM', over);
    process.stdout.once('error', () => over());
    const lines = createInterface({ input: process.stdin });
    lines.on('line', (line) => {
      if (line.trim() === 'quit') over();
      else if (line.trim() !== '') say(obey(edge, line));
    });
    if (args.untilEnd) lines.on('close', over);
  });
  await edge.close();
  return 0;
}

main().then(
  (status) => process.exit(status),
  (cause: unknown) => {
    const { code, port } = cause as { code?: string; port?: number };
    const text = code === 'EADDRINUSE' ? `port ${port} of 127.0.0.1 is taken` : systemText(cause);
    process.stderr.write(`edge-fake: ${text}\n`);
    process.exit(1);
  },
);
