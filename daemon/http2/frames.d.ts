import type { LentBytes } from '../http1/lent-bytes.ts';
export declare const FRAME: {
    readonly DATA: 0;
    readonly HEADERS: 1;
    readonly PRIORITY: 2;
    readonly RST_STREAM: 3;
    readonly SETTINGS: 4;
    readonly PUSH_PROMISE: 5;
    readonly PING: 6;
    readonly GOAWAY: 7;
    readonly WINDOW_UPDATE: 8;
    readonly CONTINUATION: 9;
    readonly PRIORITY_UPDATE: 16;
};
/** END_STREAM and ACK are the same bit, of different frames. */
export declare const FLAG: {
    readonly END_STREAM: 1;
    readonly ACK: 1;
    readonly END_HEADERS: 4;
    readonly PADDED: 8;
    readonly PRIORITY: 32;
};
export declare const SETTING: {
    readonly HEADER_TABLE_SIZE: 1;
    readonly ENABLE_PUSH: 2;
    readonly MAX_CONCURRENT_STREAMS: 3;
    readonly INITIAL_WINDOW_SIZE: 4;
    readonly MAX_FRAME_SIZE: 5;
    readonly MAX_HEADER_LIST_SIZE: 6;
    readonly NO_RFC7540_PRIORITIES: 9;
};
/** Codes of RST_STREAM and GOAWAY (RFC 9113 section 7). */
export declare const CODE: {
    readonly NO_ERROR: 0;
    readonly PROTOCOL_ERROR: 1;
    readonly INTERNAL_ERROR: 2;
    readonly FLOW_CONTROL_ERROR: 3;
    readonly SETTINGS_TIMEOUT: 4;
    readonly STREAM_CLOSED: 5;
    readonly FRAME_SIZE_ERROR: 6;
    readonly REFUSED_STREAM: 7;
    readonly CANCEL: 8;
    readonly COMPRESSION_ERROR: 9;
    readonly CONNECT_ERROR: 10;
    readonly ENHANCE_YOUR_CALM: 11;
    readonly INADEQUATE_SECURITY: 12;
    readonly HTTP_1_1_REQUIRED: 13;
};
export type ErrorCode = (typeof CODE)[keyof typeof CODE];
/** For the log. */
export declare function codeName(code: number): string;
export declare function frameName(type: number): string;
export declare const FRAME_HEADER = 9;
/** Of windows, and of stream identifiers. */
export declare const MAX_31 = 2147483647;
/** Windows before anybody has said another size (RFC 9113 section 6.9.2). */
export declare const FIRST_WINDOW = 65535;
/** The smallest SETTINGS_MAX_FRAME_SIZE, and the one before any is sent (RFC 9113 section 6.5.2). */
export declare const FIRST_FRAME_SIZE = 16384;
/** A client begins with it (RFC 9113 section 3.4). */
export declare const PREFACE: Buffer;
/** Writes the header of a frame with `length` bytes; returns the offset past it. */
export declare function putFrame(out: Uint8Array, at: number, length: number, type: number, flags: number, stream: number): number;
export declare function put32(out: Uint8Array, at: number, value: number): number;
/** The 32 bits at `at`. */
export declare function read32(buf: LentBytes, at: number): number;
/** The 31 bits at `at`: stream identifiers and windows have a reserved bit in front. */
export declare function read31(buf: LentBytes, at: number): number;
