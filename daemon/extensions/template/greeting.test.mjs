// @ts-check
// The tests of greeting.mjs: proxyd --test-extension greeting.mjs

/** @type {import('proxyd/extension').ExtensionTest[]} */
export const tests = [
  { name: 'greets the world', value: 'greeting.greet()', expect: 'hello world' },
  {
    name: 'greets whom a header names, in capitals',
    headers: { 'X-Name': 'Ann' },
    value: 'greeting.greet(req.http.X-Name, loud)',
    expect: 'HELLO ANN',
  },
  { name: 'greets nobody', value: 'greeting.greet(req.http.X-Name)', expect: '' },
  {
    name: 'waits for its answer, in a fetch too',
    state: 'backend_response',
    value: 'greeting.slowly("Ann")',
    expect: 'hello Ann',
    logs: ['greeted Ann'],
  },
  { name: 'fails without a name', value: 'greeting.slowly(req.http.X-Name)', fails: 'nobody to greet' },
  {
    name: 'counts',
    init: 'new visits = greeting.counter(5);',
    run: 'set req.http.X-First = visits.next();',
    value: 'req.http.X-First + " " + visits.next()',
    expect: '5 6',
  },
];
