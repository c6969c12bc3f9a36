// Commands at the top level of a script, and those that every actor has.

import { appendFile, writeFile } from 'node:fs/promises';
import type { Actor, Commands } from './actor.ts';
import { Barrier } from './barrier.ts';
import { DaemonEntity } from './daemon.ts';
import { daemonCommand } from './daemon-commands.ts';
import type { Entity } from './entity.ts';
import { featureCommand } from './feature.ts';
import { LogExpect } from './logexpect.ts';
import { ProcessEntity } from './process.ts';
import type { Product } from './product.ts';
import { readNumber, ScriptError, type Words } from './script.ts';
import { ScriptedClient } from './scripted-client.ts';
import { ScriptedServer } from './scripted-server.ts';
import { failingShell, shellCommand } from './shell.ts';
import { skip } from './skip.ts';
import { isPath } from './socket-addresses.ts';
import { SyslogServer } from './syslog-receiver.ts';
import type { TestCase } from './test-case.ts';
import { Tunnel } from './tunnel.ts';

type Top = Commands<Actor>[string];

/** The entity of a name, made if the script names it for the first time. */
function named<E extends Entity>(test: TestCase, words: Words, letter: string, make: (name: string) => E): E {
  const name = words.take('name');
  if (!name.startsWith(letter))
    throw new ScriptError(`${words.name}: the name must begin with '${letter}' (found ${name})`);
  const key = `${letter}:${name}`;
  const entity = (test.entities.get(key) as E | undefined) ?? make(name);
  test.entities.set(key, entity);
  entity.place = { file: words.file, line: words.line };
  return entity;
}

const command =
  (test: TestCase, letter: string, make: (name: string) => Entity): Top =>
  (_, words) =>
    named(test, words, letter, make).command(words);

function serversOf(test: TestCase): ScriptedServer[] {
  return [...test.entities.values()].filter((entity) => entity instanceof ScriptedServer);
}

/** Declarations of all servers, for -vcl+backend. */
function backends(test: TestCase): string {
  return serversOf(test)
    .map(({ who, address, host, port }) =>
      isPath(address)
        ? `backend ${who} { .path = "${address}"; }\n`
        : `backend ${who} { .host = "${host}"; .port = "${port}"; }\n`,
    )
    .join('');
}

async function serverCommand(test: TestCase, words: Words): Promise<void> {
  // The connections of a dispatching server have names of servers.
  const name = words.peek() ?? '';
  const dispatched = serversOf(test)
    .map(({ connections }) => connections.get(name))
    .find((task) => task !== undefined);
  if (dispatched !== undefined && !test.entities.has(`s:${name}`)) {
    words.take('name');
    while (!words.isDone) {
      if (!words.takeIf('-wait'))
        throw new ScriptError(`server ${name}: only -wait is possible, found ${words.peek()}`);
      await dispatched.done;
    }
    return;
  }
  await named(test, words, 's', (each) => new ScriptedServer(test, each)).command(words);
}

function logexpect(test: TestCase, words: Words): Promise<void> {
  return named(test, words, 'l', (name) => {
    if (words.peek() !== '-v') throw new ScriptError(`logexpect ${name}: it begins with -v and a daemon`);
    words.take('-v');
    const daemon = words.take('daemon');
    const source = test.entities.get(`v:${daemon}`);
    if (!(source instanceof DaemonEntity)) throw new ScriptError(`logexpect ${name}: no varnish ${daemon}`);
    return new LogExpect(test, name, source, () => test.isOver);
  }).command(words);
}

async function delay(actor: Actor, words: Words): Promise<void> {
  const text = words.take('seconds');
  const seconds = readNumber(text);
  if (Number.isNaN(seconds)) actor.fail(`syntax error in number (${text})`);
  await actor.sleep(seconds);
}

function setEnvironment(test: TestCase, words: Words): void {
  const ifUnset = words.takeIf('-ifunset');
  const name = words.take('name');
  const value = words.take('value');
  if (!ifUnset || test.environment[name] === undefined) test.environment[name] = value;
}

async function writeToFile(test: TestCase, words: Words): Promise<void> {
  const write = words.takeIf('-a') ? appendFile : writeFile;
  const file = test.path(words.take('file'));
  let text = '';
  while (!words.isDone) text += words.take('text');
  await write(file, text, 'latin1');
}

/** @param test which the barriers belong to */
export function everybodysCommands(test: TestCase): Commands<Actor> {
  return {
    async barrier(actor, words) {
      const name = words.peek() ?? '';
      if (!test.entities.has(`b:${name}`) && !actor.isScript)
        actor.fail(`Barrier ${name} can only be created on the top thread`);
      await named(test, words, 'b', (each) => new Barrier(test, each)).commandBy(actor, words);
    },
    delay,
    shell: shellCommand,
  };
}

/** @param parameters of all daemons, as NAME=VALUE */
export function topCommands(
  test: TestCase,
  product: Product,
  parameters: readonly string[],
): Commands<Actor> {
  const title: Top = (actor, words) => actor.log(1, `TEST ${words.take('title')}`);
  const varnish: Top = (_, words) => {
    const daemon = named(test, words, 'v', (name) => new DaemonEntity(test, name, product, parameters));
    return daemonCommand(daemon, words, () => backends(test));
  };
  return {
    vtest: title,
    varnishtest: title,
    varnish,
    vinyl: varnish,
    client: command(test, 'c', (name) => new ScriptedClient(test, name)),
    server: (_, words) => serverCommand(test, words),
    tunnel: command(test, 't', (name) => new Tunnel(test, name)),
    process: command(test, 'p', (name) => new ProcessEntity(test, name)),
    syslog: command(test, 'S', (name) => new SyslogServer(test, name)),
    logexpect: (_, words) => logexpect(test, words),
    feature: featureCommand,
    setenv: (_, words) => setEnvironment(test, words),
    err_shell: failingShell,
    filewrite: (_, words) => writeToFile(test, words),
    haproxy: () => skip('haproxy is not driven by proxytest'),
  };
}
