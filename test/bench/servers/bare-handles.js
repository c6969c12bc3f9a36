// What Node can do below its sockets: as bare-net.js, over the runtime's bare handles. Prints its port.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const source = readFileSync(new URL('bare-net.js', import.meta.url), 'utf8');
/** One answer for both: what is compared is the way it goes. */
const lines = /const head = \[([\s\S]*?)\]\.join/.exec(source)[1].match(/'[^']*'/g).map((s) => s.slice(1, -1));
const response = Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), Buffer.alloc(1024, 'x')]);

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
  if (this.writeBuffer(request, response) !== 0) this.close();
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
    handle.useUserBuffer(reads);
    handle.readStart();
  };
  console.log(server.address().port);
});
