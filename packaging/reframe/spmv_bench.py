"""A ReFrame test of spmv-bench: every product on generated matrices must be verified; the performance is the GFLOP/s of
each method. Run it with `reframe -c packaging/reframe -r`, on a machine without a scheduler with
`--exec-policy=serial`, because tests that run side by side slow each other down. Sites add `reference`,
and set `methods` with `-S`."""

import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


@rfm.simple_test
class SpmvBench(rfm.RunOnlyRegressionTest):
    descr = 'Sparse matrix-vector products, verified and timed'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = os.environ.get('SPMV_BENCH', 'spmv-bench')
    matrix = parameter(['gen:grid3d,n=40,points=27', 'gen:rmat,scale=16,random=1'])
    precision = parameter(['f64', 'f32'])
    methods = variable(typ.List[str], value=['seq', 'csr-rows', 'merge', 'csr5', 'sell', 'packed'])
    seconds = variable(float, value=0.5)
    # The program uses all cores that it may run on.
    exclusive_access = True
    time_limit = '10m'

    @run_before('run')
    def set_options(self):
        self.executable_opts = [
            self.matrix, '--quiet', '--methods', ','.join(self.methods), '--precision', self.precision,
            '--max-time', str(self.seconds),
        ]

    def row(self, method, rest):
        return rf' method={method} .*{rest}'

    @sanity_function
    def every_row_is_verified(self):
        return sn.all(sn.assert_found(self.row(method, ' status=ok '), self.stdout) for method in self.methods)

    @run_before('performance')
    def set_performance(self):
        for method in self.methods:
            gflops = sn.extractsingle(self.row(method, r' gflops=(\S+)'), self.stdout, 1, float)
            self.perf_variables[method] = sn.make_performance_function(gflops, 'GFLOP/s')
