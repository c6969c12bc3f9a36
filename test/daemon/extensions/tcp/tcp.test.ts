// Programs that use the extension tcp: values after a failure, and the reason in the log.
import { expect, it } from 'vitest';
import { task } from '../../vcl/fake-task.ts';

const CALLS =
  'tcp.dump_info(); tcp.set_socket_pace(1000); set @.http.r = tcp.congestion_algorithm("bbr") + " " + tcp.get_estimated_rtt();';
const HEAD = 'vcl 4.1; import tcp; backend d none;';

it('fails as for a socket that the kernel refuses', () => {
  const t = task(`${HEAD} sub vcl_recv { ${CALLS.replace('@', 'req')} return (pass); }`);
  expect(t.run('recv')).toBe('pass');
  expect(t.req.http.get('r')).toBe('-1 0.000');
  expect(t.log.of('VCL_Error')).toEqual([
    'getsockopt() failed',
    'tcp.set_socket_pace(): pacing is not possible on this platform',
    'TCP_CONGESTION setsockopt() for "bbr" failed.',
    'getsockopt() failed',
  ]);
});

it('has nothing to say where there is no client', () => {
  const t = task(`${HEAD} sub vcl_backend_fetch { ${CALLS.replace('@', 'bereq')} }`);
  t.run('backend_fetch');
  expect(t.bo.bereq.get('r')).toBe('-1 0.000');
  expect(t.log.of('VCL_Error')).toEqual([]);
});
