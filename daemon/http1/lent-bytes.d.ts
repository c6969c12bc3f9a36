export interface LentBytes {
    readonly [Symbol.toStringTag]: 'Uint8Array';
    readonly length: number;
    readonly byteOffset: number;
    readonly [index: number]: number;
    indexOf(value: number, from?: number): number;
    subarray(start?: number, end?: number): LentBytes;
}
declare const STORED: unique symbol;
/** Bytes of a stored object: valid only while the object is held (daemon/flow/piece.ts), and not a Buffer either. */
export interface StoredBytes extends LentBytes {
    readonly [STORED]: true;
}
/** A copy of buf[start, end) that stays valid. */
export declare function keep(buf: LentBytes, start: number, end: number): Buffer;
/** Copies buf[start, end) to `target` at `at`. */
export declare function copyLent(buf: LentBytes, start: number, end: number, target: Buffer, at: number): void;
export {};
