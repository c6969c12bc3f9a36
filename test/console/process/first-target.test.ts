// The daemon that a console shows first.
import { expect, it } from 'vitest';
import { DEFAULT_CONFIG } from '../../../console/model/ui/config.ts';
import { firstTarget, liveInstances } from '../../../console/process/open-instances.ts';

const two = {
  ...DEFAULT_CONFIG,
  instances: [
    { name: 'edge', address: '10.0.0.5:6083', secretFile: '/etc/secret' },
    { name: 'here', dir: '/srv/here' },
  ],
};

it('is the one that is named, else the first of the operator’s, else the one here', () => {
  const shown = (options: Parameters<typeof firstTarget>[0], config = two) => {
    const instances = liveInstances(firstTarget(options, config), config);
    const { name, names, current } = instances;
    instances.close();
    return [name, names, current.source.label];
  };
  expect(shown({})).toEqual(['edge', ['edge', 'here'], '10.0.0.5:6083']);
  expect(shown({ dir: '/srv/here' })).toEqual(['here', ['here', 'edge'], '/srv/here']);
  expect(shown({ dir: '/srv/other' })).toEqual(['daemon', ['daemon', 'edge', 'here'], '/srv/other']);
  expect(shown({}, { ...two, instances: [] }).slice(0, 2)).toEqual(['daemon', ['daemon']]);
  expect(firstTarget({}, two)).toMatchObject({ secretFile: '/etc/secret' });
});
