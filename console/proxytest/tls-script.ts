// tls_config and tls_handshake of clients and servers.

import { Actor, type Commands } from './actor.ts';
import type { HttpPeer } from './http-peer.ts';
import { runSpec } from './interpreter.ts';
import type { Words } from './script.ts';
import { TlsSettings, VERSIONS } from './scripted-tls.ts';
import { skip } from './skip.ts';

/** A block of settings that is being read. */
class TlsBlock extends Actor {
  readonly settings = new TlsSettings();
}

type Setting = Commands<TlsBlock>[string];

/** Words after the equals sign. */
function values(block: TlsBlock, words: Words, most = 99): [string, ...string[]] {
  const all = words.all.slice(1);
  const [sign, first, ...more] = all;
  if (sign !== '=' || first === undefined || more.length >= most)
    block.fail(`tls_config: write ${words.name} = VALUE`);
  return [first, ...more];
}

function boolean(block: TlsBlock, words: Words): boolean {
  const [value] = values(block, words, 1);
  if (!/^(?:true|false)$/i.test(value))
    block.fail(`${words.name}: expected 'true' or 'false', not '${value}'`);
  return value.toLowerCase() === 'true';
}

const version: Setting = (block, words) => {
  const names = values(block, words, 2);
  const [least, greatest = least] = names.map(
    (name) => VERSIONS[name.toLowerCase()] ?? block.fail(`unknown TLS version '${name}'`),
  );
  if ((least as string) > (greatest as string))
    block.fail('TLS version: the least is greater than the greatest');
  block.settings.least = least as NonNullable<typeof least>;
  block.settings.greatest = greatest as NonNullable<typeof greatest>;
};

const BOTH: Commands<TlsBlock> = {
  cert(block, words) {
    [block.settings.certificate] = values(block, words, 1);
  },
  version,
  cipher_list(block, words) {
    [block.settings.ciphers] = values(block, words, 1);
  },
  ciphersuites(block, words) {
    [block.settings.suites] = values(block, words, 1);
  },
  alpn(block, words) {
    block.settings.protocols = values(block, words);
  },
};

const OF_SERVERS: Commands<TlsBlock> = {
  ...BOTH,
  client_vfy(block, words) {
    const [mode] = values(block, words, 1);
    if (!['none', 'optional', 'required'].includes(mode))
      block.fail(`client_vfy: unexpected setting '${mode}'`);
    block.settings.asksForCertificate = mode !== 'none';
    block.settings.verifies = mode === 'required';
  },
  client_vfy_ca(block, words) {
    [block.settings.authorities] = values(block, words, 1);
  },
  staple: () => skip('TLS: stapling cannot be scripted here'),
};

const OF_CLIENTS: Commands<TlsBlock> = {
  ...BOTH,
  servername(block, words) {
    [block.settings.serverName] = values(block, words, 1);
  },
  verify_peer(block, words) {
    block.settings.verifies = boolean(block, words);
  },
  cert_status(block, words) {
    if (boolean(block, words)) skip('TLS: stapling cannot be scripted here');
  },
  sess_out: () => skip('TLS: sessions cannot be kept in files here'),
  sess_in: () => skip('TLS: sessions cannot be kept in files here'),
};

export async function configureTls(peer: HttpPeer, words: Words): Promise<void> {
  const block = new TlsBlock(peer.stage, peer.who, peer.signal);
  await runSpec(block, words.takeSpec('settings'), peer.isServer ? OF_SERVERS : OF_CLIENTS);
  peer.tls = block.settings;
}

export async function handshake(peer: HttpPeer): Promise<void> {
  peer.tls ??= new TlsSettings();
  const { tls, wire } = peer;
  if (wire.socket === null) peer.fail('TLS handshake: the connection is closed');
  let done: Promise<string | null> = Promise.resolve(null);
  try {
    wire.replace((socket) => {
      const started = tls.start(peer, socket, peer.isServer);
      ({ done } = started);
      return started.secure;
    });
  } catch (cause) {
    peer.fail(`TLS: ${(cause as Error).message}`);
  }
  const problem = await peer.until(done);
  if (problem !== null) {
    tls.hasFailed = true;
    peer.log(3, `TLS handshake failed: ${problem}`);
  } else
    peer.log(
      3,
      `TLS handshake complete: ${tls.variable('version', wire.socket)} ${tls.variable('cipher', wire.socket)}`,
    );
}
