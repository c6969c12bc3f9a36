// Joins the edge connector to the worker: made when a program that imports it is loaded, by the settings that came with
// the program.

import type { EdgeFile } from '../contract/program.ts';
import { EdgeConnector } from '../edge/connector.ts';
import { parseEdgeConfig } from '../edge/edge-config.ts';
import type { Worker } from './worker.ts';

/** The worker's connector with these settings. */
export async function connectEdge(worker: Worker, file: EdgeFile): Promise<EdgeConnector> {
  const config = parseEdgeConfig(file.text, file.path);
  const connector =
    worker.edge ??
    new EdgeConnector(config, {
      counters: worker.edgeCounters,
      log: (text) => worker.logNotice(text),
      warn: (text) => worker.note(4, text),
      activeImports: () => worker.active?.program.compiled.imports.includes('edge') === true,
    });
  await connector.configure(config, config.text('dir') || file.directory, file.ca);
  return connector;
}
