// A sample of an extension in JavaScript: every shape that the interface has, each as small as it can be.
// daemon/extensions/README.md explains them; the system tests run it in a real proxy, beside the same in C.

/** Events that this process has seen, of all programs. */
const events = [];

export const extension = {
  abi: 1,
  name: 'sample',

  functions: {
    greet: {
      signature: 'STRING greet(STRING name="world", ENUM {plain, loud} how=plain, [INT times])',
      call: (_ctx, name, how, times = 1) => {
        const text = Array(times).fill(`hello ${name}`).join(', ');
        return how === 'loud' ? text.toUpperCase() : text;
      },
    },
    add: { signature: 'INT add(INT a, INT b=1)', call: (_ctx, a, b) => a + b },
    half: { signature: 'DURATION half(DURATION d=10s)', call: (_ctx, d) => d / 2 },
    is_private: {
      signature: 'BOOL is_private(IP ip)',
      call: (_ctx, ip) => ip.family === 4 && /^(?:10|127)\./.test(ip.address),
    },
    reverse: { signature: 'BLOB reverse(BLOB b)', call: (_ctx, b) => Buffer.from(b).reverse() },
    pick: {
      signature: 'BACKEND pick(BACKEND a, BACKEND b, BOOL second=false)',
      call: (_ctx, a, b, second) => (second ? b : a),
    },
    stamp: {
      signature: 'VOID stamp(HEADER target, STRING text)',
      call: (ctx, target, text) => target.set(`${ctx.state} ${ctx.xid > 0} ${text}`),
    },
    fields: { signature: 'INT fields(HTTP head)', call: (_ctx, head) => head.names().length },
    log: { signature: 'VOID log(STRANDS text)', call: (ctx, text) => ctx.log(text) },

    // Each place of a call, program, task and top request has a number of its own.
    calls: { signature: 'INT calls(PRIV_CALL)', call: (_ctx, cell) => count(cell) },
    of_program: { signature: 'INT of_program(PRIV_VCL)', call: (_ctx, cell) => count(cell) },
    of_task: { signature: 'INT of_task(PRIV_TASK, INT by=1)', call: (_ctx, cell, by) => count(cell, by) },
    of_top: { signature: 'INT of_top(PRIV_TOP)', call: (_ctx, cell) => count(cell) },

    refuse: { signature: 'VOID refuse(STRING why)', call: (ctx, why) => ctx.fail(why) },
    throw_error: {
      signature: 'STRING throw_error()',
      call: () => {
        throw new TypeError('thrown on purpose');
      },
    },
    wrong_type: { signature: 'INT wrong_type()', call: () => 'seven' },
    promise: { signature: 'STRING promise()', call: async () => 'too late' },
    events: { signature: 'STRING events()', call: () => events.join(' ') },
    run: { signature: 'VOID run(SUB what)', call: (_ctx, what) => what.call() },
    client_only: {
      signature: 'STRING client_only()',
      places: 'client',
      call: (ctx) => ctx.req.get('User-Agent'),
    },
  },

  objects: {
    counter: {
      signature: 'counter(INT start=0, ENUM {up, down} direction=up)',
      create: (ctx, name, start, direction) => {
        if (start < 0) ctx.fail(`${name} starts below zero`);
        return { name, value: start, step: direction === 'up' ? 1 : -1 };
      },
      destroy: (self) => events.push(`destroy:${self.name}`),
      methods: {
        next: {
          signature: 'INT next(INT by=1)',
          call: (_ctx, self, by) => {
            self.value += self.step * by;
            return self.value;
          },
        },
        name: { signature: 'STRING name()', call: (_ctx, self) => self.name },
        seen: { signature: 'INT seen(PRIV_TASK)', call: (_ctx, _self, cell) => count(cell) },
      },
    },
    maybe: {
      signature: 'maybe()',
      mayBeAbsent: true,
      create: () => ({}),
      methods: { there: { signature: 'BOOL there()', call: (_ctx, self) => self !== null } },
    },
  },

  event(ctx, event, cell) {
    events.push(`${event}:${ctx.program}`);
    if (event === 'load') cell.end = () => events.push(`end:${ctx.abi ?? ''}`);
    return ctx.program === 'unwanted' && event === 'load' ? 'not this program' : undefined;
  },
};

function count(cell, by = 1) {
  cell.value = (cell.value ?? 0) + by;
  return cell.value;
}
