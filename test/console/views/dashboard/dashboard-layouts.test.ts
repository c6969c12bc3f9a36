// The layouts of the dashboard: all fill the body, and differ in what they make room for.
import { expect, it } from 'vitest';
import type { LayoutName } from '../../../../console/model/ui/settings.ts';
import { panelPlaces } from '../../../../console/views/dashboard/dashboard-screen.tsx';

function heights(layout: LayoutName): Record<string, number> {
  const places = panelPlaces(160, 42, [], layout);
  expect(Math.max(...places.map(({ top, height }) => top + height))).toBe(42);
  return Object.fromEntries(places.map(({ name, height }) => [name, height]));
}

it('has tall charts without rankings, or long rankings below low charts', () => {
  const balanced = heights('balanced');
  const charts = heights('charts');
  const lists = heights('lists');
  expect(charts.requests).toBeGreaterThan(balanced.requests ?? 0);
  expect(charts).not.toHaveProperty('top');
  expect(charts.errors).toBeLessThan(balanced.errors ?? 0);
  expect(lists.top).toBeGreaterThan(balanced.top ?? 0);
  expect(lists.requests).toBeLessThan(balanced.requests ?? 0);
});
