// Expressions: nanoseconds of CPU a match on subjects as programs meet them, and milliseconds for hostile ones
// of 50,000 bytes (first and third search). Run after `npm run build`:
//   node test/bench/micro/regex.js
const { BoundedRegex } = await import('../../../dist/modules/queries/regex/bounded-regex.js');

const AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36';
const COOKIES =
  '_ga=GA1.2.1234567890.1600000000; has_js=1; session=0123456789abcdef0123456789abcdef; theme=dark';
const USUAL = [
  ['^/(en|de)/', '/de/news/2024/index.html'],
  ['\\.(jpe?g|png|gif|css|js|ico|woff2?)(\\?.*)?$', '/assets/images/header/logo.png?v=123'],
  ['(?i)(android|iphone|ipod|blackberry)', AGENT],
  ['(^|;\\s*)(_[_a-z]+|has_js)=[^;]*', COOKIES],
  ['(?<q>[a-f])\\k<q>', COOKIES],
];
const LONG = 'a'.repeat(50_000);
const HOSTILE = [
  ['(a+)+$', `${LONG}!`],
  ['(?=a)(a+)+$', `${LONG}!`],
  ['^(\\w+\\s?)*$', `${LONG}!`],
  ['(.*a){20}$', `${LONG}!`],
  ['(x+x+)+y', 'x'.repeat(50_000)],
  ['(x+x+)+[yz]', 'x'.repeat(50_000)],
  ['^(a+)+\\1$', `${LONG}!`],
];

function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

for (const [pattern, subject] of USUAL) {
  const re = new BoundedRegex(pattern);
  for (let i = 0; i < 20_000; i++) re.match(subject);
  const n = 200_000;
  const start = cpu();
  for (let i = 0; i < n; i++) re.match(subject);
  console.log(`${pattern.padEnd(48)} ${((cpu() - start) / n).toFixed(0).padStart(7)} ns`);
}
for (const [pattern, subject] of HOSTILE) {
  const re = new BoundedRegex(pattern);
  const times = [];
  let answer = 0;
  for (let i = 0; i < 3; i++) {
    const start = cpu();
    answer = re.match(subject);
    times.push((cpu() - start) / 1e6);
  }
  const shown = answer < 0 ? 'cut off' : answer === 1 ? 'match' : 'no match';
  console.log(`${pattern.padEnd(48)} ${times[0].toFixed(1)} / ${times[2].toFixed(1)} ms, ${shown}`);
}
