// The settings of edge-connector.conf, one row each, for the parser, the example file and every listing. Secrets are
// never shown. An empty default means "not set"; no default enables calls to the network.

export type SettingType = 'text' | 'choice' | 'bool' | 'int' | 'duration' | 'map' | 'host' | 'path';

export interface SettingRow {
  readonly name: string;
  readonly section: 'edge' | 'purge' | 'rules' | 'queue' | 'throttle';
  readonly type: SettingType;
  /** In the syntax of the file. */
  readonly default: string;
  readonly choices?: readonly string[];
  /** For numbers, and for durations in seconds. */
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  readonly secret?: true;
  readonly help: string;
}

/** The default path of the file. */
export const CONFIG_PATH = '/etc/proxyd/edge-connector.conf';

function row<const N extends string>(
  name: N,
  section: SettingRow['section'],
  type: SettingType,
  fallback: string,
  help: string,
  facts?: Pick<SettingRow, 'choices' | 'min' | 'max' | 'unit' | 'secret'>,
): SettingRow & { readonly name: N } {
  return { name, section, type, default: fallback, help, ...facts };
}

// Bounds without a source in the API of a network are chosen: far above any sensible setting.
// biome-ignore format: a row is a line
export const SETTINGS = [
  row('provider', 'edge', 'choice', '', 'The edge network.', { choices: ['fake', 'akamai', 'fastly', 'cloudflare'] }),
  row('network', 'edge', 'choice', 'staging', 'Which of its networks purges go to.', { choices: ['production', 'staging'] }),
  row('prefix', 'edge', 'path', '/edge', 'The path below which the test object stands.'),
  row('via_regex', 'edge', 'text', 'akamai(tech)?\\.net\\(ghost\\)|AkamaiGHost|edge-fake',
    'Matches the Via header of a request that came through the edge. Via can be forged: it shapes headers and grants nothing.'),
  row('host_map', 'edge', 'map', '', 'Host at the proxy = host at the edge, several with commas, where the two differ.'),
  row('tag_header_source', 'edge', 'text', 'xkey', 'The response header that cache tags are taken from.'),
  row('edge_age', 'edge', 'choice', 'drop', 'Whether the edge gets the Age header.', { choices: ['drop', 'keep'] }),
  row('basis', 'edge', 'choice', 'remaining',
    'Whether lifetimes are those that remain or those at the time of the fetch.', { choices: ['remaining', 'original'] }),
  row('grace_to_edge', 'edge', 'choice', 'revalidate', 'Whether the edge may be answered from grace.', { choices: ['revalidate', 'serve'] }),
  row('downstream', 'edge', 'choice', 'ttl',
    'Whether caches behind the edge get the TTL of the proxy or a lifetime the origin wrote.', { choices: ['ttl', 'origin'] }),
  row('purge_host', 'purge', 'host', '', 'Host of the purge API, with a port where it is not 443.'),
  row('purge_client_token', 'purge', 'text', '', 'Client token; the service or zone id at networks that have one.', { secret: true }),
  row('purge_client_secret', 'purge', 'text', '', 'Client secret.', { secret: true }),
  row('purge_access_token', 'purge', 'text', '', 'Access token, or the API key.', { secret: true }),
  row('purge_ca_file', 'purge', 'path', '', 'Certificates to trust in place of the usual ones.'),
  row('mode', 'purge', 'choice', 'queue',
    'Whether the reply comes once the purge is journalled or once the network has answered.', { choices: ['queue', 'inline'] }),
  row('dry_run', 'purge', 'bool', 'off', 'Journal and log the request and send nothing.'),
  row('eccu_property', 'rules', 'text', '', 'The property that rules apply to.'),
  row('eccu_property_type', 'rules', 'choice', 'HOST_HEADER', 'How the property is named.', { choices: ['HOST_HEADER', 'ARL_TOKEN'] }),
  row('rule_fallback', 'rules', 'choice', 'reject', 'What becomes of a ban that the network has no rule for.', { choices: ['reject', 'tag', 'cpcode'] }),
  row('cpcode_map', 'rules', 'map', '', 'Host = CP code, several with commas.'),
  row('dir', 'queue', 'path', '', 'Directory of the journal; by default one in the working directory.'),
  row('fsync', 'queue', 'choice', 'always', 'Whether each record is synced, or several together.', { choices: ['always', 'group'] }),
  row('max_entries', 'queue', 'int', '100000', 'Entries of the queue; above it the edge part of a purge is rejected.', { min: 1, max: 10_000_000 }),
  row('max_attempts', 'queue', 'int', '20', 'Tries before an entry is a dead letter.', { min: 1, max: 1000 }),
  row('backoff_min', 'queue', 'duration', '1s', 'Least bound of the wait between tries.', { min: 0.001, max: 3600, unit: 'seconds' }),
  row('backoff_max', 'queue', 'duration', '5m', 'Greatest bound of the wait between tries.', { min: 0.001, max: 86_400, unit: 'seconds' }),
  row('max_age', 'queue', 'duration', '24h', 'Age at which an entry is a dead letter.', { min: 1, max: 31_536_000, unit: 'seconds' }),
  row('calls', 'throttle', 'int', '50', 'Calls in a period.', { min: 1, max: 1_000_000 }),
  row('period', 'throttle', 'duration', '1s', 'The period.', { min: 0.001, max: 86_400, unit: 'seconds' }),
  row('monthly_quota', 'throttle', 'int', '0', 'Calls in 30 days, from which calls a minute are reckoned; 0 for none.', { min: 0, max: 1_000_000_000_000 }),
  row('concurrency', 'throttle', 'int', '5', 'Calls under way at once.', { min: 1, max: 1000 }),
  row('strict', 'throttle', 'bool', 'off', 'Hold the limit in every period, wherever it begins.'),
] as const satisfies readonly SettingRow[];

export type SettingName = (typeof SETTINGS)[number]['name'];
