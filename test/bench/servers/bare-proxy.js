// The floor of what a pass costs in Node: a `net` server that hands every packet of a client to a kept origin
// connection of its own and every packet of the origin back. It parses nothing. Prints its port.
//   node bare-proxy.js ORIGIN_PORT
import { connect, createServer } from 'node:net';

const port = Number(process.argv[2]);
const server = createServer({ noDelay: true }, (client) => {
  const buffer = Buffer.allocUnsafeSlow(64 * 1024);
  const origin = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback: (n) => {
        client.write(Buffer.from(buffer.subarray(0, n)));
        return true;
      },
    },
  });
  client.on('data', (bytes) => origin.write(bytes));
  client.on('error', () => client.destroy());
  client.on('close', () => origin.destroy());
  origin.on('error', () => origin.destroy());
  origin.on('close', () => client.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
