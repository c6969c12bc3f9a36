// The settings of edge-connector.conf, a row each: parser, example file and every listing read them. A secret is never
// shown. An empty default means "not set"; none of the defaults turns a call to the network on.

export type SettingType = 'text' | 'choice' | 'bool' | 'int' | 'duration' | 'map' | 'host' | 'path';

export interface SettingRow {
  readonly name: string;
  readonly section: 'edge' | 'purge' | 'rules' | 'queue' | 'throttle';
  readonly type: SettingType;
  /** As written in the file. */
  readonly default: string;
  readonly choices?: readonly string[];
  /** Of numbers, and of durations in seconds. */
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  readonly secret?: true;
  readonly help: string;
}

/** The file where nothing else is said. */
export const CONFIG_PATH = '/etc/proxyd/edge-connector.conf';

// Bounds without a source in the API of a network are chosen: far above any sensible setting.
export const SETTINGS = [
  {
    name: 'provider',
    section: 'edge',
    type: 'choice',
    default: '',
    choices: ['fake', 'akamai', 'fastly', 'cloudflare'],
    help: 'The edge network.',
  },
  {
    name: 'network',
    section: 'edge',
    type: 'choice',
    default: 'staging',
    choices: ['production', 'staging'],
    help: 'Which of its networks purges go to.',
  },
  {
    name: 'prefix',
    section: 'edge',
    type: 'path',
    default: '/edge',
    help: 'The path below which the test object stands.',
  },
  {
    name: 'via_regex',
    section: 'edge',
    type: 'text',
    default: 'akamai(tech)?\\.net\\(ghost\\)|AkamaiGHost|edge-fake',
    help: 'Matches the Via header of a request that came through the edge. Via can be forged: it shapes headers and grants nothing.',
  },
  {
    name: 'host_map',
    section: 'edge',
    type: 'map',
    default: '',
    help: 'Host at the proxy = host at the edge, several with commas, where the two differ.',
  },
  {
    name: 'tag_header_source',
    section: 'edge',
    type: 'text',
    default: 'xkey',
    help: 'The response header that cache tags are taken from.',
  },
  {
    name: 'edge_age',
    section: 'edge',
    type: 'choice',
    default: 'drop',
    choices: ['drop', 'keep'],
    help: 'Whether the edge gets the Age header.',
  },
  {
    name: 'basis',
    section: 'edge',
    type: 'choice',
    default: 'remaining',
    choices: ['remaining', 'original'],
    help: 'Whether lifetimes are those that remain or those at the time of the fetch.',
  },
  {
    name: 'grace_to_edge',
    section: 'edge',
    type: 'choice',
    default: 'revalidate',
    choices: ['revalidate', 'serve'],
    help: 'Whether the edge may be answered from grace.',
  },
  {
    name: 'downstream',
    section: 'edge',
    type: 'choice',
    default: 'ttl',
    choices: ['ttl', 'origin'],
    help: 'Whether caches behind the edge get the TTL of the proxy or a lifetime the origin wrote.',
  },
  {
    name: 'purge_host',
    section: 'purge',
    type: 'host',
    default: '',
    help: 'Host of the purge API, with a port where it is not 443.',
  },
  {
    name: 'purge_client_token',
    section: 'purge',
    type: 'text',
    default: '',
    secret: true,
    help: 'Client token; the service or zone id at networks that have one.',
  },
  {
    name: 'purge_client_secret',
    section: 'purge',
    type: 'text',
    default: '',
    secret: true,
    help: 'Client secret.',
  },
  {
    name: 'purge_access_token',
    section: 'purge',
    type: 'text',
    default: '',
    secret: true,
    help: 'Access token, or the API key.',
  },
  {
    name: 'purge_ca_file',
    section: 'purge',
    type: 'path',
    default: '',
    help: 'Certificates to trust in place of the usual ones.',
  },
  {
    name: 'mode',
    section: 'purge',
    type: 'choice',
    default: 'queue',
    choices: ['queue', 'inline'],
    help: 'Whether the reply comes once the purge is journalled or once the network has answered.',
  },
  {
    name: 'dry_run',
    section: 'purge',
    type: 'bool',
    default: 'off',
    help: 'Journal and log the request and send nothing.',
  },
  {
    name: 'eccu_property',
    section: 'rules',
    type: 'text',
    default: '',
    help: 'The property that rules apply to.',
  },
  {
    name: 'eccu_property_type',
    section: 'rules',
    type: 'choice',
    default: 'HOST_HEADER',
    choices: ['HOST_HEADER', 'ARL_TOKEN'],
    help: 'How the property is named.',
  },
  {
    name: 'rule_fallback',
    section: 'rules',
    type: 'choice',
    default: 'reject',
    choices: ['reject', 'tag', 'cpcode'],
    help: 'What becomes of a ban that the network has no rule for.',
  },
  {
    name: 'cpcode_map',
    section: 'rules',
    type: 'map',
    default: '',
    help: 'Host = CP code, several with commas.',
  },
  {
    name: 'dir',
    section: 'queue',
    type: 'path',
    default: '',
    help: 'Directory of the journal; by default one in the working directory.',
  },
  {
    name: 'fsync',
    section: 'queue',
    type: 'choice',
    default: 'always',
    choices: ['always', 'group'],
    help: 'Whether each record is synced, or several together.',
  },
  {
    name: 'max_entries',
    section: 'queue',
    type: 'int',
    default: '100000',
    min: 1,
    max: 10_000_000,
    help: 'Entries of the queue; above it the edge part of a purge is rejected.',
  },
  {
    name: 'max_attempts',
    section: 'queue',
    type: 'int',
    default: '20',
    min: 1,
    max: 1000,
    help: 'Tries before an entry is a dead letter.',
  },
  {
    name: 'backoff_min',
    section: 'queue',
    type: 'duration',
    default: '1s',
    min: 0.001,
    max: 3600,
    unit: 'seconds',
    help: 'Least bound of the wait between tries.',
  },
  {
    name: 'backoff_max',
    section: 'queue',
    type: 'duration',
    default: '5m',
    min: 0.001,
    max: 86_400,
    unit: 'seconds',
    help: 'Greatest bound of the wait between tries.',
  },
  {
    name: 'max_age',
    section: 'queue',
    type: 'duration',
    default: '24h',
    min: 1,
    max: 31_536_000,
    unit: 'seconds',
    help: 'Age at which an entry is a dead letter.',
  },
  {
    name: 'calls',
    section: 'throttle',
    type: 'int',
    default: '50',
    min: 1,
    max: 1_000_000,
    help: 'Calls in a period.',
  },
  {
    name: 'period',
    section: 'throttle',
    type: 'duration',
    default: '1s',
    min: 0.001,
    max: 86_400,
    unit: 'seconds',
    help: 'The period.',
  },
  {
    name: 'monthly_quota',
    section: 'throttle',
    type: 'int',
    default: '0',
    min: 0,
    max: 1_000_000_000_000,
    help: 'Calls in 30 days, from which calls a minute are reckoned; 0 for none.',
  },
  {
    name: 'concurrency',
    section: 'throttle',
    type: 'int',
    default: '5',
    min: 1,
    max: 1000,
    help: 'Calls under way at once.',
  },
  {
    name: 'strict',
    section: 'throttle',
    type: 'bool',
    default: 'off',
    help: 'Hold the limit in every period, wherever it begins.',
  },
] as const satisfies readonly SettingRow[];

export type SettingName = (typeof SETTINGS)[number]['name'];
