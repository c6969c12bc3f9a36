// The version in package.json, from the sources and from dist/ alike.

import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  for (const place of ['../../../package.json', '../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8'));
      if (name === 'proxyd') return String(version);
    } catch {
      // The other place.
    }
  }
  return '0.0.0';
}
