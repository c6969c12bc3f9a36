// Bytes from clients arrive in one buffer, lent for a turn; in debug mode it is overwritten afterwards.

import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, vi } from 'vitest';
import { keep, type LentBytes } from '../../../daemon/http1/lent-bytes.ts';
import { Acceptor } from '../../../daemon/net/acceptor.ts';
import type { DescriptorGuard } from '../../../daemon/net/descriptor-guard.ts';
import type { Session } from '../../../daemon/net/session.ts';
import { runtimeHandles } from '../../../daemon/runtime-handles.ts';
import { StepChecks } from '../../../daemon/transaction/drive.ts';
import { FakeCore } from '../../harness/fake-core.ts';

/** "GET" in the next turn, as seen by a session that keeps the lent buffer. */
async function keptBytes(checked: boolean, runtime = runtimeHandles()): Promise<string> {
  const fake = new FakeCore({ tcp_keepalive_time: 7200, timeout_idle: 5, timeout_linger: 0 });
  Object.assign(fake.core, { stepChecks: checked ? new StepChecks() : null });
  let kept: LentBytes = Buffer.alloc(0);
  const read = new Promise<void>((resolve) => {
    const sessionOpened = (session: Session): void => {
      session.receive = (buf, start, end) => {
        kept = buf.subarray(start, end);
        setImmediate(resolve);
      };
    };
    const descriptors = { turnsAway: () => false } as unknown as DescriptorGuard;
    const host = { descriptors, sessionOpened, sessionClosed: () => undefined };
    const endpoint = { name: 'a0', socketText: '', isPath: false, proxy: false, tls: false };
    const { server } = new Acceptor(fake.core, host, endpoint, Buffer.alloc(64), 0, null, runtime);
    server.listen(0, '127.0.0.1', () => {
      const client = connect((server.address() as AddressInfo).port, '127.0.0.1', () => client.write('GET'));
      void read.then(() => {
        client.destroy();
        server.close();
      });
    });
  });
  await read;
  return keep(kept, 0, kept.length).toString('latin1');
}

it('takes lent bytes back after their turn in the debug mode', async () => {
  expect(await keptBytes(false)).toBe('GET');
  expect(await keptBytes(true)).toBe('\xbf\xbf\xbf');
});

it('accepts over sockets where the runtime has no handles', async () => {
  expect(await keptBytes(false, null)).toBe('GET');
});

it.each(['127.0.0.1', '0.0.0.0'])(
  'knows the local end of a connection to a listener on %s',
  async (address) => {
    const fake = new FakeCore({ tcp_keepalive_time: 7200, timeout_idle: 5, timeout_linger: 0 });
    const opened: Session[] = [];
    const sessionOpened = (session: Session): void => void opened.push(session);
    const descriptors = { turnsAway: () => false } as unknown as DescriptorGuard;
    const host = { descriptors, sessionOpened, sessionClosed: () => undefined };
    const endpoint = { name: 'a0', socketText: '', isPath: false, proxy: false, tls: false };
    const { server } = new Acceptor(fake.core, host, endpoint, Buffer.alloc(64), 0, null);
    server.listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // The listener on all addresses is asked for a second one of this machine, too.
    const asked = address === '0.0.0.0' ? ['127.0.0.1', '127.0.0.2'] : ['127.0.0.1'];
    for (const [i, to] of asked.entries()) {
      const client = connect(port, to);
      await vi.waitUntil(() => opened.length > i);
      client.destroy();
    }
    server.close();
    expect(opened.map(({ localIp, localPort }) => [localIp, localPort])).toEqual(
      asked.map((to) => [to, port]),
    );
  },
);
