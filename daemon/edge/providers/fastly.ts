// Fastly: purges by URL and by surrogate key of a service (its id is purge_client_token, the API key
// purge_access_token). Soft purges use a header. There are no rules.

import type { EdgeConfig } from '../edge-config.ts';
import type { ProviderParts } from './akamai.ts';
import { type ApiCall, apiCall } from './api-call.ts';
import { classifyAnswer } from './classify.ts';
import { targetedHeaders } from './edge-headers.ts';
import type { EdgeBatch, Provider } from './provider.ts';

const MAX_KEYS = 256;
const MAX_BYTES = 50_000;

export function fastly(config: EdgeConfig, parts: ProviderParts): Provider {
  const service = encodeURIComponent(config.text('purge_client_token'));
  const host = config.text('purge_host');
  const body = ({ type, targets }: EdgeBatch): string =>
    type === 'tag' ? JSON.stringify({ surrogate_keys: targets }) : '';
  const call = (batch: EdgeBatch): ApiCall => {
    const { kind, type, targets } = batch;
    const path =
      type === 'tag'
        ? `/service/${service}/purge`
        : `/purge/${(targets[0] ?? '').replace(/^https?:\/\//, '')}`;
    const soft = kind === 'invalidate' ? { 'Fastly-Soft-Purge': '1' } : {};
    const json = type === 'tag' ? { 'Content-Type': 'application/json' } : {};
    const headers = {
      Accept: 'application/json',
      'Fastly-Key': config.text('purge_access_token'),
      ...soft,
      ...json,
    };
    return { method: 'POST', scheme: 'https', host, path, headers, body: body(batch) };
  };
  return {
    name: 'fastly',
    capabilities: {
      soft: true,
      ruleDelete: false,
      ruleInvalidate: false,
      tags: true,
      cpcodes: false,
      maxObjects: MAX_KEYS,
      maxBytes: MAX_BYTES,
    },
    objectsOf: (type) => (type === 'url' ? 1 : MAX_KEYS),
    formatHeaders: (response, tags, switches) => ({
      ...targetedHeaders('Surrogate-Control', response, switches),
      ...(tags.length === 0 ? {} : { 'Surrogate-Key': tags.join(' ') }),
    }),
    send: (batch, signal) => apiCall(call(batch), parts.ca, signal, parts.patience),
    describe(batch) {
      const { path, headers, body: text } = call(batch);
      return `POST https://${host}${path} ${JSON.stringify({ ...headers, 'Fastly-Key': '***' })} ${text}`;
    },
    bodyBytes: (batch) => Buffer.byteLength(body(batch)),
    classify: (result) =>
      classifyAnswer(
        result,
        (answer) =>
          typeof answer.id === 'string'
            ? { is: 'acked', purgeId: answer.id }
            : Object.keys(answer).length > 0
              ? { is: 'acked', purgeId: Object.values(answer).map(String).join(',').slice(0, 200) }
              : null,
        () => false,
      ),
  };
}
