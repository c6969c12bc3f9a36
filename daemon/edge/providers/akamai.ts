// Akamai: Fast Purge v3 for URLs, tags and CP codes, content control (ECCU) for rules. Every attempt of a call is
// signed with EdgeGrid. The fake network has the same API, without TLS on a loopback address, and can also delete by
// rule.

import { randomUUID } from 'node:crypto';
import { eccuXml, parseRule } from '../eccu-rule.ts';
import type { EdgeConfig } from '../edge-config.ts';
import { type ApiCall, apiCall, isLoopback } from './api-call.ts';
import { asObject, classifyAnswer } from './classify.ts';
import { edgeControlHeaders } from './edge-headers.ts';
import { authorization, type EdgeGridCredentials, maskSignature } from './edgegrid.ts';
import type { EdgeBatch, Outcome, Provider } from './provider.ts';

export interface ProviderParts {
  readonly ca: string | null;
  readonly now?: () => number;
  readonly nonce?: () => string;
  /** Timeout of a call in milliseconds. */
  readonly patience?: number;
}

const ECCU = '/eccu-api/v1/requests';
/** Bytes of a body; the number of objects is chosen so that URLs of common length fit. */
const MAX_BYTES = 50_000;
const MAX_OBJECTS = 5000;
const MAX_TAGS_HEADER = 128;

export function akamai(config: EdgeConfig, parts: ProviderParts, fake = false): Provider {
  const credentials: EdgeGridCredentials = {
    clientToken: config.text('purge_client_token'),
    clientSecret: config.text('purge_client_secret'),
    accessToken: config.text('purge_access_token'),
  };
  const host = config.text('purge_host');
  const scheme = fake && isLoopback(host) ? 'http' : 'https';
  const now = parts.now ?? (() => Date.now());
  const nonce = parts.nonce ?? randomUUID;

  const signed = (method: 'GET' | 'POST', path: string, body: string): ApiCall => {
    const bytes = Buffer.from(body);
    const Authorization = authorization(
      credentials,
      { method, scheme, host, path, body: bytes },
      now(),
      nonce(),
    );
    const type = method === 'POST' ? { 'Content-Type': 'application/json' } : {};
    return {
      method,
      scheme,
      host,
      path,
      body,
      headers: { Accept: 'application/json', Authorization, ...type },
    };
  };
  const path = ({ kind, type, network }: EdgeBatch): string =>
    type === 'rule' ? ECCU : `/ccu/v3/${kind}/${type}/${network}`;
  const body = (batch: EdgeBatch): string => {
    const { kind, type, targets } = batch;
    if (type === 'cpcode') return JSON.stringify({ objects: targets.map(Number) });
    if (type !== 'rule') return JSON.stringify({ objects: targets });
    return JSON.stringify({
      propertyName: config.text('eccu_property'),
      propertyType: config.text('eccu_property_type'),
      propertyNameExactMatch: true,
      metadata: eccuXml(targets.map(parseRule), kind),
      requestName: `proxyd ${kind}`,
      notes: 'bans of a proxy',
      statusUpdateEmails: [],
    });
  };

  return {
    name: fake ? 'fake' : 'akamai',
    capabilities: {
      soft: true,
      ruleDelete: fake,
      ruleInvalidate: true,
      tags: true,
      cpcodes: true,
      maxObjects: MAX_OBJECTS,
      maxBytes: MAX_BYTES,
    },
    formatHeaders: (response, tags, switches) => ({
      ...edgeControlHeaders(response, switches),
      ...(tags.length === 0 ? {} : { 'Edge-Cache-Tag': tags.slice(0, MAX_TAGS_HEADER).join(',') }),
    }),
    send: (batch, signal) =>
      apiCall(signed('POST', path(batch), body(batch)), parts.ca, signal, parts.patience),
    poll: (id, signal) =>
      apiCall(signed('GET', `${ECCU}/${encodeURIComponent(id)}`, ''), parts.ca, signal, parts.patience),
    describe(batch) {
      const call = signed('POST', path(batch), body(batch));
      return `POST ${scheme}://${host}${call.path} ${maskSignature(call.headers.Authorization ?? '')} ${call.body}`;
    },
    bodyBytes: (batch) => Buffer.byteLength(body(batch)),
    classify: (result, _polled) =>
      classifyAnswer(
        result,
        accepted,
        (text) => /"(object|objects|url|tag)"\s*:/.test(text) || /https?:\/\//.test(detailOf(text)),
      ),
  };
}

/** A purge has a purgeId; a content-control request has a requestId and a status. */
function accepted(answer: Readonly<Record<string, unknown>>): Outcome | null {
  const { purgeId, requestId, status } = answer;
  if (typeof purgeId === 'string') return { is: 'acked', purgeId };
  if (requestId === undefined) return null;
  const id = String(requestId);
  switch (status) {
    case 'SUCCEEDED':
      return { is: 'acked', purgeId: id };
    case 'FAILED':
    case 'IGNORED':
      return { is: 'dead', detail: `content control: ${status}` };
    default:
      return { is: 'acked', purgeId: id, poll: id };
  }
}

function detailOf(body: string): string {
  const { detail } = asObject(body);
  return typeof detail === 'string' ? detail : '';
}
