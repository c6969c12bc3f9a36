// How the connection of a client or server becomes one of HTTP/2, and its streams.

import { fieldOf } from './http-head.ts';
import type { HttpPeer } from './http-peer.ts';
import { PREFACE, SETTING_NAMES } from './http2-names.ts';
import { runSpec } from './interpreter.ts';
import { readInteger, type Words } from './script.ts';
import { Http2Connection, Http2Stream } from './scripted-http2.ts';
import { STREAM_COMMANDS } from './stream-commands.ts';

/** The SETTINGS exchange before the first stream, unless the script has its own. */
const GREETING = `stream 0 {
  txsettings
  rxsettings
  txsettings -ack
  rxsettings
  expect settings.ack == true
}`;

function run(peer: HttpPeer, text: string): Promise<void> {
  const line = peer.place?.line ?? 0;
  return runSpec(peer, { text, file: peer.place?.file ?? '', line }, peer.setting.commands);
}

export async function sendPreface(peer: HttpPeer): Promise<void> {
  peer.only(false, 'txpri');
  peer.dump('txpri', PREFACE);
  // In two pieces, as some clients send it.
  await peer.sendQuietly(PREFACE.subarray(0, 18));
  await peer.sleep(0.01);
  await peer.sendQuietly(PREFACE.subarray(18));
  peer.http2 = new Http2Connection(peer);
}

export async function acceptPreface(peer: HttpPeer): Promise<void> {
  peer.only(true, 'rxpri');
  const data = await peer.exactly(PREFACE.length);
  if (data === null) peer.fail("Couldn't retrieve connection preface");
  if (!data.equals(PREFACE)) peer.fail('Received invalid preface');
  peer.http2 = new Http2Connection(peer);
}

function connectionOf(peer: HttpPeer): Http2Connection | null {
  return peer.http2 instanceof Http2Connection ? peer.http2 : null;
}

export function setTables(peer: HttpPeer, words: Words): void {
  const connection = connectionOf(peer);
  if (connection === null) peer.fail('settings are only possible in HTTP/2');
  while (!words.isDone) {
    if (!words.takeIf('-dectbl')) peer.fail(`Unknown settings spec: ${words.peek()}`);
    connection.received.resize(readInteger(words.take('size')));
  }
}

export async function streamCommand(peer: HttpPeer, words: Words): Promise<void> {
  if (peer.http2 === null) {
    await (peer.isServer ? acceptPreface(peer) : sendPreface(peer));
    await run(peer, `${GREETING} -run`);
  }
  const connection = connectionOf(peer);
  if (connection === null) peer.fail('the connection is closed');
  const given = words.take('number');
  const name = given === 'next' ? String(connection.lastId > 0 ? connection.lastId + 2 : 1) : given;
  const stream = connection.streams.find((each) => each.name === name) ?? new Http2Stream(connection, name);
  let spec = stream.spec;
  while (!words.isDone) {
    if (words.takeIf('-wait')) {
      await stream.wait();
      continue;
    }
    await stream.wait();
    const start = (): void => stream.start(() => runSpec(stream, spec, STREAM_COMMANDS));
    if (words.takeIf('-start')) start();
    else if (words.takeIf('-run')) {
      start();
      await stream.wait();
    } else if (words.peek()?.startsWith('-')) peer.fail(`Unknown stream argument: ${words.peek()}`);
    else {
      spec = words.takeSpec('commands');
      stream.spec = spec;
    }
  }
}

/** Takes the settings of an HTTP2-Settings header. */
function takeSettings(peer: HttpPeer, text: string): void {
  const data = Buffer.from(text, 'base64url');
  for (let i = 0; i + 6 <= data.length; i += 6)
    if (data.readUInt16BE(i) === SETTING_NAMES.hdrtbl) {
      const table = peer.isServer ? connectionOf(peer)?.sent : connectionOf(peer)?.received;
      table?.resize(data.readUInt32BE(i + 2));
    }
}

/** A client that has asked for HTTP/2 with a request of HTTP/1. */
export async function upgrade(peer: HttpPeer, settings: string): Promise<void> {
  await run(
    peer,
    'rxresp\nexpect resp.status == 101\nexpect resp.http.connection == Upgrade\nexpect resp.http.upgrade == h2c\ntxpri',
  );
  takeSettings(peer, settings);
  await run(peer, `${GREETING} -start`);
}

/** A server that has received such a request. */
export async function acceptUpgrade(peer: HttpPeer): Promise<void> {
  peer.only(true, 'upgrade');
  for (const [name, value] of [
    ['Upgrade', 'h2c'],
    ['Connection', 'Upgrade, HTTP2-Settings'],
  ] as const)
    if (fieldOf(peer.req, name) !== value) peer.fail(`Req misses "${name}: ${value}" header`);
  const settings = fieldOf(peer.req, 'HTTP2-Settings');
  if (settings === null) peer.fail('Req misses "HTTP2-Settings" header');
  await run(peer, 'txresp -status 101 -hdr "Connection: Upgrade" -hdr "Upgrade: h2c"\nrxpri');
  takeSettings(peer, settings);
  await run(peer, `${GREETING} -start`);
}
