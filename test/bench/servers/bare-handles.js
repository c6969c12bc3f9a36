// The floor below node's sockets: as bare-net.js, over the runtime's bare handles, and a connection that is to be closed
// is closed at once. Prints its port.
import { createServer } from 'node:net';
import { RESPONSE } from './canned-response.js';

const { WriteWrap, streamBaseState, kReadBytesOrError, kLastWriteWasAsync } = process.binding('stream_wrap');
const reads = Buffer.alloc(64 * 1024);
let request = new WriteWrap();

function onread() {
  const length = streamBaseState[kReadBytesOrError];
  if (length <= 0) {
    this.close();
    return;
  }
  const close = reads.latin1Slice(0, length).includes('Connection: close');
  if (this.writeBuffer(request, RESPONSE) !== 0) this.close();
  else {
    if (streamBaseState[kLastWriteWasAsync] !== 0) request = new WriteWrap();
    if (close) this.close();
  }
}

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const { _handle: listener } = server;
  listener.setNoDelay(true);
  listener.onconnection = (status, handle) => {
    if (status !== 0) return;
    handle.onread = onread;
    // biome-ignore lint/correctness/useHookAtTopLevel: a method of the handle
    handle.useUserBuffer(reads);
    handle.readStart();
  };
  console.log(server.address().port);
});
