// The error for a console pointed at the address of the text CLI.
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { connect } from '../../../console/client/client.ts';

it('reports which address it wants', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('107 59      \nabcdefghijklmnopqrstuvwxyzabcdef\n\nAuthentication required.\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(connect({ address, timeout: 5 })).rejects.toMatchObject({
    kind: 'protocol',
    message: `${address}: no console is served there; that is the address of --console, not of -T`,
  });
  server.close();
});
