// The drama's operations on the demo's proxy, over a connection of their own.

import { connect } from '../client/client.ts';
import { inlineCommand } from '../model/ui/undo.ts';
import { BAD_PROGRAM, type Stagehand } from './drama.ts';

/** Includes the host, so that it can be translated for the edge network. */
const STATIC = 'req.http.host == shop.example && req.url ~ ^/static/';

/** @param dir working directory of the daemon, as in -n */
export function stagehand({ dir }: { readonly dir: string }): Stagehand {
  const ask = async (line: string): Promise<string> => {
    const client = await connect({ dir, name: 'demo' });
    try {
      return (await client.command(line)).body.trim();
    } finally {
      client.close();
    }
  };
  return {
    banStatic: () => ask(`ban ${STATIC}`),
    // The first lines have the error and its place.
    loadBadProgram: async () => (await ask(inlineCommand('hurried', BAD_PROGRAM))).split('\n', 3).join(' '),
  };
}
