// Cloudflare: purges by URL and by cache tag of a zone (its id is purge_client_token, the API token
// purge_access_token). It has no soft purge, and hosts and prefixes cannot be revalidated: rules with one host, with or
// without a path, are sent as deletes of a prefix.

import { parseRule } from '../eccu-rule.ts';
import type { EdgeConfig } from '../edge-config.ts';
import type { ProviderParts } from './akamai.ts';
import { type ApiCall, apiCall } from './api-call.ts';
import { asObject, classifyAnswer } from './classify.ts';
import { targetedHeaders } from './edge-headers.ts';
import type { EdgeBatch, Provider } from './provider.ts';

const MAX_OPERATIONS = 100;
const MAX_BYTES = 50_000;

export function cloudflare(config: EdgeConfig, parts: ProviderParts): Provider {
  const zone = encodeURIComponent(config.text('purge_client_token'));
  const host = config.text('purge_host');
  const body = ({ type, targets }: EdgeBatch): string => {
    if (type === 'url') return JSON.stringify({ files: targets });
    if (type === 'tag') return JSON.stringify({ tags: targets });
    return JSON.stringify({
      prefixes: targets.map(parseRule).map((rule) => `${rule.host ?? ''}${rule.prefix ?? '/'}`),
    });
  };
  const call = (batch: EdgeBatch): ApiCall => ({
    method: 'POST',
    scheme: 'https',
    host,
    path: `/client/v4/zones/${zone}/purge_cache`,
    headers: {
      Accept: 'application/json',
      Authorization: `Bearer ${config.text('purge_access_token')}`,
      'Content-Type': 'application/json',
    },
    body: body(batch),
  });
  return {
    name: 'cloudflare',
    capabilities: {
      soft: false,
      ruleDelete: true,
      ruleInvalidate: false,
      tags: true,
      cpcodes: false,
      maxObjects: MAX_OPERATIONS,
      maxBytes: MAX_BYTES,
    },
    // Hosts are names: the API does not document hosts with a port.
    rules: ({ host: named, extensions }) => named !== null && !/:\d+$/.test(named) && extensions === null,
    formatHeaders: (response, tags, switches) => ({
      ...targetedHeaders('CDN-Cache-Control', response, switches),
      ...(tags.length === 0 ? {} : { 'Cache-Tag': tags.join(',') }),
    }),
    send: (batch, signal) => apiCall(call(batch), parts.ca, signal, parts.patience),
    describe(batch) {
      const { path, body: text } = call(batch);
      return `POST https://${host}${path} {"Authorization":"Bearer ***"} ${text}`;
    },
    bodyBytes: (batch) => Buffer.byteLength(body(batch)),
    classify: (result) =>
      classifyAnswer(
        result,
        ({ success, result: got }) => {
          if (success !== true) return null;
          const { id } = asObject(JSON.stringify(got ?? {}));
          return { is: 'acked', purgeId: typeof id === 'string' ? id : '' };
        },
        () => false,
      ),
  };
}
