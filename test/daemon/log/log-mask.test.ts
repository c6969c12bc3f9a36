// Which tags are written: what the parameter leaves out and nothing else, also those left out by default.
import { describe, expect, it } from 'vitest';
import { LogMask } from '../../../daemon/log/log-mask.ts';
import { Params } from '../../../daemon/params/parameter-set.ts';
import { parseValue } from '../../../daemon/params/value.ts';
import { Tag } from '../../../protocol/tables/tags.ts';

/** The mask as the worker has it after the parameter was set to these texts, one after the other. */
function mask(...texts: string[]): LogMask {
  const params = new Params();
  const row = Params.find('vsl_mask');
  for (const text of texts) {
    const value = parseValue(row as never, text, params.get('vsl_mask'));
    params.apply('vsl_mask', value as string);
  }
  const m = new LogMask();
  m.leaveOut(params.masked());
  return m;
}

describe('vsl_mask', () => {
  it('leaves out by default what is rarely wanted', () => {
    const m = mask();
    expect([m.on[Tag.Hash], m.on[Tag.Debug], m.on[Tag.ReqHeader]]).toEqual([0, 0, 1]);
  });

  it('brings back what it names, and takes away', () => {
    const m = mask('+Hash,+Debug,-ReqHeader');
    expect([m.on[Tag.Hash], m.on[Tag.Debug], m.on[Tag.ReqHeader]]).toEqual([1, 1, 0]);
    expect(m.on[Tag.VCL_trace]).toBe(0);
  });

  it('comes back to its default', () => {
    expect([...mask('+Hash', 'default').on]).toEqual([...mask().on]);
  });
});
