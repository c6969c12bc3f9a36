// SETTINGS of a client (RFC 9113 section 6.5), with the rules that their values keep.

import type { LentBytes } from '../http1/lent-bytes.ts';
import { CODE, type ErrorCode, FIRST_FRAME_SIZE, FIRST_WINDOW, MAX_31, read32, SETTING } from './frames.ts';

const LARGEST_FRAME = 16777215;
/** Bytes of one setting. */
export const A_SETTING = 6;

export interface SettingFault {
  readonly code: ErrorCode;
  readonly words: string;
}

export class ClientSettings {
  headerTableSize = 4096;
  initialWindow = FIRST_WINDOW;
  maxFrame = FIRST_FRAME_SIZE;

  /** Takes the settings in buf[start, end), in order; the length is a multiple of A_SETTING. */
  take(buf: LentBytes, start: number, end: number): SettingFault | null {
    for (let at = start; at < end; at += A_SETTING) {
      const id = ((buf[at] as number) << 8) | (buf[at + 1] as number);
      const fault = this.set(id, read32(buf, at + 2));
      if (fault !== null) return fault;
    }
    return null;
  }

  private set(id: number, value: number): SettingFault | null {
    switch (id) {
      case SETTING.HEADER_TABLE_SIZE:
        this.headerTableSize = value;
        return null;
      case SETTING.ENABLE_PUSH:
        return value > 1 ? fault(CODE.PROTOCOL_ERROR, `SETTINGS_ENABLE_PUSH ${value}`) : null;
      case SETTING.INITIAL_WINDOW_SIZE:
        if (value > MAX_31) return fault(CODE.FLOW_CONTROL_ERROR, `SETTINGS_INITIAL_WINDOW_SIZE ${value}`);
        this.initialWindow = value;
        return null;
      case SETTING.MAX_FRAME_SIZE:
        if (value < FIRST_FRAME_SIZE || value > LARGEST_FRAME)
          return fault(CODE.PROTOCOL_ERROR, `SETTINGS_MAX_FRAME_SIZE ${value}`);
        this.maxFrame = value;
        return null;
      case SETTING.NO_RFC7540_PRIORITIES:
        return value > 1 ? fault(CODE.PROTOCOL_ERROR, `SETTINGS_NO_RFC7540_PRIORITIES ${value}`) : null;
      default:
        // Others say what a client would take from a server that pushes, or are to be ignored.
        return null;
    }
  }
}

function fault(code: ErrorCode, words: string): SettingFault {
  return { code, words };
}
