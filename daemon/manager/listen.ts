// Listening for operators and scrapers. A listener reports errors as long as it lives: without a descriptor to accept
// with it has one for each try, and none of them may end the daemon.

import type { AddressInfo, ListenOptions, Server } from 'node:net';

/** Resolves with the port (0 for a path), rejects when it cannot listen; `later` hears errors that come afterwards. */
export function listen(
  server: Server,
  where: ListenOptions,
  later: (cause: Error) => void = () => {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', later);
      const address = server.address() as AddressInfo | string | null;
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
