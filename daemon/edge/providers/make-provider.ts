// The network that the settings name.

import type { EdgeConfig } from '../edge-config.ts';
import { akamai, type ProviderParts } from './akamai.ts';
import { cloudflare } from './cloudflare.ts';
import { fastly } from './fastly.ts';
import type { Provider } from './provider.ts';

/** Where none is named: the headers of the first. */
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
