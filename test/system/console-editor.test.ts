// `e` in the console: the terminal goes to the operator's editor as a shell would give it, and comes back; the program
// that was edited is compared, loaded and used. And what must not be lost: a discarded program, a file of the operator's.
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

describe.skipIf(missing)('the console', () => {
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

  it('gives the terminal to the editor until it ends, and has it again', async () => {
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
  });

  it('gives a program that was discarded back with all its files, and records over no file unasked', async () => {
    await writeFile(
      join(box.dir, 'part.vcl'),
      'vcl 4.1;\nsub vcl_deliver { set resp.http.X-Part = "in"; }\n',
    );
    await writeFile(join(box.dir, 'whole.vcl'), `${backendProgram(origin.port)}\ninclude "./part.vcl";\n`);
    await proxy.adm('vcl.load', 'whole', join(box.dir, 'whole.vcl'));
    const [node, [proxyadm]] = command('proxyd', 'adm');
    await terminal.type(`clear; ${node} ${proxyadm} -n ${proxy.dir}; echo "status $?"`);
    await terminal.press('Enter');
    await terminal.waitFor(/● running/);
    await terminal.type(':vcl.discard whole');
    await terminal.press('Enter');
    await terminal.waitFor(/Confirm vcl\.discard whole\? y\/n/);
    await terminal.press('y');
    await terminal.waitFor(/U undoes {2}(done: )?vcl\.discard whole/);
    await writeFile(join(box.dir, 'part.vcl'), 'what it is by now');
    await terminal.press('U');
    await terminal.waitFor(/undo "vcl\.discard whole" by "vcl\.inline whole/);
    await terminal.press('y');
    await terminal.waitFor(/vcl\.inline whole << \w+: .*compiled|done: vcl\.inline whole/);
    await proxy.adm('vcl.use', 'whole');
    await until('the whole program is in use', async () => field(await proxy.get('/'), 'x-part') === 'in');
    // A recording asks before it takes the place of a file.
    await writeFile(join(box.dir, 'precious'), 'precious');
    await terminal.type(`:record ${join(box.dir, 'precious')}`);
    await terminal.press('Enter');
    await terminal.waitFor(/precious exists: overwrite\? y\/n/);
    await terminal.press('n');
    await terminal.waitFor(/not done: record/);
    await terminal.type(`:record ${join(box.dir, 'new')}`);
    await terminal.press('Enter');
    await terminal.waitFor(/recording; :record again ends it/);
    await terminal.type(':record');
    await terminal.press('Enter');
    await terminal.waitFor(/s written to .*new/);
    expect(readFileSync(join(box.dir, 'precious'), 'utf8')).toBe('precious');
    await terminal.press('q');
    await terminal.waitFor(/status 0/);
  });
});
