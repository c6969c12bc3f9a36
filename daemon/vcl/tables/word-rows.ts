// What stands at the top level of a program, the flags that some of it takes, and the statements of a sub: the words
// that the parser takes, with their syntax and meaning for the manual.

type WordRow = {
  readonly word: string;
  readonly syntax: string;
  readonly help: string;
};

const row = (word: string, syntax: string, help: string): WordRow => ({ word, syntax, help });

// biome-ignore format: a row is a line
export const DECLARATIONS: readonly WordRow[] = [
  row('vcl', 'vcl 4.1;',
    'The version of the language, 4.0 or 4.1. It is the first line of the main file and holds for all included files, which may repeat it but not name a higher one.'),
  row('backend', 'backend NAME { .ATTRIBUTE = VALUE; … }',
    'A server to fetch from. The first one of a program, or the one named `default`, serves requests that choose none. `backend NAME none;` declares one that always fails.'),
  row('probe', 'probe NAME { .ATTRIBUTE = VALUE; … }',
    'A health check. A backend uses it by name (`.probe = NAME;`) or has one of its own (`.probe = { … }`). `probe default` serves the backends declared after it that name none.'),
  row('acl', 'acl NAME [FLAGS] { ["!"] "ADDRESS"[/BITS]; … }',
    'A list of addresses, networks and host names to match an IP against with `~`. The most specific entry decides, wherever it stands; `!` makes it a refusal. An entry in parentheses is ignored if its name does not resolve.'),
  row('sub', 'sub NAME { STATEMENTS }',
    'A subroutine. One named as a state (`vcl_recv`) runs in that state; others run when they are called. A state may be defined several times: the parts run in their order, and the builtin program’s part last.'),
  row('import', 'import NAME [as OTHER] [from "PATH"];',
    'Makes the functions and objects of an extension available as `NAME.function()`. Without `from` it is a built-in one or a file in vmod_path.'),
  row('include', 'include [+glob] "FILE";',
    'Puts the text of a file in this place. It may stand anywhere, also inside a sub. `./FILE` is beside the including file; other relative names are looked for in vcl_path, then among the files of the package.'),
];

// biome-ignore format: a row is a line
export const STATEMENTS: readonly WordRow[] = [
  row('set', 'set VARIABLE OPERATOR EXPRESSION;',
    'Changes a variable. The operator is `=`, or `+=`, `-=`, `*=`, `/=`, which combine the old value with the new one. A header set to an unset value becomes empty; it is not removed.'),
  row('unset', 'unset VARIABLE;',
    'Removes a header, all of its lines. Unsetting one that does not exist does nothing. `unset bereq.body;` drops the body of a request to a backend.'),
  row('call', 'call SUB;',
    'Runs a sub. If it returns an action, the state ends with that action; otherwise the caller continues. A sub cannot call itself, directly or through others.'),
  row('return', 'return (ACTION); or return;',
    'Ends the state with an action. Without an action it leaves a called sub, and the caller continues; a state itself cannot use that form.'),
  row('if', 'if (CONDITION) { … } elseif (CONDITION) { … } else { … }',
    'Runs the first block whose condition holds. `elseif` may also be written `else if`, `elsif` or `elif`. Braces are required, also for one statement.'),
  row('new', 'new NAME = EXTENSION.TYPE(ARGUMENTS);',
    'Makes an object of an extension, such as a director. Only in vcl_init; the object lives as long as the program.'),
];

const flag = <F extends string>(flag: F, on: boolean, help: string) => ({ flag, on, help });

/** Flags of an acl, written like `acl NAME +log -pedantic { … }`; `on` is the value of one that is not written. */
// biome-ignore format: a row is a line
export const ACL_FLAGS = [
  flag('pedantic', true, 'Refuse a network whose address has bits beyond its mask, such as "192.0.2.1"/24. With `-pedantic` these bits are ignored.'),
  flag('log', false, 'Log each match and each failed match as a VCL_acl record.'),
  flag('table', false, 'Accepted and without effect: every acl is a table here.'),
] as const;

/** Flags of an include. */
// biome-ignore format: a row is a line
export const INCLUDE_FLAGS = [
  flag('glob', false, 'The name is a pattern with `*`, `?` and `[…]`: all matching files are included in the order of their names. No match is an error.'),
] as const;
