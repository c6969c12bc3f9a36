// The fleet options: --fleet with its servers, and those that require it. Pure: the files that they name are read when
// the node is created.

import { isIP } from 'node:net';
import { OptionError } from './option-error.ts';

/** Fleet settings of the command line. */
export interface FleetOptions {
  servers: string[];
  name: string;
  /** --node; null for the host name. */
  node: string | null;
  /** Paths of files. */
  creds: string | null;
  user: string | null;
  ca: string | null;
  secret: string | null;
  /** Content accepted from the bus; `invalidate`: no programs. */
  accept: 'all' | 'invalidate';
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SERVER = /^(?:nats:\/\/|tls:\/\/)?(?:\[[0-9a-fA-F:.]+\]|[^\s/@:[\]]+)(?::\d{1,5})?$/;

/** @param given values by option name; null without --fleet. Throws OptionError. */
export function parseFleet(given: ReadonlyMap<string, string>): FleetOptions | null {
  const servers = given.get('fleet');
  if (servers === undefined) {
    const [other] = given.keys();
    if (other === undefined) return null;
    throw new OptionError(`--${other} makes no sense without --fleet`);
  }
  const name = given.get('fleet-name');
  if (name === undefined) throw new OptionError('--fleet needs the name of the fleet: --fleet-name');
  const creds = given.get('fleet-creds') ?? null;
  const user = given.get('fleet-user') ?? null;
  if (creds !== null && user !== null)
    throw new OptionError('Only one of --fleet-creds and --fleet-user can be specified');
  return {
    servers: servers.split(',').map((text) => checkedServer(text, given.has('fleet-ca'))),
    name: checkedName('--fleet-name', name),
    node: given.has('node') ? checkedName('--node', given.get('node') ?? '') : null,
    creds,
    user,
    ca: given.get('fleet-ca') ?? null,
    secret: given.get('fleet-secret') ?? null,
    accept: checkedAccept(given.get('fleet-accept') ?? 'all'),
  };
}

function checkedServer(text: string, secure: boolean): string {
  // Command lines are visible to all users of the machine.
  if (text.includes('@'))
    throw new OptionError('--fleet: credentials belong in a file: --fleet-creds, --fleet-user');
  if (!SERVER.test(text)) throw new OptionError(`--fleet: "${text}" is not nats://host:port`);
  const host = text.replace(/^\w+:\/\//, '').replace(/:\d+$/, '');
  // The client library matches certificates against names only.
  if ((secure || text.startsWith('tls:')) && isIP(host.replace(/[[\]]/g, '')) !== 0)
    throw new OptionError(`--fleet: with TLS a server is named, not given by its address: "${text}"`);
  return text;
}

function checkedAccept(text: string): FleetOptions['accept'] {
  if (text === 'all' || text === 'invalidate') return text;
  throw new OptionError(`--fleet-accept: "${text}" is neither all nor invalidate`);
}

function checkedName(option: string, text: string): string {
  if (!NAME.test(text))
    throw new OptionError(`${option}: "${text}" is not a name of letters, digits, - and _, 64 at most`);
  return text;
}
