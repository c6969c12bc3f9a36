// Documents written by the build: manual pages that `man` shows without a warning, and completion scripts that shells
// accept.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../protocol/tables/commands.ts';
import { MAIN_COUNTERS } from '../../protocol/tables/counters.ts';
import { PARAMS } from '../../protocol/tables/params.ts';
import { installed, run } from '../harness/processes.ts';
import { ROOT } from '../harness/proxy.ts';

const pkg = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
  man: string[];
};
const page = (name: string) => readFileSync(join(ROOT, 'dist/man', name), 'utf8');
const completion = (name: string) => join(ROOT, 'dist/completion', name);

describe('manual pages', () => {
  it('are those that the package names, one a command and more', () => {
    expect(
      readdirSync(join(ROOT, 'dist/man'))
        .map((f) => `dist/man/${f}`)
        .sort(),
    ).toEqual([...pkg.man].sort());
    for (const name of Object.keys(pkg.bin)) expect(pkg.man).toContain(`dist/man/${name}.1`);
  });

  it('hold every row of their tables', () => {
    const plain = (text: string) => text.replaceAll('\\-', '-').replaceAll('\\:', '');
    for (const c of COMMANDS.filter((row) => !('hidden' in row)))
      expect(page('proxy-cli.7')).toContain(`\\fB${c.name}\\fR`);
    for (const c of MAIN_COUNTERS) expect(plain(page('proxy-counters.7'))).toContain(`\\fB${c.name}\\fR`);
    for (const p of PARAMS) expect(page('proxy-params.7')).toContain(`\\fB${p.name}\\fR`);
    expect(page('proxy-vcl.7')).toMatch(/\\fBdeliver\\fR[\s\S]*\\fBreq\.url\\fR/);
  });

  it.each(['proxylog', 'proxylog-json', 'proxyncsa', 'proxystat', 'proxytop', 'proxyhist'])(
    'of %s names every option',
    async (name) => {
      const asked = await run(process.execPath, [join(ROOT, pkg.bin[name] as string), '--optstring']);
      const letters = asked.stdout.trim().replaceAll(':', '');
      expect(letters.length).toBeGreaterThan(5);
      for (const letter of letters)
        expect([letter, page(`${name}.1`).includes(`\\fB\\-${letter}\\fR`)]).toEqual([letter, true]);
    },
  );

  it('show no marks of Markdown', () => {
    for (const file of pkg.man) {
      // A backtick in roff is \\(ga; the grammar of header names in proxy-log(7) has one of its own.
      const text = page(basename(file))
        .replace('\\(ha_\\(ga|', '')
        // Defaults of functions are texts of their own.
        .replaceAll(/="\*\*[A-Z ]+\*\*"/g, '')
        // Programs that are shown have comments.
        .replaceAll(/^\.nf\n[\s\S]*?^\.fi$/gm, (shown) => shown.replaceAll(/^#+ /gm, ''));
      expect([file, /\\\(ga|`|\]\(|\*\*|^#+ |\|(?:\\?-){3}/m.exec(text)?.[0]]).toEqual([file, undefined]);
    }
  });

  it.skipIf(!installed('mandoc'))('are such that mandoc has nothing to say', async () => {
    const end = await run('mandoc', ['-T', 'lint', ...pkg.man.map((file) => join(ROOT, file))]);
    expect(end).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it.skipIf(!installed('man') || !installed('groff'))('are shown without a warning', async () => {
    const env = { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '80' };
    const shown = await Promise.all(
      pkg.man.map((file) =>
        run('man', ['--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z', join(ROOT, file)], { env }),
      ),
    );
    for (const [i, end] of shown.entries()) expect([pkg.man[i], end.stderr]).toEqual([pkg.man[i], '']);
  });
});

describe('completion', () => {
  it('in bash offers commands, parameters, counters, tags and options', async () => {
    const script = `source '${completion('proxyd.bash')}'
      try() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); "_\${1//-/_}"; echo "$@ -> \${COMPREPLY[*]}"; }
      try proxyadm vcl.l; try proxyadm param.set http_ra; try proxystat -f MAIN.cache_hitm
      try proxylog -i ReqU; try proxylog -g r; try proxyd --m; try proxyd -x b; try proxyadm --str`;
    const end = await run('bash', ['--norc', '-c', script]);
    expect(end.stderr).toBe('');
    expect(end.stdout.trim().split('\n')).toEqual([
      'proxyadm vcl.l -> vcl.label vcl.list vcl.load',
      'proxyadm param.set http_ra -> http_range_support',
      'proxystat -f MAIN.cache_hitm -> MAIN.cache_hitmiss',
      'proxylog -i ReqU -> ReqURL ReqUnset',
      'proxylog -g r -> request raw',
      'proxyd --m -> --metrics',
      'proxyd -x b -> builtin',
      'proxyadm --str -> --strict',
    ]);
  });

  it.each([
    ['bash', 'proxyd.bash'],
    ['zsh', '_proxyd'],
    ['fish', 'proxyd.fish'],
  ])('for %s has no mistake in its syntax', async (shell, file) => {
    expect(readFileSync(completion(file), 'utf8')).toContain('proxy-gather');
    if (!installed(shell)) return;
    expect(await run(shell, ['-n', completion(file)])).toMatchObject({ code: 0, stderr: '' });
  });
});
