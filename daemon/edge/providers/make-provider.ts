// Selects the network by the settings.

import type { EdgeConfig } from '../edge-config.ts';
import { akamai, type ProviderParts } from './akamai.ts';
import { cloudflare } from './cloudflare.ts';
import { fastly } from './fastly.ts';
import type { Provider } from './provider.ts';

/** Without a configured network the headers are Akamai's. */
export function makeProvider(config: EdgeConfig, parts: ProviderParts): Provider {
  switch (config.text('provider')) {
    case 'fastly':
      return fastly(config, parts);
    case 'cloudflare':
      return cloudflare(config, parts);
    case 'fake':
      return akamai(config, parts, true);
    default:
      return akamai(config, parts);
  }
}
