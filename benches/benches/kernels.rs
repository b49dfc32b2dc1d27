//! Every kernel in every way, with criterion: `cargo bench -- FILTER`, as in `cargo bench -- fib/masked`.

use std::time::Duration;

use autobatch_bench::kernels;
use autobatch_bench::variant::isas;
use autobatch_bench::ways::{Pools, ways};
use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};

fn kernels(criterion: &mut Criterion) {
    let threads = match rayon::current_num_threads() {
        1 => vec![1],
        all => vec![1, all],
    };
    let pools = Pools::new(&threads);
    for entry in kernels::ALL {
        let case = (entry.build)(entry.members);
        let mut group = criterion.benchmark_group(entry.name);
        group.sample_size(10);
        group.sampling_mode(SamplingMode::Flat);
        group.warm_up_time(Duration::from_millis(300));
        group.measurement_time(Duration::from_secs(1));
        for way in ways(&isas(), &threads, &pools) {
            group.bench_function(way.to_string(), |bencher| bencher.iter(|| case.run(&way.variant)));
        }
        group.finish();
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
