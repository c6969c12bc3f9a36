// All private interfaces of the runtime that are used, each with a probe: TCP and Unix connection handles without the
// streams, events and timers on top of them, the handle under a socket, listener handles for several threads, and a
// socket write that bypasses the queue. Every user has a fallback if the probe fails; missingInterfaces() names its
// cost.
//
// PROXYD_PRIVATE_INTERFACES=off makes every probe fail, so that tests can run the fallbacks.

import net, { type Server, type Socket } from 'node:net';
import { constants } from 'node:os';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { getSystemErrorName } from 'node:util';
import { createDeflateRaw, constants as zlib } from 'node:zlib';

/** Methods return 0 or a negative errno. */
export interface RuntimeHandle {
  readonly fd?: number;
  /** Bytes written but not yet accepted by the kernel. */
  readonly writeQueueSize: number;
  /** Called after each read, with the handle as `this`; length or error is in `streamBaseState`. */
  onread: () => void;
  useUserBuffer(bytes: Uint8Array): void;
  readStart(): number;
  readStop(): number;
  writeBuffer(request: WriteRequest, bytes: Uint8Array): number;
  /** `allBuffers`: all chunks are bytes. */
  writev(request: WriteRequest, chunks: readonly Uint8Array[], allBuffers: true): number;
  shutdown(request: ShutdownRequest): number;
  close(closed?: () => void): void;
  connect(request: ConnectRequest, address: string, port?: number): number | undefined;
  connect6?(request: ConnectRequest, address: string, port: number): number;
  // TCP only.
  getsockname?(into: HandleAddress): number;
  getpeername?(into: HandleAddress): number;
  setNoDelay?(on: boolean): number;
  setKeepAlive?(on: boolean, seconds: number): number;
  reset?(closed: () => void): number;
}

export interface HandleAddress {
  address?: string;
  port?: number;
}

export interface ConnectRequest {
  oncomplete(status: number, handle: RuntimeHandle): void;
}

export interface WriteRequest {
  /** Held while the runtime sends them. */
  held: { release(): void } | null;
  oncomplete(status: number, handle: RuntimeHandle): void;
}

export interface ShutdownRequest {
  /** Called with the request as `this`. */
  oncomplete(status: number): void;
}

/** A TLS connection over another handle, whose reads and writes it does. One write at a time, which always completes
 * later; the bytes are encrypted or copied when the call returns. */
export interface TlsHandle extends RuntimeHandle {
  onhandshakestart: () => void;
  onhandshakedone: () => void;
  /** Called with the reason when the handshake or a record is broken; alerts have been sent. */
  onerror: (error: Error) => void;
  /** Called when the client has named itself, where enableCertCb() was called: certCbDone() continues. */
  oncertcb: () => void;
  enableCertCb(): void;
  certCbDone(): void;
  setOCSPResponse(response: Uint8Array): void;
  setVerifyMode(request: boolean, require: boolean): void;
  /** Names with their lengths in front, as on the wire. */
  setALPNProtocols(names: Uint8Array): void;
  /** Bytes of the connection that were read before. */
  receive(bytes: Uint8Array): void;
  /** After close() of the handle below. */
  destroySSL(): void;
  getProtocol(): string;
  getCipher(): { readonly name: string; readonly standardName: string };
  isSessionReused(): boolean;
  getALPNNegotiatedProtocol(): string | false;
  /** Why the client's certificate cannot be trusted; null when it can. */
  verifyError(): (Error & { code?: string }) | null | undefined;
  getPeerCertificate(abbreviated: true): { readonly raw?: Uint8Array } | undefined;
}

export interface RuntimeHandles {
  /** Null where the runtime does not show it. */
  readonly tls_wrap: {
    wrap(handle: RuntimeHandle, context: unknown, isServer: boolean, hasWrites: boolean): TlsHandle;
  } | null;
  readonly tcp_wrap: {
    TCP: new (type: number) => RuntimeHandle;
    TCPConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  readonly pipe_wrap: {
    Pipe: new (type: number) => RuntimeHandle;
    PipeConnectWrap: new () => ConnectRequest;
    constants: { SOCKET: number };
  };
  readonly stream_wrap: {
    WriteWrap: new () => WriteRequest;
    ShutdownWrap: new () => ShutdownRequest;
    /** Results of the last call, by index. */
    streamBaseState: Int32Array;
    kReadBytesOrError: number;
    /** 0 if a write completed synchronously: the runtime then does not use its request. */
    kLastWriteWasAsync: number;
  };
}

/** The error with which the runtime reports the end of input (libuv's UV_EOF). */
export const END_OF_INPUT = -4095;

const METHODS = ['useUserBuffer', 'readStart', 'readStop', 'writeBuffer', 'writev', 'shutdown', 'close'];

const SWITCHED_OFF = process.env.PROXYD_PRIVATE_INTERFACES === 'off';

/** Null if the runtime has no such handles. */
export function runtimeHandles(): RuntimeHandles | null {
  if (SWITCHED_OFF) return null;
  const { binding } = process as unknown as { binding?: (name: string) => unknown };
  if (binding === undefined) return null;
  try {
    const of = <K extends keyof RuntimeHandles>(name: K) => binding.call(process, name) as RuntimeHandles[K];
    const all = {
      tcp_wrap: of('tcp_wrap'),
      pipe_wrap: of('pipe_wrap'),
      stream_wrap: of('stream_wrap'),
      tls_wrap: tlsHandles(of),
    };
    const { tcp_wrap, pipe_wrap, stream_wrap } = all;
    const classes = [
      ...[tcp_wrap.TCP, tcp_wrap.TCPConnectWrap, pipe_wrap.Pipe, pipe_wrap.PipeConnectWrap],
      ...[stream_wrap.WriteWrap, stream_wrap.ShutdownWrap],
    ];
    const whole =
      classes.every((each) => typeof each === 'function') &&
      [tcp_wrap.TCP, pipe_wrap.Pipe].every(hasMethods) &&
      typeof stream_wrap.kReadBytesOrError === 'number' &&
      typeof stream_wrap.kLastWriteWasAsync === 'number';
    return whole ? all : null;
  } catch {
    // Newer runtimes may refuse.
    return null;
  }
}

const TLS_METHODS = [
  ...['setVerifyMode', 'setALPNProtocols', 'enableCertCb', 'certCbDone', 'setOCSPResponse', 'receive'],
  ...[
    'destroySSL',
    'getProtocol',
    'getCipher',
    'isSessionReused',
    'getALPNNegotiatedProtocol',
    'verifyError',
  ],
  ...['getPeerCertificate', 'useUserBuffer', 'readStart', 'readStop', 'writeBuffer', 'writev', 'shutdown'],
];

function tlsHandles(of: (name: 'tls_wrap') => unknown): RuntimeHandles['tls_wrap'] {
  try {
    const tls = of('tls_wrap') as { wrap?: unknown; TLSWrap?: { prototype: Record<string, unknown> } };
    const { prototype } = tls.TLSWrap ?? {};
    const whole = TLS_METHODS.every((name) => typeof prototype?.[name] === 'function');
    return typeof tls.wrap === 'function' && whole ? (tls as unknown as RuntimeHandles['tls_wrap']) : null;
  } catch {
    return null;
  }
}

function hasMethods({ prototype }: { prototype: object }): boolean {
  return METHODS.every((name) => typeof (prototype as Record<string, unknown>)[name] === 'function');
}

/** The handle under a connected socket. */
export interface SocketHandle {
  readonly fd?: number;
  readonly writeQueueSize?: number;
}

/** Null for a closed socket, or if the runtime does not expose it. */
export function handleOf(socket: Socket): SocketHandle | null {
  if (SWITCHED_OFF) return null;
  return (socket as unknown as { _handle?: SocketHandle | null })._handle ?? null;
}

/** Why the certificate of a TLS client cannot be trusted, as OpenSSL's code; null when it can. Without the interface no
 * certificate is trusted. */
export function clientCertError(socket: TLSSocket): string | null {
  const { ssl } = socket as unknown as { ssl?: Pick<TlsHandle, 'verifyError'> | null };
  if (SWITCHED_OFF || typeof ssl?.verifyError !== 'function') return 'UNVERIFIABLE';
  const error = ssl.verifyError() ?? null;
  return error === null ? null : (error.code ?? error.message);
}

const REPORTS_TLS_FAILURES =
  !SWITCHED_OFF && typeof (TLSSocket.prototype as { _tlsError?: unknown })._tlsError === 'function';

/** Calls back with the error of a server's handshake over a socket, or of the connection below. If the runtime does not report
 * it, the socket is closed all the same. */
export function onTlsFailure(socket: TLSSocket, failed: (error: Error) => void): void {
  if (REPORTS_TLS_FAILURES) socket.on('_tlsError', failed);
}

type Destroy = (error: Error | null, done: (error?: Error | null) => void) => void;
const HAS_DESTROY = !SWITCHED_OFF && typeof net.Socket.prototype._destroy === 'function';

/** Calls back before a socket is closed because of an error, while its descriptor is still open; never if the runtime does not
 * allow it. */
export function beforeDestroy(socket: Socket, failed: () => void): void {
  if (!HAS_DESTROY) return;
  const destroy: Destroy = socket._destroy;
  socket._destroy = (error, done) => {
    if (error !== null) failed();
    destroy.call(socket, error, done);
  };
}

const ALREADY_READING = -constants.errno.EALREADY;

interface TlsSocketHandle {
  readonly reading?: boolean;
  /** The handle of the connection below. */
  readonly _parent?: { readStart?(): number };
}

/**
 * Whether the input of a TLS socket ended with close_notify (RFC 8446 section 6.1), not just with the connection below,
 * where anybody on the way can cut it. To be asked at the moment at which the runtime reports the end, which it does in
 * the same way in both cases; but only at the end of the connection below has it stopped reading there.
 * @returns null if the runtime does not expose it
 */
export function endedByNotice(socket: Socket): boolean | null {
  const handle = handleOf(socket) as TlsSocketHandle | null;
  const below = handle?._parent;
  if (handle === null || typeof below?.readStart !== 'function') return null;
  // After a pause only bytes that were already decrypted can report an end.
  return handle.reading === false || below.readStart() === ALREADY_READING;
}

/** Why the chain of a peer's certificate was not accepted, in OpenSSL's words; '' if the runtime does not expose them. */
export function verificationText(socket: Socket): string {
  const handle = handleOf(socket) as { verifyError?(): Error | null } | null;
  return handle?.verifyError?.()?.message ?? '';
}

type OpenContext = { context?: { addCACert?(pem: string): void } };

function takesAuthorities(context: SecureContext): boolean {
  return !SWITCHED_OFF && typeof (context as OpenContext).context?.addCACert === 'function';
}

/** Adds an authority to a context of `tls.createSecureContext({ ca })`; false if the runtime does not allow it. */
export function addAuthority(context: SecureContext, pem: string): boolean {
  if (!takesAuthorities(context)) return false;
  (context as OpenContext).context?.addCACert?.(pem);
  return true;
}

/** The handle of a listening server. `status` is 0 or an errno. */
export interface ListenHandle extends RuntimeHandle {
  onconnection?: (status: number, connection: RuntimeHandle | undefined) => void;
}

/** Null if connections cannot be accepted from it. */
export function listenHandleOf(server: Server): ListenHandle | null {
  if (SWITCHED_OFF) return null;
  const { _handle: handle } = server as unknown as { _handle?: ListenHandle | null };
  return handle?.onconnection === undefined ? null : handle;
}

/** A bound socket that is not listening yet. */
export interface BoundHandle {
  readonly fd?: number;
  close(): void;
  getsockname?(out: { address?: string; port?: number }): number;
}
/** Returns a negative errno if it cannot bind. */
export type HandleFactory = (
  address: string | null,
  port: number,
  family: number,
  fd: number | undefined,
  flags: number,
) => BoundHandle | number;

/** Null if the runtime cannot create such handles. */
export function handleFactory(): HandleFactory | null {
  const { _createServerHandle: factory } = net as unknown as { _createServerHandle?: HandleFactory };
  return SWITCHED_OFF || typeof factory !== 'function' ? null : factory;
}

const BYTES = 'buffer' as BufferEncoding;
const WRITES_AT_ONCE = !SWITCHED_OFF && typeof net.Socket.prototype._write === 'function';
const HANDLES = runtimeHandles();

interface SocketWrite extends WriteRequest {
  /** Kept from collection while the runtime sends them. */
  bytes: Uint8Array | null;
  written(error: Error | null): void;
}

/** For the next write: the runtime keeps it only when the kernel does not take all of the bytes at once. */
let spareWrite: SocketWrite | null = null;

function newWrite({ stream_wrap }: RuntimeHandles): SocketWrite {
  const request = new stream_wrap.WriteWrap() as SocketWrite;
  request.oncomplete = completed;
  return request;
}

function completed(this: unknown, status: number): void {
  (this as SocketWrite).written(status === 0 ? null : writeError(status));
}

function writeError(status: number): Error {
  return Object.assign(new Error(), { errno: status, code: getSystemErrorName(status), syscall: 'write' });
}

/**
 * Writes to a connected socket with an empty queue, bypassing the queue if the runtime allows it.
 * @param written called when the runtime no longer needs the bytes; before the return if the kernel accepted them
 * at once
 */
export function writeAtOnce(
  socket: Socket,
  bytes: Uint8Array,
  written: (error?: Error | null) => void,
): void {
  const handle = handleOf(socket);
  // Under TLS a write never completes at once.
  if (
    HANDLES === null ||
    !(handle instanceof HANDLES.tcp_wrap.TCP || handle instanceof HANDLES.pipe_wrap.Pipe)
  ) {
    if (WRITES_AT_ONCE) socket._write(bytes, BYTES, written);
    else socket.write(bytes, written);
    return;
  }
  // The socket's own method makes a request for each write, which costs more than the rest of it.
  const { streamBaseState, kLastWriteWasAsync } = HANDLES.stream_wrap;
  spareWrite ??= newWrite(HANDLES);
  const status = handle.writeBuffer(spareWrite, bytes);
  if (status !== 0) written(writeError(status));
  else if (streamBaseState[kLastWriteWasAsync] === 0) written();
  else {
    Object.assign(spareWrite, { bytes, written });
    spareWrite = null;
  }
}

/** The handle of a zlib stream: converts in the calling thread, without the events of the stream. */
interface ZlibHandle {
  writeSync(
    flush: number,
    input: Uint8Array,
    from: number,
    length: number,
    output: Uint8Array,
    outputFrom: number,
    room: number,
  ): void;
}

/** Compresses in the calling thread, any number of times. */
export interface PartDeflater {
  /** Compresses all of `bytes` and ends with a full flush (RFC 1951: a byte boundary that nothing refers back across). */
  deflate(bytes: Uint8Array): Buffer;
  close(): void;
}

/** Bytes of the deflater's output buffer; more is gathered. */
const DEFLATED = 32 * 1024;

/** Null if the runtime does not expose its handle: making a stream costs as much as compressing some kilobytes. */
export function partDeflater(level: number, memLevel: number): PartDeflater | null {
  if (SWITCHED_OFF) return null;
  const stream = createDeflateRaw({ level, memLevel });
  const inside = stream as unknown as { _handle?: ZlibHandle | null; _writeState?: Uint32Array };
  const { _handle: handle, _writeState: state } = inside;
  if (typeof handle?.writeSync !== 'function' || !(state instanceof Uint32Array)) {
    stream.close();
    return null;
  }
  const output = Buffer.allocUnsafeSlow(DEFLATED);
  return {
    deflate(bytes) {
      const made: Buffer[] = [];
      for (let from = 0; ; ) {
        handle.writeSync(zlib.Z_FULL_FLUSH, bytes, from, bytes.length - from, output, 0, DEFLATED);
        const [room = 0, left = 0] = state;
        made.push(Buffer.from(output.subarray(0, DEFLATED - room)));
        if (room > 0) return made.length === 1 ? (made[0] as Buffer) : Buffer.concat(made);
        from = bytes.length - left;
      }
    },
    close: () => stream.close(),
  };
}

/** A line for the operator about each private interface that this runtime lacks, and the consequence. */
export function missingInterfaces(): string[] {
  const missing: string[] = [];
  const lacks = (name: string, loss: string): void => {
    missing.push(`Node ${process.version} has no ${name}: ${loss}`);
  };
  if (runtimeHandles() === null)
    lacks('connection handles', 'client connections are sockets, which cost more processor time a request');
  else if (runtimeHandles()?.tls_wrap === null)
    lacks('TLS handles', 'TLS connections of clients are sockets, which cost more processor time a request');
  if (SWITCHED_OFF || !('_handle' in new net.Socket()))
    lacks(
      'socket handles',
      'a cut connection may be taken for one that ended, and log records have no descriptors',
    );
  if (handleFactory() === null)
    lacks('listener handles', 'one thread serves, and the worker itself must be allowed to bind its ports');
  if (!WRITES_AT_ONCE) lacks('direct socket writes', 'a request to a backend takes one turn more');
  if (!REPORTS_TLS_FAILURES)
    lacks(
      'TLS failures',
      'the log does not say why a handshake over a socket failed, and no certificate of a client is trusted there',
    );
  if (!takesAuthorities(createSecureContext({ ca: [] })))
    lacks(
      'contexts to add to',
      'a program with many authorities for its backends holds up all requests once',
    );
  if (!HAS_DESTROY)
    lacks('destroy hooks', 'an answer that arrives with a reset of the connection may be lost');
  const deflater = partDeflater(1, 1);
  if (deflater === null)
    lacks('zlib handles', 'packed pages with thousands of ESI statements cost more processor time');
  deflater?.close();
  return missing;
}
