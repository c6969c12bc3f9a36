// What the drama does to the demo's proxy, over a connection of its own.

import { connect } from '../client/client.ts';
import { inlineCommand } from '../model/ui/undo.ts';
import { BAD_PROGRAM, type Stagehand } from './drama.ts';

/** With its host, so that the edge network has a rule for it. */
const STATIC = 'req.http.host == shop.example && req.url ~ ^/static/';

/** @param dir of the daemon, as -n */
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
    // Its first lines say what is wrong and where.
    loadBadProgram: async () => (await ask(inlineCommand('hurried', BAD_PROGRAM))).split('\n', 3).join(' '),
  };
}
