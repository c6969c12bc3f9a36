// A console handles a backlog of log one message per turn of the event loop: a key pressed meanwhile is handled before
// the rest of the backlog.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Client, connect } from '../../../console/client/client.ts';
import { PROTOCOL_VERSION } from '../../../protocol/messages.ts';
import { WORKDIR_FILES } from '../../../protocol/workdir.ts';

const FRAMES = 200;

let dir: string;
let close: () => void;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'message-turns-'));
  const http = createServer();
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  server.on('connection', (ws) => {
    ws.send(
      JSON.stringify({
        t: 'hello',
        v: PROTOCOL_VERSION,
        server: 'test',
        version: '0',
        identity: '',
        auth: 'none',
      }),
    );
    ws.on('message', (data) => {
      const m = JSON.parse(String(data));
      if (m.t === 'hello') ws.send(JSON.stringify({ t: 'welcome', state: 'running' }));
      if (m.t !== 'log') return;
      ws.send(JSON.stringify({ t: 'ok', id: m.id }));
      const frame = Buffer.alloc(64);
      frame.writeUInt32LE(m.id, 0);
      for (let i = 0; i < FRAMES; i++) ws.send(frame);
    });
  });
  await new Promise<void>((resolve) => http.listen(join(dir, WORKDIR_FILES.socket), resolve));
  close = () => {
    for (const ws of server.clients) ws.terminate();
    http.close();
  };
});

afterEach(() => {
  close();
  rmSync(dir, { recursive: true, force: true });
});

/** Frames handled when a callback of the event loop runs that was due at the first frame. */
async function framesBefore(client: Client): Promise<{ seen: number; all: number }> {
  let frames = 0;
  let seen = 0;
  return new Promise((resolve) =>
    client.log(
      { grouping: 'request', from: 'tail' },
      {
        frame: () => {
          frames++;
          if (frames === 1)
            setImmediate(() => {
              seen = frames;
            });
          if (frames === FRAMES) setImmediate(() => resolve({ seen, all: frames }));
        },
      },
    ),
  );
}

it('gives other work its turn after each message', async () => {
  const client = await connect({ dir, interactive: true });
  const { seen, all } = await framesBefore(client);
  client.close();
  expect(all).toBe(FRAMES);
  expect(seen).toBeLessThanOrEqual(2);
});
