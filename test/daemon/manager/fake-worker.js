// A stand-in for the worker: speaks daemon/link.ts, accepts on the handles lent to it, and dies on request. Commands
// of its own: `debug.srandom die` exits, `debug.srandom panic` reports a panic first, `debug.srandom hang` blocks,
// `debug.srandom dawdle` is answered with the next command, `debug.srandom init` returns its start parameters,
// `debug.srandom code` the sizes of programs' code and of its lines, and the number of parts both came in, `debug.srandom say`
// writes 500 lines, `debug.srandom sent` returns calls about TLS, of which those with a certificate `sour` are refused. With a
// default_ttl of 667 it dies at start.
import { createServer } from 'node:net';

const programs = new Map();
let init = null;
let expected = 0;
let dawdled = () => undefined;
const servers = [];
/** Calls about TLS that were accepted. */
const sent = [];
const send = (m) => process.send(m);

/** Code of programs that came ahead of them. */
const parts = new Map();
/** In how many parts the code of each program came. */
const counts = {};

function joinCode(load) {
  counts[load.name] = parts.get(load.ahead)?.length ?? 0;
  if (load.ahead !== undefined) {
    const of = (piece) => {
      const own = parts.get(load.ahead).filter((part) => part.piece === piece);
      return own.map(({ text }) => text).join('');
    };
    load.program.pieces = load.program.pieces.map(({ line }, i) => ({ text: of(i), line }));
    load.program.positions = of(load.program.pieces.length);
  }
  parts.delete(load.ahead);
}

function ready() {
  send({
    t: 'ready',
    listeners: init.listeners.map((l) => ({ name: l.name, address: l.host ?? '', port: l.port ?? 0 })),
  });
}

process.on('disconnect', () => process.exit(0));
process.on('message', (m, handle) => {
  if (m.t === 'init') {
    init = m;
    for (const p of m.programs) joinCode(p);
    for (const p of m.programs) programs.set(p.name, p);
    for (const l of m.labels) programs.set(l.name, { name: l.name, label: true });
    expected = m.listeners.length;
    if (m.params.default_ttl === 667) process.exit(3);
    if (m.params.default_ttl === 666) send({ t: 'failed', reason: 'told to fail' });
    else if (expected === 0) ready();
    return;
  }
  if (m.t === 'listener') {
    const server = createServer((socket) => socket.end(`worker ${process.pid}\n`));
    server.listen(handle, () => {
      if (--expected === 0) ready();
    });
    servers.push(server);
    return;
  }
  if (m.t === 'code') {
    parts.set(m.ahead, [...(parts.get(m.ahead) ?? []), m]);
    return;
  }
  const reply = (status, body) => send({ t: 'reply', id: m.id, status, body });
  const { call } = m;
  switch (call.op) {
    case 'stop':
      reply(200, '');
      setImmediate(() => process.exit(0));
      return;
    case 'vcl.label':
      programs.set(call.name, { name: call.name, label: true });
      return reply(200, '');
    case 'vcl.state':
      if (call.name === 'shy' && call.warm) return reply(300, 'will not be warm');
      programs.get(call.name).warm = call.warm;
      return reply(200, '');
    case 'vcl.list': {
      const row = (p) => ({
        name: p.name,
        label: p.label === true,
        discarded: false,
        temperature: p.warm === false ? 'cold' : 'warm',
        refs: p.label === true ? 0 : 3,
      });
      return reply(200, JSON.stringify([...programs.values()].map(row)));
    }
    case 'vcl.load':
      joinCode(call.load);
      if (call.load.name === 'sour') return reply(300, 'vcl_init said no');
      programs.set(call.load.name, call.load);
      return reply(200, '');
    case 'vcl.discard':
      programs.delete(call.name);
      return reply(200, '');
    case 'ping':
      return reply(200, '');
    case 'tls.set':
      if (call.settings.certificates.some(({ id }) => id === 'sour'))
        return reply(300, 'no sour certificates\n');
      sent.push(call);
      return reply(200, '');
    case 'tls.tickets':
    case 'tls.challenges':
      sent.push(call);
      return reply(200, '');
    case 'cli': {
      const [name, what] = call.command.words;
      if (name === 'debug.srandom' && what === 'die') process.kill(process.pid, 'SIGKILL');
      if (name === 'debug.srandom' && what === 'panic') {
        process.send({ t: 'panic', text: 'Assert error in fake()\n at line 1' }, () => process.exit(70));
        return;
      }
      if (name === 'debug.srandom' && what === 'hang') for (;;);
      if (name === 'debug.srandom' && what === 'dawdle') {
        dawdled = () => reply(200, 'at last');
        return;
      }
      dawdled();
      if (name === 'debug.srandom' && what === 'say') {
        for (let i = 0; i < 499; i++) process.stderr.write(`line ${i}\n`);
        // A pipe that is full takes the rest later: the answer comes when all of it is out, so that a death after it
        // loses no line.
        process.stderr.write('line 499\n', () => reply(200, 'said'));
        return;
      }
      if (name === 'debug.srandom' && what === 'code') {
        const of = (size) =>
          Object.fromEntries([...programs].map(([program, { program: made }]) => [program, size(made)]));
        const sizes = of((made) => made.pieces[0].text.length);
        const lines = of((made) => made.positions.length);
        return reply(200, JSON.stringify({ sizes, lines, counts, kept: parts.size }));
      }
      if (name === 'debug.srandom' && what === 'sent') return reply(200, JSON.stringify(sent));
      if (name === 'debug.srandom' && what === 'init') return reply(200, JSON.stringify(init));
      return reply(200, `${call.command.words.join('|')} by the worker`);
    }
    default:
      return reply(200, '');
  }
});
send({ t: 'hello', pid: process.pid });
