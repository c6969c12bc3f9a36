// `feature`: what a test needs; without it the test is skipped.

import { readFileSync } from 'node:fs';
import type { Actor } from './actor.ts';
import type { Words } from './script.ts';
import { runShell } from './shell.ts';
import { skip } from './skip.ts';
import { listen, readAddress } from './socket-addresses.ts';

async function listens(address: string): Promise<boolean> {
  try {
    const { server } = await listen(readAddress(address), 1, (socket) => socket.destroy());
    server.close();
    return true;
  } catch {
    return false;
  }
}

/** Whether /etc/passwd or /etc/group has this name. */
function isListed(file: string, name: string): boolean {
  try {
    return readFileSync(file, 'latin1')
      .split('\n')
      .some((line) => line.startsWith(`${name}:`));
  } catch {
    return false;
  }
}

const isUser = (name: string): boolean => isListed('/etc/passwd', name);
const isGroup = (name: string): boolean => isListed('/etc/group', name);
const never = (): boolean => false;

const FEATURES: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  '64bit': () => process.arch.includes('64'),
  ipv4: () => listens('127.0.0.1:0'),
  ipv6: () => listens('[::1]:0'),
  abstract_uds: () => listens(`@proxytest.${process.pid}`),
  // Tests do not leave the machine.
  dns: never,
  topbuild: never,
  root: () => process.getuid?.() === 0,
  user_varnish: () => isUser('varnish'),
  user_vcache: () => isUser('vcache'),
  group_varnish: () => isGroup('varnish'),
  tls: () => true,
  tls_1_3: () => true,
  disable_aslr: never,
  persistent_storage: never,
  coverage: never,
  asan: never,
  msan: never,
  tsan: never,
  ubsan: never,
  sanitizer: never,
  workspace_emulator: never,
};

/** Those with a word after them. */
const FEATURES_OF: Readonly<Record<string, (actor: Actor, word: string) => boolean | Promise<boolean>>> = {
  async cmd(actor, word) {
    const { status, signal } = await runShell(actor, word);
    return status === 0 && signal === null;
  },
  user: (_, word) => isUser(word),
  group: (_, word) => isGroup(word),
};

export async function featureCommand(actor: Actor, words: Words): Promise<void> {
  while (!words.isDone) {
    const given = words.take('feature');
    const isUnwanted = given.startsWith('!');
    const name = isUnwanted ? given.slice(1) : given;
    if (name === 'ignore_unknown_macro') {
      actor.stage.macros.ignoreUnknown = true;
      continue;
    }
    const of = Object.hasOwn(FEATURES_OF, name) ? FEATURES_OF[name] : undefined;
    const plain = Object.hasOwn(FEATURES, name) ? FEATURES[name] : undefined;
    const word = of === undefined ? '' : words.take(`word of ${name}`);
    if (of === undefined && plain === undefined) actor.fail(`FAIL test, unknown feature: ${name}`);
    const has = of === undefined ? await plain?.() : await of(actor, word);
    if (has === isUnwanted)
      skip(`feature ${isUnwanted ? '!' : ''}${name}${word === '' ? '' : ` ${word.trim()}`}`);
  }
}
