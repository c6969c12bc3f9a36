// edge-connector.conf for a fake edge of the tests.
import type { FakeEdge } from '../../daemon/edge/fake/fake-edge.ts';

export const EDGE_CREDENTIALS = {
  clientToken: 'test-client',
  clientSecret: 'test-secret',
  accessToken: 'test-access',
};

export function edgeSettings(edge: FakeEdge, more: Readonly<Record<string, string>> = {}): string {
  const rows = {
    provider: 'fake',
    purge_host: edge.apiHost,
    purge_client_token: EDGE_CREDENTIALS.clientToken,
    purge_client_secret: EDGE_CREDENTIALS.clientSecret,
    purge_access_token: EDGE_CREDENTIALS.accessToken,
    backoff_min: '10ms',
    backoff_max: '100ms',
    ...more,
  };
  return Object.entries(rows)
    .map(([key, value]) => `${key} = ${value}\n`)
    .join('');
}
