// VCL_trace: where the points of a program are and what their records say. Varnish's daemon writes the same
// for such programs; its own builtin program has other lines.
import { describe, expect, it } from 'vitest';
import { Tag } from '../../../protocol/tables/tags.ts';
import { task } from './fake-task.ts';

const PROGRAM = `
sub aside {
	set req.http.a = "1";
}
sub vcl_recv {
	if (req.url == "/a") {
		set req.http.x = "y";
	} elsif (req.url == "/b") { set req.http.x = "z"; }
	# a remark
	call aside;
	{
		set req.http.y = "1"; set req.http.z = "1";
	}
	if (req.url == "/q") { return (pass); } else { set req.http.q = "q"; }
	return (hash);
}`;

function traced(url: string, wanted = true): string[] {
  const t = task(PROGRAM, {}, { noBuiltin: true });
  t.req.http.setUrl(url);
  if (wanted) t.log.wanted.add(Tag.VCL_trace);
  t.run('recv');
  return t.log.of('VCL_trace').map((text) => text.replace(/^\S+ /, ''));
}

describe('trace points', () => {
  it('are blocks, and what follows an if without else', () => {
    expect(traced('/a')).toEqual(['2 0.7.9', '3 0.8.17', '5 0.11.9', '1 0.4.9', '6 0.13.17', '8 0.15.56']);
    expect(traced('/b').slice(0, 3)).toEqual(['2 0.7.9', '4 0.9.37', '5 0.11.9']);
    expect(traced('/q').slice(-1)).toEqual(['7 0.15.32']);
  });

  it('are silent unless the records are wanted', () => {
    expect(traced('/a', false)).toEqual([]);
  });
});
