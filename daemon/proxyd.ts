#!/usr/bin/env node

// The daemon's entry: arguments, signals, exit codes, and the choice between background, foreground and -d.
//
// Loads only what the selected mode needs, because the first request should be served within half a second. Exit codes:
// 0 success, 2 an error in the command line or the program, 1 anything else.

import { inPackage, packageVersion } from '../protocol/files/package-files.ts';
import { systemText } from '../protocol/system-text.ts';
import { resolveWorkdir, surroundings, workdirParent } from '../protocol/workdir.ts';
import { OptionError } from './manager/options/option-error.ts';
import { type Options, parseOptions, startsWorkerAtOnce } from './manager/options/options.ts';
import { forkWorker, workerCode } from './manager/process/fork-worker.ts';
import { isShared, makeAccess } from './manager/process/jail.ts';
import { missingInterfaces } from './runtime-handles.ts';

const HINT = '(-? gives usage)\n';
/** Milliseconds for a requested stop, beside those in which the worker finishes what was begun (chosen). */
const LAST_RESORT_MS = 9000;

function failText(cause: unknown): { text: string; code: number } {
  if (cause instanceof OptionError) {
    const end = cause.message.endsWith('\n') ? '' : '\n';
    // A multi-line message starts on its own line.
    const separator = cause.message.startsWith('\n') ? '' : ' ';
    return { text: `Error:${separator}${cause.message}${end}${cause.usage ? HINT : ''}`, code: 2 };
  }
  return {
    text: `Error: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`,
    code: 1,
  };
}

/** Prints requested output on standard output. */
async function say(text: string): Promise<void> {
  const { writeOutput } = await import('../protocol/files/stdout-writer.ts');
  try {
    await writeOutput(text);
  } catch (cause) {
    process.stderr.write(`Error: Cannot write to standard output: ${systemText(cause)}\n`);
    process.exit(1);
  }
}

async function compileOnly(o: Options): Promise<number> {
  const [{ makeCompile }, { backendProgram, readProgramFile }, { setParams }, { Params }, { renderProgram }] =
    await Promise.all([
      import('./manager/programs/compiler.ts'),
      import('./manager/start-files.ts'),
      import('./manager/options/param-options.ts'),
      import('./params/parameter-set.ts'),
      import('./vcl/compile.ts'),
    ]);
  const params = new Params();
  setParams(params, o, (_level, text) => process.stderr.write(`Warning: ${text}\n`));
  const { jail } = makeAccess(o);
  const compile = makeCompile(params, o.disk === null ? o.storages : [...o.storages, o.disk], () => [], {
    directory: null,
    inUse: () => [],
    account: jail?.describer ?? null,
  });
  const sources = o.backend === null ? [] : [{ name: '<-b>', text: backendProgram(o.backend) }];
  for (const file of o.programs) {
    const source = readProgramFile(file, params.text('vcl_path'), true);
    if (typeof source === 'string') throw new OptionError(`Cannot read -f file '${file}' (${source})`);
    sources.push(source);
  }
  for (const source of sources) {
    const result = await compile(source);
    if (typeof result === 'string') {
      process.stderr.write(`${result}\n`);
      return 2;
    }
    process.stderr.write('notes' in result ? result.notes : '');
    await say(renderProgram('program' in result ? result.program : result));
  }
  return 0;
}

async function serve(o: Options): Promise<number> {
  const access = makeAccess(o);
  // Started before this process loads the rest of its code, since its boot takes longest.
  const code = workerCode();
  const early = startsWorkerAtOnce(o) ? forkWorker(code, o.disk !== null) : null;
  process.on('exit', () => early?.kill('SIGKILL'));
  const [{ Manager }, { isMemoryBacked, makeDirectory }, { detachedSelf }, { openDaemonLog }] =
    await Promise.all([
      import('./manager/manager.ts'),
      import('./manager/process/working-directory.ts'),
      import('./manager/process/detach.ts'),
      import('./manager/process/daemon-log.ts'),
    ]);
  const background = o.mode === 'daemon';
  const daemonLog = openDaemonLog(o, {
    stderr: (text) => process.stderr.write(text),
    starter: (text) => detachedSelf.log(text),
  });
  const log = daemonLog.write;
  const dir = resolveWorkdir(o.dir, surroundings());
  makeDirectory(dir, workdirParent(o.dir, surroundings()), isShared(access));
  if (isMemoryBacked(dir) === false) {
    log(
      'warning',
      `working directory ${dir} is not on a memory-backed file system: the log will cost disk writes`,
    );
  }
  for (const text of missingInterfaces()) log('warning', text);
  const manager = await Manager.create(o, dir, packageVersion(), log, { early, code, access });
  const ended = new Promise<void>((resolve) => {
    let lastResort: NodeJS.Timeout | null = null;
    const stop = (signal: NodeJS.Signals): void => {
      log('info', `Manager got ${signal}`);
      // A second signal does not wait for stop_timeout.
      const isFirst = lastResort === null;
      if (lastResort !== null) clearTimeout(lastResort);
      const ms = LAST_RESORT_MS + (isFirst ? manager.core.params.num('stop_timeout') * 1000 : 0);
      lastResort = setTimeout(() => {
        manager.killNow();
        process.exit(1);
      }, ms).unref();
      if (!isFirst) manager.hurry();
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    // SIGHUP is sent by a closing terminal to its foreground processes, and by log rotation.
    process.on('SIGHUP', (signal) => {
      if (background || (o.logFile !== null && !process.stderr.isTTY)) daemonLog.reopen();
      else stop(signal);
    });
  });
  process.on('exit', () => manager.killNow());
  // An uncaught error ends neither traffic nor control connections. Standard error may be a pipe without a reader.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', () => undefined);
  process.on('uncaughtException', (cause) => manager.core.uncaught(cause));
  process.on('unhandledRejection', (cause) => manager.core.uncaught(cause));
  await Promise.race([manager.boot(), ended]);
  if (background) detachedSelf.serving();
  if (o.mode === 'debug') {
    const { serveStdin } = await import('./manager/endpoints/text-cli.ts');
    await Promise.race([
      ended,
      serveStdin(process.stdin, process.stdout, manager.core.banner, (line) => manager.command(line)),
    ]);
  } else await ended;
  await manager.close();
  await daemonLog.close();
  return 0;
}

async function main(): Promise<number> {
  const argv = process.argv.slice(2);
  if (argv.some((a) => a === '--lint' || a.startsWith('--lint='))) {
    const { lintCommand } = await import('./manager/developer-commands.ts');
    let found = '';
    const code = await lintCommand(
      argv,
      (text) => {
        found += text;
      },
      (text) => process.stderr.write(text),
    );
    await say(found);
    return code;
  }
  if (argv.some((a) => a === '--test' || a.startsWith('--test='))) {
    const { testCommand } = await import('./program-tests/test-command.ts');
    let message = '';
    const code = await testCommand(
      argv,
      (text) => {
        message += text;
      },
      (text) => process.stderr.write(text),
    );
    await say(message);
    return code;
  }
  if (argv.some((a) => a === '--test-extension' || a.startsWith('--test-extension='))) {
    const { testExtensionCommand } = await import('./manager/developer-commands.ts');
    return testExtensionCommand(argv, (text) => process.stderr.write(text));
  }
  const request = parseOptions(argv);
  if (request.kind !== 'run') {
    const { documentText, usageText, versionText } = await import('./manager/options/documents.ts');
    if (request.kind === 'version') process.stderr.write(versionText(packageVersion()));
    else if (request.kind === 'usage') await say(usageText());
    else await say(await documentText(request.what));
    // As in Varnish, a usage error prints the same as -?.
    return request.kind === 'usage' && !argv.includes('--help') ? 2 : 0;
  }
  const { options } = request;
  if (options.compileOnly) return compileOnly(options);
  if (options.mode === 'daemon') {
    const { isDetached, runDetached } = await import('./manager/process/detach.ts');
    if (!isDetached()) return runDetached(inPackage('dist/daemon/proxyd.js'), argv);
  }
  return serve(options);
}

main().then(
  (code) => process.exit(code),
  async (cause: unknown) => {
    const { text, code } = failText(cause);
    const { detachedSelf, isDetached } = await import('./manager/process/detach.ts');
    if (isDetached()) await detachedSelf.failed(text, code);
    else process.stderr.write(text);
    process.exit(code);
  },
);
