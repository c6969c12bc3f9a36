// `e` in the console: the terminal goes to the operator's editor as a shell would give it, and comes back; the program
// that was edited is compared, loaded and used.
import { readFileSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { field } from '../harness/http-client.ts';
import { Origin, respond } from '../harness/origin.ts';
import { installed, Sandbox, until } from '../harness/processes.ts';
import { backendProgram, command, type RunningProxy, startProxy } from '../harness/proxy.ts';
import { TestTerminal } from '../harness/terminal.ts';

const missing = !installed('tmux');
if (missing) process.stderr.write('console-editor.test.ts is skipped: tmux is not installed\n');

describe.skipIf(missing)('the editor', () => {
  const box = new Sandbox('proxyd-editor');
  let origin: Origin;
  let proxy: RunningProxy;
  let terminal: TestTerminal;

  beforeAll(async () => {
    origin = await Origin.start();
    origin.on('*', respond('200 OK', {}, 'hello\n'));
    proxy = await startProxy(box, { program: backendProgram(origin.port) });
    terminal = await TestTerminal.open(box, 100, 30);
    // An editor that says what terminal it got, and appends a line that is typed to it.
    await writeFile(
      join(box.dir, 'editor'),
      `#!/bin/sh
echo "editing with $1 in $(stty -a | grep -o -- '[-]*icanon'), $(stty -a | grep -o -- ' [-]*echo ')"
read line
echo "$line" >> "$2"
echo "$2" > ${join(box.dir, 'edited')}
`,
    );
    await chmod(join(box.dir, 'editor'), 0o755);
  });

  afterAll(async () => {
    await terminal?.close();
    await box.dispose();
    await origin.close();
  });

  it('has the terminal until it ends, and the console after it', async () => {
    const [node, [proxyadm]] = command('proxyd', 'adm');
    const editor = `VISUAL= EDITOR="${join(box.dir, 'editor')} -x"`;
    await terminal.type(`${editor} ${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    await terminal.waitFor(/● running/);
    await terminal.press('5');
    await terminal.waitFor(/boot +active/);
    await terminal.press('e');
    await terminal.waitFor(/editing with -x in icanon, +echo/);
    expect(await terminal.modes()).toBe('0 1');
    // A key that would quit the console, a size that would make it draw, an interrupt that goes to both.
    await terminal.type('q');
    await terminal.press('BSpace');
    await terminal.resize(110, 32);
    await terminal.type('sub vcl_deliver { set resp.http.X-Edited = "yes"; }');
    expect(await terminal.screen()).not.toContain('running');
    await terminal.press('Enter');
    await terminal.waitFor(
      /Changes from boot to boot_2[\s\S]*\+ sub vcl_deliver[\s\S]*use boot_2 instead of boot\? y\/n/,
    );
    expect(await terminal.modes()).toBe('1 0');
    await terminal.press('y');
    await terminal.waitFor(/boot_2 +active/);
    await until('the program is in use', async () => field(await proxy.get('/'), 'x-edited') === 'yes');
    // It was the file that the daemon had it from.
    const edited = (await readFile(join(box.dir, 'edited'), 'utf8')).trim();
    expect(readFileSync(edited, 'utf8')).toContain('X-Edited');
    await terminal.press('q');
    await terminal.waitFor(/status 0/);
  }, 90_000);
});
