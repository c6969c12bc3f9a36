import { describe, expect, it } from 'vitest';
import { decodePlan, encodePlan, type PagePlan } from '../../../daemon/esi/page-plan.ts';

describe('A plan as bytes', () => {
  it.each<[string, PagePlan]>([
    ['of nothing', { gzip: false, parts: [] }],
    [
      'of a page',
      {
        gzip: false,
        parts: [
          { kind: 'text', stored: 5, plain: 5, crc: 0 },
          { kind: 'skip', stored: 2 ** 33 },
          { kind: 'include', host: null, url: '/f?\xe4', onerrorContinue: true },
          { kind: 'include', host: '', url: '', onerrorContinue: false },
        ],
      },
    ],
    [
      'of a packed one',
      {
        gzip: true,
        parts: [
          { kind: 'text', stored: 2 ** 40, plain: 2 ** 41, crc: 0xfedcba98 },
          { kind: 'include', host: 'other.test', url: '/g', onerrorContinue: false },
        ],
      },
    ],
  ])('is the plan %s again', (_name, plan) => {
    expect(decodePlan(encodePlan(plan))).toEqual(plan);
  });
});
