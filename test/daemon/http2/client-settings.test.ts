import { expect, it } from 'vitest';
import { ClientSettings } from '../../../daemon/http2/client-settings.ts';
import { codeName, put32, SETTING } from '../../../daemon/http2/frames.ts';

function take(...values: readonly (readonly [id: number, value: number])[]) {
  const bytes = Buffer.alloc(values.length * 6);
  values.forEach(([id, value], i) => {
    bytes.writeUInt16BE(id, i * 6);
    put32(bytes, i * 6 + 2, value);
  });
  const settings = new ClientSettings();
  const fault = settings.take(bytes, 0, bytes.length);
  return { settings, fault: fault === null ? null : codeName(fault.code) };
}

it('begins with the values of RFC 9113', () => {
  const { settings } = take();
  expect([settings.headerTableSize, settings.initialWindow, settings.maxFrame]).toEqual([4096, 65535, 16384]);
});

it('takes the last of several', () => {
  const { settings, fault } = take(
    [SETTING.INITIAL_WINDOW_SIZE, 1],
    [SETTING.INITIAL_WINDOW_SIZE, 0x7fffffff],
  );
  expect([settings.initialWindow, fault]).toEqual([0x7fffffff, null]);
});

it.each([
  ['ENABLE_PUSH 2', [SETTING.ENABLE_PUSH, 2], 'PROTOCOL_ERROR'],
  ['INITIAL_WINDOW_SIZE 2^31', [SETTING.INITIAL_WINDOW_SIZE, 0x80000000], 'FLOW_CONTROL_ERROR'],
  ['MAX_FRAME_SIZE 16383', [SETTING.MAX_FRAME_SIZE, 16383], 'PROTOCOL_ERROR'],
  ['MAX_FRAME_SIZE 2^24', [SETTING.MAX_FRAME_SIZE, 16777216], 'PROTOCOL_ERROR'],
  ['NO_RFC7540_PRIORITIES 2', [SETTING.NO_RFC7540_PRIORITIES, 2], 'PROTOCOL_ERROR'],
  ['an unknown setting', [99, 0xffffffff], null],
  ['ENABLE_PUSH 0', [SETTING.ENABLE_PUSH, 0], null],
  ['HEADER_TABLE_SIZE 2^32 - 1', [SETTING.HEADER_TABLE_SIZE, 0xffffffff], null],
] as const)('judges %s', (_name, setting, code) => {
  expect(take(setting).fault).toBe(code);
});
