// Commands of clients and servers: requests and responses, whole or in parts, and bytes.

import { readFile, writeFile } from 'node:fs/promises';
import type { Commands } from './actor.ts';
import { digits, unpacked } from './bodies.ts';
import { expect } from './comparison.ts';
import { transmission } from './http-message.ts';
import type { HttpPeer } from './http-peer.ts';
import {
  acceptPreface,
  acceptUpgrade,
  sendPreface,
  setTables,
  streamCommand,
  upgrade,
} from './http2-commands.ts';
import { readHex, readInteger, readNumber, ScriptError, type Words } from './script.ts';
import { configureTls, handshake } from './tls-script.ts';

type Command = Commands<HttpPeer>[string];

const receiveResponse: Command = async (peer, words) => {
  peer.only(false, words.name);
  let hasBody = true;
  while (!words.isDone) {
    if (words.takeIf('-no_obj')) hasBody = false;
    else peer.fail(`unknown rxresp option: ${words.peek()}`);
  }
  peer.resp = await peer.receiveHead();
  if (!hasBody || peer.resp === null || peer.wasHead) return;
  await peer.receiveBody(peer.resp, peer.resp.first[1] === '200', 0);
  peer.log(4, `bodylen = ${peer.bodyLength}`);
};

const receiveResponseBody: Command = async (peer, words) => {
  peer.only(false, words.name);
  let most = 0;
  while (!words.isDone) {
    if (words.takeIf('-max')) most = readInteger(words.take('length'));
    else peer.fail(`unknown rxrespbody option: ${words.peek()}`);
  }
  await peer.receiveBody(peer.resp, true, most);
  peer.log(4, `bodylen = ${peer.bodyLength}`);
};

async function stopHttp2(peer: HttpPeer): Promise<void> {
  const { http2 } = peer;
  peer.http2 = null;
  await http2?.finish();
}

const expectClose: Command = async (peer) => {
  await stopHttp2(peer);
  for (;;) {
    const data = await peer.wire.read(1, peer.timeout);
    if (data === 'timeout') return peer.soft('Expected close: timeout');
    if (typeof data === 'string') break;
    if (!/\s/.test(data.toString('latin1')))
      return peer.soft(`Expecting close: read c = 0x${data.toString('hex')}`);
  }
  peer.log(4, 'EOF, as expected');
};

const unpack: Command = (peer) => {
  const out = unpacked(peer.body);
  if (typeof out === 'string') return peer.soft(`Gunzip error: ${out}`);
  peer.body = out;
  peer.bodyLength = String(out.length);
  peer.dump('body', out);
};

const receiveBytes: Command = async (peer, words) => {
  for (let left = readInteger(words.take('number of bytes')); left > 0; ) {
    const data = await peer.some(Math.min(left, 32));
    if (data === null) return peer.soft('recv() got EOF');
    peer.dump('recv', data);
    left -= data.length;
  }
};

const sendMany: Command = async (peer, words) => {
  const count = readInteger(words.take('number'));
  const text = Buffer.from(words.take('text'), 'latin1');
  peer.dump('send_n', text);
  const each = Math.max(1, Math.floor(65_536 / Math.max(1, text.length)));
  for (let left = count; left > 0; left -= each)
    await peer.sendQuietly(Buffer.concat(Array.from({ length: Math.min(left, each) }, () => text)));
};

const pattern: Command = (peer) => {
  const wrong = peer.body.findIndex((byte, i) => byte !== 0x30 + (i % 8));
  if (wrong >= 0)
    peer.fail(
      `EXPECT PATTERN FAIL @${wrong} should be 0x${(0x30 + (wrong % 8)).toString(16)}, is 0x${peer.body[wrong]?.toString(16)}`,
    );
};

const shutDown: Command = (peer, words) => {
  while (!words.isDone) {
    const option = words.take('option');
    if (!['-read', '-write', '-notconn'].includes(option)) peer.fail(`unknown shutdown option: ${option}`);
  }
  peer.wire.shutdown();
};

async function timeout(peer: HttpPeer, words: Words): Promise<void> {
  const seconds = readNumber(words.take('seconds'));
  if (Number.isNaN(seconds)) throw new ScriptError('timeout is not a number');
  peer.timeout = seconds;
}

export const HTTP_COMMANDS: Commands<HttpPeer> = {
  rxresp: receiveResponse,
  rxrespbody: receiveResponseBody,
  async rxresphdrs(peer, words) {
    peer.only(false, words.name);
    peer.resp = await peer.receiveHead();
  },
  async rxchunk(peer, words) {
    peer.only(false, words.name);
    if ((await peer.receiveChunk()) === 0) peer.bodyLength = String(peer.body.length);
  },
  async rxreq(peer, words) {
    peer.only(true, words.name);
    peer.req = await peer.receiveHead();
    await peer.receiveBody(peer.req, false, 0);
    peer.log(4, `bodylen = ${peer.bodyLength}`);
  },
  async rxreqhdrs(peer, words) {
    peer.only(true, words.name);
    peer.req = await peer.receiveHead();
  },
  async rxreqbody(peer, words) {
    peer.only(true, words.name);
    await peer.receiveBody(peer.req, false, 0);
    peer.log(4, `bodylen = ${peer.bodyLength}`);
  },
  async txreq(peer, words) {
    peer.only(false, words.name);
    const { bytes, upgradeTo } = await transmission(peer, words, readFile);
    await peer.send(bytes, 'txreq');
    if (upgradeTo !== null) await upgrade(peer, upgradeTo);
  },
  async txresp(peer, words) {
    peer.only(true, words.name);
    await peer.send((await transmission(peer, words, readFile)).bytes, 'txresp');
  },
  gunzip: unpack,
  recv: receiveBytes,
  send: (peer, words) => peer.send(words.take('text').split('\0', 1)[0] as string, 'send'),
  send_n: sendMany,
  // The runtime has no urgent data: they are ordinary bytes here.
  send_urgent: (peer, words) => peer.send(words.take('text'), 'send_urgent'),
  sendhex: (peer, words) => peer.send(readHex(words.take('bytes')), 'sendhex'),
  chunked(peer, words) {
    const text = words.take('text');
    return peer.send(`${text.length.toString(16)}\r\n${text}\r\n`, 'chunked');
  },
  chunkedlen(peer, words) {
    const length = readInteger(words.take('length'), 10);
    if (length === 0) return peer.send('0\r\n\r\n', 'chunked');
    const head = Buffer.from(`${length.toString(16)}\r\n`);
    return peer.send(Buffer.concat([head, digits(length), Buffer.from('\r\n')]), 'chunked');
  },
  timeout,
  expect_close: expectClose,
  async close(peer, words) {
    peer.only(true, words.name);
    await stopHttp2(peer);
    peer.wire.close();
  },
  shutdown: shutDown,
  async accept(peer, words) {
    peer.only(true, words.name);
    await stopHttp2(peer);
    peer.wire.close();
    await peer.acceptNext();
  },
  fatal(peer) {
    peer.isFatal = true;
  },
  non_fatal(peer) {
    peer.isFatal = false;
  },
  write_body: (peer, words) => writeFile(peer.stage.path(words.take('file')), peer.body),
  expect_pattern: pattern,
  expect: (peer, words) => expect(peer, words, (word) => peer.resolve(word)),
  txpri: sendPreface,
  rxpri: acceptPreface,
  settings: setTables,
  stream: streamCommand,
  upgrade: acceptUpgrade,
  tls_config: configureTls,
  tls_handshake: handshake,
};
