#!/usr/bin/env node
// proxy-edge-setup: installs the edge connector's programs and settings where proxyd looks for them. Exit codes: 0,
// also if everything existed; 1 if a file could not be created or an argument is wrong.

import { isAbsolute, join } from 'node:path';
import { type Ending, readCommandLine } from '../../protocol/command-line.ts';
import { inPackage, packageVersion } from '../../protocol/files/package-files.ts';
import { PROXY_EDGE_SETUP } from '../../protocol/tables/tools.ts';
import { guardTerminal } from '../format/terminal-text.ts';
import { printEnding } from '../process/command-end.ts';
import { flushOut, keepOutputManners, writeOut } from '../process/standard-output.ts';
import { type FileToInstall, installFile } from '../setup/install-files.ts';

interface Arguments {
  readonly root: string;
  readonly directory: string;
}

function parseArguments(argv: readonly string[], environment: NodeJS.ProcessEnv): Arguments | Ending {
  const line = readCommandLine(PROXY_EDGE_SETUP, argv, packageVersion());
  const given = new Map(line.options);
  if (line.end !== null) return line.end;
  if (line.words.length !== 1 || line.words[0] !== 'install')
    return { kind: 'mistake', message: "give the command 'install'" };
  const root = given.get('destdir') ?? environment.DESTDIR ?? '';
  const sysconfdir = given.get('sysconfdir') ?? (environment.SYSCONFDIR || '/etc');
  for (const path of [root, sysconfdir])
    if (path !== '' && !isAbsolute(path))
      return { kind: 'mistake', message: `'${path}' does not begin with /` };
  return { root, directory: join(sysconfdir, 'proxyd') };
}

function files(directory: string): readonly FileToInstall[] {
  const programs = ['edge_auto.vcl', 'edge.vcl'].map((name) => ({
    source: inPackage(`daemon/edge/vcl/${name}`),
    destination: join(directory, name),
    mode: 0o644,
  }));
  const settings = {
    source: inPackage('dist/edge-connector.conf.example'),
    destination: join(directory, 'edge-connector.conf'),
    mode: 0o600,
  };
  return [...programs, settings];
}

async function main(): Promise<number> {
  keepOutputManners('proxy-edge-setup');
  guardTerminal([process.stdout, process.stderr]);
  const a = parseArguments(process.argv.slice(2), process.env);
  if ('kind' in a) return printEnding(PROXY_EDGE_SETUP, a);
  for (const file of files(a.directory)) {
    try {
      const done = installFile(file, a.root);
      writeOut(`Source: ${file.source}\nDestination: ${join(a.root, file.destination)}\n${done}\n\n`);
    } catch (cause) {
      process.stderr.write(`proxy-edge-setup: ${(cause as Error).message}\n`);
      return 1;
    }
  }
  await flushOut();
  if (a.directory !== '/etc/proxyd')
    process.stderr.write(
      `proxy-edge-setup: proxyd looks in /etc/proxyd; start it with vcl_path=${a.directory} and EDGE_CONNECTOR_CONFIG=${a.directory}/edge-connector.conf\n`,
    );
  return 0;
}

main().then(process.exit);
