import { describe, expect, it } from 'vitest';
import { makeTheme } from '../../../console/draw/theme.ts';
import { gridToSvg } from '../../harness/screenshots/grid-to-svg.ts';
import { fakeRecording } from '../fake-recording.ts';
import { Stage } from '../stage.ts';

async function picture(): Promise<string> {
  const stage = new Stage({
    recording: fakeRecording(40),
    columns: 80,
    rows: 24,
    theme: makeTheme('256', false),
  });
  await stage.play(40);
  await stage.screen();
  const svg = gridToSvg(stage.terminal, 'a <title> & more');
  stage.close();
  return svg;
}

describe('pictures of the screen', () => {
  it('are the same from run to run', async () => {
    expect(await picture()).toBe(await picture());
  });

  it('hold the words of the screen, escaped, and nothing that is not a number', async () => {
    const svg = await picture();
    expect(svg).toContain('a &lt;title&gt; &amp; more');
    expect(svg).toContain('>Backends<');
    expect(svg).not.toMatch(/NaN|undefined|\x1b/);
  });
});
