import { describe, expect, it } from 'vitest';
import { backendProgram } from '../../../../daemon/manager/start-files.ts';

describe('the program of -b', () => {
  it.each(['none', 'None', 'NONE'])('%s is no backend', (word) => {
    expect(backendProgram(word)).toBe('vcl 4.1;\n\nbackend default none;\n');
  });
  it('is one backend otherwise', () => {
    expect(backendProgram('nonesuch:81')).toContain('.host = "nonesuch"');
  });
});
